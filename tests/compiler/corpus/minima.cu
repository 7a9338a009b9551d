// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void min3(float*x,int*y) {
    int t=threadIdx.x;
    float a=x[t],b=x[t+32],c=x[t+64];
    x[t]=fminf(fminf(a,b),c)+fmaxf(fmaxf(a,c),b);
    y[t]=min(min(y[t],y[t+32]),y[t+64])+max(y[t]+y[t+32],5)+__vimin3_s32(y[t],y[t+1],y[t+2])+
            __viaddmax_s16x2_relu(y[t],y[t+3],y[t+4]);
}

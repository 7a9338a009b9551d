// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void flt(float*x,int*y) {
    int t=threadIdx.x;
    x[t]=sinf(x[t])+__expf(x[t])+tanhf(x[t])+rsqrtf(x[t])/x[t+1]+fmodf(x[t],x[t+2])+rintf(x[t])+__saturatef(x[t])+
            fdividef(x[t],x[t+1])+__fmaf_rz(x[t],x[t+1],x[t+2]);
    y[t]=__float2int_rd(x[t])+(int)(signed char)x[t];
    x[t]+=y[t]+(unsigned)y[t+1];
}

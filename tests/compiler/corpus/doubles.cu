// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void dbl(double*x,float*z,int*y) {
    int t=threadIdx.x;
    x[t]=fma(x[t],x[t+1],x[t+2])/x[t+3]+sqrt(x[t])+fmin(x[t],x[t+1])+exp(x[t]);
    y[t]=(int)x[t];
    z[t]=(float)x[t];
    x[t]+=(double)y[t]+(double)z[t]+floor(x[t+1]);
    if(x[t]>x[t+1]) x[t]=-x[t];
}

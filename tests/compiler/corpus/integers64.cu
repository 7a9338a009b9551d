// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void i64(long long*x,ull*y,long long k) {
    int t=threadIdx.x;
    x[t]=min(x[t],x[t+1])*x[t+2]+k/(x[t+3]|1)+__mul64hi(x[t],x[t+1]);
    y[t]=max(y[t],y[t+1])>>(t&63)|y[t+2]<<3;
    if(x[t]>y[t]) x[t]=__popcll(y[t])+__clzll(y[t])+__brevll(y[t]);
}

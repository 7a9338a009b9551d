// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void barr(int*x) {
    int t=threadIdx.x;
    x[t]=__syncthreads_count(x[t])+__syncthreads_or(x[t+1])+__syncthreads_and(x[t+2]);
    asm volatile("bar.sync 1,64;");
    __nanosleep(20);
    __syncwarp(0xff);
    x[t]+=clock()+(int)clock64();
}

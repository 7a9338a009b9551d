// sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void elect(u*x) {
    u p;
    asm volatile("{.reg .pred P; elect.sync _|P,0xffffffff; selp.u32 %0,1,0,P;}":"=r"(p));
    x[threadIdx.x]=p;
}

// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void atom(int*x,ull*y,float*z) {
    __shared__ int s[32];
    int t=threadIdx.x;
    s[t]=0;
    __syncthreads();
    atomicAdd(s+(t&3),t);
    atomicMax(s+5,t);
    atomicCAS(s+6,0,t);
    atomicExch(s+7,t);
    atomicInc((u*)s+8,5);
    atomicAdd(s+9,1);
    __syncthreads();
    x[t]=atomicAdd(x+64,s[t])+atomicAnd(x+65,t)+atomicMin(x+66,t)+atomicCAS(x+67,t,1)+atomicExch(x+68,t)+
            atomicDec((u*)x+69,t);
    atomicAdd(y,1ull*t);
    atomicMax(y+1,(ull)t);
    atomicXor(y+2,7ull);
    atomicAdd(z,1.f);
    __threadfence();
}

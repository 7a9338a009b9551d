// sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void stm(u*x) {
    __shared__ u s[128];
    int t=threadIdx.x;
    u p=(u)__cvta_generic_to_shared(s)+t*16;
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0],{%1,%2,%3,%4};"::"r"(p),"r"(x[t]),"r"(x[t+1]),
            "r"(x[t+2]),"r"(x[t+3]):"memory");
    __syncthreads();
    x[t]=s[t];
}

// sm_100
#include "common.cuh"
extern "C" __global__ void f32x2(ull*x) {
    ull a=x[threadIdx.x],b=x[threadIdx.x+32],c;
    asm volatile("fma.rn.f32x2 %0,%1,%2,%1;":"=l"(c):"l"(a),"l"(b));
    asm volatile("add.rn.f32x2 %0,%0,%1;":"+l"(c):"l"(a));
    asm volatile("mul.rn.f32x2 %0,%0,%1;":"+l"(c):"l"(b));
    x[threadIdx.x]=c;
}

// sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void redv(float*x) {
    float a=threadIdx.x;
    asm volatile("red.global.add.v4.f32 [%0],{%1,%1,%1,%1};"::"l"(x),"f"(a):"memory");
    atomicAdd(x+8,a);
    atomicAdd((double*)x+8,(double)a);
    atomicAdd((__half2*)x+20,__half2{a,a});
    float2 r;
    asm volatile("atom.global.add.v2.f32 {%0,%1},[%2],{%3,%3};":"=f"(r.x),"=f"(r.y):"l"(x+64),"f"(a));
    x[100]=r.x+r.y;
}

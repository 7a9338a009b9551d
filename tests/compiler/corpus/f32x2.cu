// sm_100
#include "common.cuh"
extern "C" __global__ void f32x2(ull*x) {
    ull a=x[threadIdx.x],b=x[threadIdx.x+32],c;
    asm volatile("fma.rn.f32x2 %0,%1,%2,%1;":"=l"(c):"l"(a),"l"(b));
    asm volatile("add.rn.f32x2 %0,%0,%1;":"+l"(c):"l"(a));
    asm volatile("mul.rn.f32x2 %0,%0,%1;":"+l"(c):"l"(b));
    x[threadIdx.x]=c;
}
// One word for both, and words that change places: two more ways to read a source.
extern "C" __global__ void f32x2_sources(float2*x, float by) {
    float2 a=x[threadIdx.x],b=x[threadIdx.x+32];
    float2 c=__ffma2_rn(a,make_float2(b.y,b.y),make_float2(a.y,a.x));
    x[threadIdx.x]=__fadd2_rn(__fmul2_rn(c,make_float2(by,by)),make_float2(-b.x,-b.y));
}

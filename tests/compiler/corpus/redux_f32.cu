// sm_100a
#include "common.cuh"
extern "C" __global__ void reduxf(float*x) {
    float v=x[threadIdx.x],r;
    asm volatile("redux.sync.min.f32 %0,%1,0xffffffff;":"=f"(r):"f"(v));
    x[threadIdx.x]=r;
}

// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void mma_f64(const double*A,double*d) {
    double c[2]={};
    double a[2];
    for(int i=0;i<2;i++) a[i]=A[threadIdx.x*2+i];
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};":"+d"(c[0]),"+d"(c[1]):
            "d"(a[0]),"d"(a[1]));
    for(int i=0;i<2;i++) d[threadIdx.x*2+i]=c[i];
}

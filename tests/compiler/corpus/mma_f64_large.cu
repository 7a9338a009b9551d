// sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void mma_f64k16(const double*A,double*d) {
    double c[4]={};
    double a[12];
    for(int i=0;i<12;i++) a[i]=A[threadIdx.x*12+i];
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5,%6,%7,%8,%9,%10,%11},{%12,%13,%14,%15},{%0,%1,%2,%3};"
        :"+d"(c[0]),"+d"(c[1]),"+d"(c[2]),"+d"(c[3]):"d"(a[0]),"d"(a[1]),"d"(a[2]),"d"(a[3]),"d"(a[4]),"d"(a[5]),
        "d"(a[6]),"d"(a[7]),"d"(a[8]),"d"(a[9]),"d"(a[10]),"d"(a[11]));
    for(int i=0;i<4;i++) d[threadIdx.x*4+i]=c[i];
}

// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void mma_b1(const u*A,int*d) {
    int c[4]={};
    u a[6];
    for(int i=0;i<6;i++) a[i]=A[threadIdx.x*6+i];
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        :"+r"(c[0]),"+r"(c[1]),"+r"(c[2]),"+r"(c[3]):"r"(a[0]),"r"(a[1]),"r"(a[2]),"r"(a[3]),"r"(a[4]),"r"(a[5]));
    for(int i=0;i<4;i++) d[threadIdx.x*4+i]=c[i];
}

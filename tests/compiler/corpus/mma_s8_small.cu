// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void mma_s8k16(const u*A,int*d) {
    int c[4]={};
    u a[3];
    for(int i=0;i<3;i++) a[i]=A[threadIdx.x*3+i];
    asm volatile("mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.s8.s32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
        :"+r"(c[0]),"+r"(c[1]),"+r"(c[2]),"+r"(c[3]):"r"(a[0]),"r"(a[1]),"r"(a[2]));
    for(int i=0;i<4;i++) d[threadIdx.x*4+i]=c[i];
}

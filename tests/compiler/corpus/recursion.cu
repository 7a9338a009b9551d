// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
__device__ __noinline__ int f(int*p,int n) {
    return n<2?p[n]:f(p,n-1)+f(p,n-2);
}
extern "C" __global__ void loc(int*x) {
    int a[16];
    for(int i=0;i<16;i++)a[i]=x[i*2];
    x[threadIdx.x]=f(a,x[0])+a[x[1]&15];
}

// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void matrix(u*x) {
    __shared__ u s[128];
    int t=threadIdx.x;
    for(int i=0;i<4;i++) s[t+32*i]=x[t+32*i];
    __syncthreads();
    u a,b,c,d;
    u p=(u)__cvta_generic_to_shared(s)+t*16;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];":"=r"(a),"=r"(b),"=r"(c),"=r"(d):
            "r"(p));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1},[%2];":"+r"(a),"+r"(b):"r"(p));
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0,%0;":"+r"(c));
    x[t]=a+b*c^d;
}

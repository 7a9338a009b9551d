// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
#include <cuda_pipeline.h>
extern "C" __global__ void cpas(const float4*x,float*y,int n) {
    __shared__ float4 s[2][64];
    int t=threadIdx.x;
    float a=0;
    __pipeline_memcpy_async(&s[0][t],x+t,16);
    __pipeline_commit();
    for(int k=1;k<=n;k++) {
        if(k<n) __pipeline_memcpy_async(&s[k&1][t],x+k*64+t,16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        float4 v=s[(k-1)&1][63-t];
        a+=v.x*v.y+v.z*v.w;
        __syncthreads();
    }
    y[t]=a;
}

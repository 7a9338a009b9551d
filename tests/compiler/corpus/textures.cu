// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void tex(cudaTextureObject_t o,cudaSurfaceObject_t s,float*x) {
    int t=threadIdx.x;
    x[t]=tex2D<float>(o,t,t)+tex3D<float4>(o,t,1,2).y+tex2Dgather<float4>(o,t,2.f,1).z+
            tex2DLod<float>(o,1.f,t,2.f);
    surf2Dwrite(x[t],s,t*4,t);
    x[t+1]=surf2Dread<float>(s,t*4,t);
}

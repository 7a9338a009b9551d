// sm_80 sm_86 sm_89 sm_90 sm_100
#include "common.cuh"
// On sm_120 its handle is one register, where we take two.
extern "C" __global__ void texels(cudaTextureObject_t o, float *x) {
    x[threadIdx.x] = tex1Dfetch<float>(o, threadIdx.x);
}

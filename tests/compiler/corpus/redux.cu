// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void redux(int*x) {
    int v=x[threadIdx.x];
    int a=__reduce_add_sync(~0u,v),b=__reduce_min_sync(~0u,v),c=__reduce_max_sync(~0u,(u)v),d=__reduce_and_sync(~0u,
            v),e=__reduce_or_sync(~0u,v),f=__reduce_xor_sync(~0u,v);
    x[threadIdx.x]=a^b^c+d*e-f;
}

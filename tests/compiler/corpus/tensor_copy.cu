// sm_90
#include <cuda/barrier>
#include <cuda.h>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;
extern "C" __global__ void tma(const __grid_constant__ CUtensorMap m, float *y) {
    __shared__ alignas(128) float s[16][16];
    __shared__ barrier b;
    if (threadIdx.x==0) {
        init(&b, blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token t;
    if(threadIdx.x==0) {
        cde::cp_async_bulk_tensor_2d_global_to_shared(&s,&m,0,0,b);
        t=cuda::device::barrier_arrive_tx(b,1,sizeof(s));
    }
    else t=b.arrive();
    b.wait(std::move(t));
    y[threadIdx.x]=s[0][threadIdx.x];
}

// sm_90 sm_120
#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;
extern "C" __global__ void bulk(const float *x, float *y) {
    __shared__ alignas(16) float s[256];
    __shared__ barrier b;
    if (threadIdx.x==0) {
        init(&b, blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    if(threadIdx.x==0) cuda::memcpy_async(s, x, cuda::aligned_size_t<16>(sizeof(s)), b);
    b.arrive_and_wait();
    s[threadIdx.x]+=1;
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if(threadIdx.x==0) {
        cde::cp_async_bulk_shared_to_global(y,s,sizeof(s));
        cde::cp_async_bulk_commit_group();
        cde::cp_async_bulk_wait_group_read<0>();
    }
}

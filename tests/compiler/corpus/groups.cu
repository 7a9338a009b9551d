// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
namespace cg=cooperative_groups;
extern "C" __global__ void cgr(int*x,float*y) {
    auto w=cg::tiled_partition<32>(cg::this_thread_block());
    x[threadIdx.x]=cg::reduce(w,x[threadIdx.x],cg::plus<int>());
    y[threadIdx.x]=cg::reduce(w,y[threadIdx.x],cg::greater<float>());
    auto g=cg::coalesced_threads();
    x[threadIdx.x]+=g.thread_rank();
}

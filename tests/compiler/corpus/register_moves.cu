// sm_90a sm_100a sm_120a
#include "common.cuh"
extern "C" __global__ void __launch_bounds__(384,1) maxnr(float*x) {
    if(threadIdx.x<128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        x[threadIdx.x]=1;
    }
    else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        x[threadIdx.x]=2;
    }
}

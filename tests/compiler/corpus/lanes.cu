// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void match(u*x) {
    int t=threadIdx.x;
    int p;
    x[t]=__match_any_sync(~0u,x[t])+__match_all_sync(~0u,x[t+1],&p)+p+__ballot_sync(~0u,x[t]>3)+__any_sync(~0u,
            x[t]>4)+__all_sync(~0u,x[t]>5)+__shfl_xor_sync(~0u,x[t],3)+__shfl_down_sync(~0u,x[t],1,16)+
                    __activemask()+__reduce_add_sync(__match_any_sync(~0u,x[t]&1),t);
}

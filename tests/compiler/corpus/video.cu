// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void vec(int*x) {
    int t=threadIdx.x;
    x[t]=__dp4a(x[t],x[t+1],x[t+2])+__dp2a_lo(x[t],x[t+3],x[t])+__vadd2(x[t],x[t+2])+__vabsdiffu4(x[t],x[t+1])+
            __vmaxs2(x[t],x[t+8])+__brev(x[t])+__popc(x[t])+__clz(x[t])+__ffs(x[t])+__funnelshift_l(x[t],x[t+1],t)+
                    __byte_perm(x[t],x[t+1],x[t+2])+__mul24(x[t],x[t+1])+__mulhi(x[t],x[t+1])+__sad(x[t],x[t+1],t);
}

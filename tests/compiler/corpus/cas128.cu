// sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void cas128(ull*x) {
    asm volatile("{.reg .b128 a,b,c; mov.b128 a,{%1,%1}; mov.b128 b,{%1,%2}; atom.global.cas.b128 c,[%0],a,b;"
            "mov.b128 {%1,%2},c;}"::"l"(x),"l"(x[2]),"l"(x[3]):"memory");
}

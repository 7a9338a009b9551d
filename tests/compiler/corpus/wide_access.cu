// sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void v8(const float*x,float*y) {
    float v[8];
    const float*p=x+8*threadIdx.x;
    asm volatile("ld.global.v8.f32 {%0,%1,%2,%3,%4,%5,%6,%7},[%8];":"=f"(v[0]),"=f"(v[1]),"=f"(v[2]),"=f"(v[3]),
            "=f"(v[4]),"=f"(v[5]),"=f"(v[6]),"=f"(v[7]):"l"(p));
    for(int i=0;i<8;i++)v[i]*=2;
    float*q=y+8*threadIdx.x;
    asm volatile("st.global.v8.f32 [%8],{%0,%1,%2,%3,%4,%5,%6,%7};"::"f"(v[0]),"f"(v[1]),"f"(v[2]),"f"(v[3]),
            "f"(v[4]),"f"(v[5]),"f"(v[6]),"f"(v[7]),"l"(q):"memory");
}

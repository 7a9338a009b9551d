// sm_100a sm_120a
#include "common.cuh"
extern "C" __global__ void cvt4(const float*x,unsigned char*y) {
    unsigned short r;
    asm volatile("{.reg .b8 b; cvt.rn.satfinite.e2m1x2.f32 b,%1,%2; cvt.u16.u8 %0,b;}":"=h"(r):"f"(x[0]),"f"(x[1]));
    y[threadIdx.x]=r;
    asm volatile("cvt.rn.satfinite.e2m3x2.f32 %0,%1,%2;":"=h"(r):"f"(x[2]),"f"(x[3]));
    y[5]=r;
    unsigned short q;
    asm volatile("cvt.rz.satfinite.ue8m0x2.f32 %0,%1,%2;":"=h"(q):"f"(x[2]),"f"(x[3]));
    y[7]=q;
}

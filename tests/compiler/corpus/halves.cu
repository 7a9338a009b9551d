// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void half_(__half2*x,__nv_bfloat162*y,float*z) {
    int t=threadIdx.x;
    x[t]=__hfma2_relu(x[t],x[t+1],x[t+2])+__hmin2(x[t],x[t+3])*h2exp2(x[t]);
    y[t]=__hfma2(y[t],y[t+1],y[t+2])+__hmax2(y[t],y[t+4]);
    z[t]=__half2float(x[t].x)+__bfloat162float(y[t].y);
    if(__hbgt2(x[t],x[t+5])) z[t]=0;
    y[t+7]=__floats2bfloat162_rn(z[t],z[t+1]);
    x[t+9]=__floats2half2_rn(z[t+4],z[t+2]);
}

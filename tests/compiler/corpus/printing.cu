// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
#include <cstdio>
extern "C" __global__ void prnt(int*x) {
    printf("%d",x[threadIdx.x]);
    if(x[1]>5) __trap();
    x[2]=(int)(long long)malloc(x[0]);
}

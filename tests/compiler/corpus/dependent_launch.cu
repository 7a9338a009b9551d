// sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void pdl(int*x) {
    asm volatile("griddepcontrol.wait;":::"memory");
    x[threadIdx.x]++;
    asm volatile("griddepcontrol.launch_dependents;");
}

// SPDX-License-Identifier: Apache-2.0
// y = a*x + y: one element per thread, nothing reused, so the memory ports decide its speed.

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

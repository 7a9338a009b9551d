// SPDX-License-Identifier: Apache-2.0
// Quotient and root in floating point, quotient and remainder in integers. SASS has no such instructions: the floating
// point ones call a subroutine for extreme operands, and the inputs hold such operands.

extern "C" __global__ void divide(int n, const float *a, const float *b, const int *c, const int *d, float *quotient,
                                  float *root, int *whole, int *rest)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    quotient[i] = a[i] / b[i];
    root[i] = sqrtf(b[i]);
    whole[i] = c[i] / d[i];
    rest[i] = c[i] % d[i];
}

// SPDX-License-Identifier: Apache-2.0
// Double precision: quotient, root and fused product, which are long sequences around a 20-bit approximation with a
// subroutine for extreme operands, and the conversions from and to the other types. The inputs hold such operands.

extern "C" __global__ void divide_double(int n, double limit, const double *a, const double *b, const float *single,
                                         const int *whole, double *quotient, double *root, double *fused,
                                         float *narrow, int *floor_of)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double wide = single[i], count = whole[i];
    quotient[i] = a[i] / b[i];
    root[i] = sqrt(b[i]);
    fused[i] = fma(wide, count, a[i]);
    double sum = wide + __dmul_rn(count, count);
    narrow[i] = (float)(sum < limit ? sum : limit);
    floor_of[i] = (int)floor(wide);
}

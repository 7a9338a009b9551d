// SPDX-License-Identifier: Apache-2.0
// Arithmetic on pairs of half-precision numbers: a polynomial and complex products, whose parts are taken from either
// half of a register. Multiplications and additions that must not be fused are said so.

#define CUDA_NO_HALF // leaves the name of the kernel free
#include <cuda_fp16.h>

extern "C" __global__ void half2(int n, int degree, float scale, const __half2 *x, const __half2 *y,
                                 const __half2 *coefficients, __half2 *poly, __half2 *product, __half2 *clamped,
                                 float *norm)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half2 a = x[i], b = y[i];
    __half2 value = coefficients[degree];
    for (int d = degree - 1; d >= 0; --d)
        value = __hfma2(value, a, coefficients[d]);
    poly[i] = value;

    // (a.x + i a.y) (b.x + i b.y), the sum of each part in one fused step.
    __half2 cross = __hmul2_rn(__high2half2(a), __lowhigh2highlow(b));
    cross = __halves2half2(__hneg(__low2half(cross)), __high2half(cross));
    product[i] = __hfma2(__low2half2(a), b, cross);

    __half2 apart = __hsub2_rn(a, b), scaled = __hmul2_rn(apart, __float2half2_rn(scale));
    clamped[i] = __hadd2_sat(scaled, __hfma2_sat(a, a, b));
    float2 wide = __half22float2(__hadd2_rn(apart, scaled));
    norm[i] = wide.x * scale + wide.y;
}

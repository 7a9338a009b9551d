// SPDX-License-Identifier: Apache-2.0
// Horner's rule at 20 points per thread at once: 20 arguments and 20 sums stay in registers over the whole loop, and
// the last phase needs only a few. n must be a multiple of 20 * blockDim.x; the host sees to it.

#define POINTS 20

extern "C" __global__ void __launch_bounds__(256)
unrolled_poly(int degree, const float *coefficients, const float *x, float *y, float *sums)
{
    int first = blockIdx.x * blockDim.x * POINTS + threadIdx.x;
    float point[POINTS], value[POINTS];
#pragma unroll
    for (int p = 0; p < POINTS; ++p) {
        point[p] = x[first + p * blockDim.x];
        value[p] = coefficients[degree];
    }
#pragma unroll 2
    for (int k = degree - 1; k >= 0; --k) {
        float c = coefficients[k];
#pragma unroll
        for (int p = 0; p < POINTS; ++p)
            value[p] = value[p] * point[p] + c;
    }
    float sum = 0.0f;
#pragma unroll
    for (int p = 0; p < POINTS; ++p) {
        y[first + p * blockDim.x] = value[p];
        sum += value[p];
    }
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

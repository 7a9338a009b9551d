// SPDX-License-Identifier: Apache-2.0
// Product of a matrix (stored by columns) with another (stored by rows), 8 x 10 results in registers of each thread:
// so many live registers that few warps fit a register file. Nothing is spilled and nothing shared.

#define ROWS 8
#define COLUMNS 10

extern "C" __global__ void __launch_bounds__(64) wide_accumulate(int m, int n, int k, const float *a, const float *b,
                                                                 float *c)
{
    int row = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    int column = (blockIdx.x * blockDim.x + threadIdx.x) * COLUMNS;
    float sum[ROWS][COLUMNS] = {};
    for (int step = 0; step < k; ++step) {
        float left[ROWS], right[COLUMNS];
#pragma unroll
        for (int r = 0; r < ROWS; r += 4)
            *(float4 *)&left[r] = *(const float4 *)(a + step * m + row + r);
#pragma unroll
        for (int s = 0; s < COLUMNS; s += 2)
            *(float2 *)&right[s] = *(const float2 *)(b + step * n + column + s);
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
#pragma unroll
            for (int s = 0; s < COLUMNS; ++s)
                sum[r][s] += left[r] * right[s];
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int s = 0; s < COLUMNS; s += 2)
            *(float2 *)(c + (row + r) * n + column + s) = make_float2(sum[r][s], sum[r][s + 1]);
}

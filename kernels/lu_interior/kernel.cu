// SPDX-License-Identifier: Apache-2.0
// The interior of a blocked LU decomposition: each tile gets the product of the tile at its left border and the one at
// its upper border less, both in shared memory, in a loop that is unrolled completely.

#define SIDE 16

extern "C" __global__ void lu_interior(int n, float *matrix)
{
    __shared__ float left[SIDE][SIDE];
    __shared__ float upper[SIDE][SIDE];
    int x = threadIdx.x, y = threadIdx.y;
    int column = (blockIdx.x + 1) * SIDE + x, row = (blockIdx.y + 1) * SIDE + y;
    left[y][x] = matrix[row * n + x];
    upper[y][x] = matrix[y * n + column];
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < SIDE; ++i)
        sum += left[y][i] * upper[i][x];
    matrix[row * n + column] -= sum;
}

// SPDX-License-Identifier: Apache-2.0
// C = A*B with A of m x k and B of k x n, in 16 x 16 tiles through shared memory. Edge tiles are padded with zeros, so
// that the barriers stay outside every condition.

#define TILE 16

extern "C" __global__ void __launch_bounds__(TILE * TILE)
matmul_tiled(int m, int n, int k, const float *a, const float *b, float *c)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;

    for (int first = 0; first < k; first += TILE) {
        int ka = first + tx, kb = first + ty;
        tile_a[ty][tx] = (row < m && ka < k) ? a[row * k + ka] : 0.0f;
        tile_b[ty][tx] = (kb < k && col < n) ? b[kb * n + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; ++i)
            sum += tile_a[ty][i] * tile_b[i][tx];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}

// SPDX-License-Identifier: Apache-2.0
// C = A*B with 4 x 4 sums in the registers of every thread: a block computes a tile of 32 x 32 with 64 threads, whose
// operands come from shared memory four at a time. Every register that is loaded is read four times, by instructions
// that are as many apart. m and n are multiples of 32, k is one of 8; A is stored column by column.

#define TILE 32 // of C, up and across
#define DEPTH 8 // of A and B, per step
#define OWN 4   // rows and columns of a thread

extern "C" __global__ void __launch_bounds__(64)
matmul_registers(int m, int n, int k, const float *a, const float *b, float *c)
{
    __shared__ float tile_a[DEPTH][TILE];
    __shared__ float tile_b[DEPTH][TILE];
    int thread = threadIdx.y * blockDim.x + threadIdx.x;
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    int line = thread / 8, word = thread % 8 * 4; // of a tile, what this thread brings
    float sum[OWN][OWN] = {};

    for (int first = 0; first < k; first += DEPTH) {
        *reinterpret_cast<float4 *>(&tile_a[line][word]) =
            *reinterpret_cast<const float4 *>(&a[(first + line) * m + row + word]);
        *reinterpret_cast<float4 *>(&tile_b[line][word]) =
            *reinterpret_cast<const float4 *>(&b[(first + line) * n + column + word]);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < DEPTH; ++i) {
            float4 up = *reinterpret_cast<float4 *>(&tile_a[i][threadIdx.y * OWN]);
            float4 across = *reinterpret_cast<float4 *>(&tile_b[i][threadIdx.x * OWN]);
            float left[OWN] = {up.x, up.y, up.z, up.w}, right[OWN] = {across.x, across.y, across.z, across.w};
#pragma unroll
            for (int r = 0; r < OWN; ++r)
#pragma unroll
                for (int s = 0; s < OWN; ++s)
                    sum[r][s] += left[r] * right[s];
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < OWN; ++r)
        *reinterpret_cast<float4 *>(&c[(row + threadIdx.y * OWN + r) * n + column + threadIdx.x * OWN]) =
            make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
}

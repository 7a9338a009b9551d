// SPDX-License-Identifier: Apache-2.0
// Matrix product on tensor cores: half precision in, single precision out. Four warps share a tile of both matrices
// and each computes 16 x 8 results. Loads of whole 8 x 8 matrices and products of fragments exist in PTX only.

#include <cuda_fp16.h>

#define TILE_M 32
#define TILE_N 16
#define TILE_K 16
#define PITCH 24 // halves in a row of a tile: rows stay aligned to 16 bytes and lie in different banks

__device__ __forceinline__ void multiply(float (&sum)[4], unsigned a0, unsigned a1, unsigned b)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a0), "r"(a1), "r"(b));
}

extern "C" __global__ void tensor(int n, int k, const __half *a, const __half *b, float *c)
{
    __shared__ __align__(16) __half left[TILE_M][PITCH], right[TILE_K][PITCH];
    int t = threadIdx.x, lane = t & 31, row = t >> 5 & 1, column = t >> 6;
    int first_row = blockIdx.y * TILE_M, first_column = blockIdx.x * TILE_N;
    // Where this lane finds the row of a matrix that it passes to the load.
    unsigned a_row = __cvta_generic_to_shared(&left[16 * row + (lane & 15)][lane >> 4 << 3]);
    unsigned b_row = __cvta_generic_to_shared(&right[lane & 15][8 * column]);
    float sum[4] = {};
    for (int start = 0; start < k; start += TILE_K) {
        *(uint2 *)&left[t >> 2][(t & 3) * 4] = *(const uint2 *)(a + (first_row + (t >> 2)) * k + start + (t & 3) * 4);
        *(unsigned *)&right[t >> 3][(t & 7) * 2] =
            *(const unsigned *)(b + (start + (t >> 3)) * n + first_column + (t & 7) * 2);
        __syncthreads();
        unsigned a0, a1, a2, a3, b0, b1;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3) : "r"(a_row) : "memory");
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(b0), "=r"(b1) : "r"(b_row) : "memory");
        multiply(sum, a0, a1, b0);
        multiply(sum, a2, a3, b1);
        __syncthreads();
    }
    float *corner = c + (first_row + 16 * row + (lane >> 2)) * n + first_column + 8 * column + (lane & 3) * 2;
    *(float2 *)corner = make_float2(sum[0], sum[1]);
    *(float2 *)(corner + 8 * n) = make_float2(sum[2], sum[3]);
}

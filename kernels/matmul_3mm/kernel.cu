// SPDX-License-Identifier: Apache-2.0
// A*(B*(C*D)) in one launch. A block makes 32 columns of every product, so what it reads of a product it has written
// itself, and barriers between the products are all the order it needs. A warp computes 32 words of every eighth row:
// all warps of the block read the same rows of the product before, which other warps have written, and the warps of
// other blocks the same words of A, B and C.

__device__ void multiply(int n, int columns, const float *left, const float *right, float *product)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    for (int row = threadIdx.y; row < n; row += blockDim.y) {
        float sum = 0.0f;
        for (int i = 0; i < n; ++i)
            sum += left[row * n + i] * right[i * columns + column];
        product[row * columns + column] = sum;
    }
}

extern "C" __global__ void matmul_3mm(int n, int columns, const float *a, const float *b, const float *c, const float *d,
                                      float *cd, float *bcd, float *abcd)
{
    multiply(n, columns, c, d, cd);
    __syncthreads();
    multiply(n, columns, b, cd, bcd);
    __syncthreads();
    multiply(n, columns, a, bcd, abcd);
}

// SPDX-License-Identifier: Apache-2.0
// The second product of D = (A*B)*C, one element per thread, nothing but global memory. PolyBench/GPU's 2MM and 3MM
// launch such a kernel two and three times; here the first product is an input. A warp computes 32 words of one row:
// the warps of a block read the same rows of C, and those of blocks side by side the same words of A*B.

extern "C" __global__ void matmul_2mm(int rows, int columns, int depth, const float *ab, const float *c, float *d)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns)
        return;
    float sum = 0.0f;
    for (int i = 0; i < depth; ++i)
        sum += ab[row * depth + i] * c[i * columns + column];
    d[row * columns + column] = sum;
}

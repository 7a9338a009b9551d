// SPDX-License-Identifier: Apache-2.0
// y = A*x, A sparse in compressed rows (CSR), one row per thread: row lengths differ, so lanes leave the loop one by
// one.

extern "C" __global__ void spmv(int rows, const int *row_start, const int *column, const float *weight, const float *x,
                                float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int i = row_start[row]; i < row_start[row + 1]; ++i)
        sum += weight[i] * x[column[i]];
    y[row] = sum;
}

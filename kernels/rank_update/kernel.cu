// SPDX-License-Identifier: Apache-2.0
// Symmetric rank-2k update of the lower triangle, alpha*(A*B' + B*A') + beta*C: four loads for two products, two of them
// the same for all lanes, the other two with a row of the matrix between neighbouring lanes.

extern "C" __global__ void rank_update(int n, int k, float alpha, float beta, const float *a, const float *b, float *c)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column > row)
        return;
    float sum = beta * c[row * n + column];
    for (int i = 0; i < k; ++i) {
        sum += alpha * a[row * k + i] * b[column * k + i];
        sum += alpha * b[row * k + i] * a[column * k + i];
    }
    c[row * n + column] = sum;
}

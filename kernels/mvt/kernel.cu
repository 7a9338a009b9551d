// SPDX-License-Identifier: Apache-2.0
// Two vectors that get the product of a matrix and of its transpose with two others, for several matrices. A thread has a
// word of both: in one loop it reads a row and a column, of which the lanes of a warp share no word and all of a line.

extern "C" __global__ void mvt(int n, const float *matrix, const float *y1, const float *y2, float *x1, float *x2)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, vector = blockIdx.y * n;
    if (i >= n)
        return;
    float first = x1[vector + i], second = x2[vector + i];
    for (int j = 0; j < n; ++j) {
        first += matrix[(vector + i) * n + j] * y1[vector + j];
        second += matrix[(vector + j) * n + i] * y2[vector + j];
    }
    x1[vector + i] = first;
    x2[vector + i] = second;
}

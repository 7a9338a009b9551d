// SPDX-License-Identifier: Apache-2.0
// Both products of a step of the biconjugate gradients, A*p and A'*r, without shared memory: blocks of the first row of
// the grid have a row of the matrix per thread, so that lanes load words far apart, those of the second a column.

extern "C" __global__ void bicg(int rows, int columns, const float *matrix, const float *p, const float *r, float *q,
                                float *s)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    if (blockIdx.y == 0) {
        if (i >= rows)
            return;
        for (int column = 0; column < columns; ++column)
            sum += matrix[i * columns + column] * p[column];
        q[i] = sum;
    } else {
        if (i >= columns)
            return;
        for (int row = 0; row < rows; ++row)
            sum += matrix[row * columns + i] * r[row];
        s[i] = sum;
    }
}

// SPDX-License-Identifier: Apache-2.0
// A step of Gram and Schmidt: all columns behind a unit vector lose their part along it. A thread has a column and goes
// over it twice, first to add up the part, then to subtract it; of the unit vector all lanes load the same word.

extern "C" __global__ void gram_schmidt(int rows, int columns, const float *unit, float *matrix, float *part)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns)
        return;
    float along = 0.0f;
    for (int row = 0; row < rows; ++row)
        along += unit[row] * matrix[row * columns + column];
    part[column] = along;
    for (int row = 0; row < rows; ++row)
        matrix[row * columns + column] -= unit[row] * along;
}

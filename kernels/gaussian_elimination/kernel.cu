// SPDX-License-Identifier: Apache-2.0
// A step of Gaussian elimination: multiples of the pivot's row are taken from all rows under it, of the matrix and of
// the right side. A thread has one element; nothing is read that the launch writes, but that element.

extern "C" __global__ void gaussian_elimination(int n, int pivot, const float *multiplier, float *matrix, float *right)
{
    int column = pivot + blockIdx.x * blockDim.x + threadIdx.x;
    int row = pivot + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n)
        return;
    float times = multiplier[row];
    matrix[row * n + column] -= times * matrix[pivot * n + column];
    if (column == pivot)
        right[row] -= times * right[pivot];
}

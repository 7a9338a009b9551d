// SPDX-License-Identifier: Apache-2.0
// LU decomposition of small matrices, one per block, in shared memory and in place: in every step, one column is divided
// by the pivot, then the rest gets a product less. Fewer threads work in every step.

#define SIDE 16

extern "C" __global__ void lu_decomposition(float *matrix)
{
    __shared__ float a[SIDE][SIDE + 1];
    int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.x * SIDE + y) * SIDE + x;
    a[y][x] = matrix[at];
    __syncthreads();
    for (int pivot = 0; pivot < SIDE - 1; ++pivot) {
        if (x == pivot && y > pivot)
            a[y][x] /= a[pivot][pivot];
        __syncthreads();
        if (x > pivot && y > pivot)
            a[y][x] -= a[y][pivot] * a[pivot][x];
        __syncthreads();
    }
    matrix[at] = a[y][x];
}

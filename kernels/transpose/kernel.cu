// SPDX-License-Identifier: Apache-2.0
// Transpose of a matrix through shared memory: rows of 32 words are loaded and stored, and in between they are read by
// columns, which the one word more in each row puts into different banks. No arithmetic but addresses.

#define SIDE 32

extern "C" __global__ void transpose(int width, int height, const int *in, int *out)
{
    __shared__ int tile[SIDE][SIDE + 1];
    int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
    for (int down = 0; down < SIDE; down += blockDim.y)
        if (x < width && y + down < height)
            tile[threadIdx.y + down][threadIdx.x] = in[(y + down) * width + x];
    __syncthreads();
    x = blockIdx.y * SIDE + threadIdx.x;
    y = blockIdx.x * SIDE + threadIdx.y;
    for (int down = 0; down < SIDE; down += blockDim.y)
        if (x < height && y + down < width)
            out[(y + down) * height + x] = tile[threadIdx.x][threadIdx.y + down];
}

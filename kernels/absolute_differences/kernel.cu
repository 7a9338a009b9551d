// SPDX-License-Identifier: Apache-2.0
// Motion estimation of video: a block of threads has one block of 8x8 pixels of a frame, every thread a place in the
// frame before where it might come from, and adds up the absolute differences of all pixels, of bytes. The pixels are in
// shared memory, the frame before is read in global memory, where neighbouring lanes read nearly the same bytes.

typedef unsigned char byte;

#define SIDE 8

extern "C" __global__ void absolute_differences(int width, const byte *frame, const byte *before, int *sums)
{
    __shared__ int pixel[SIDE][SIDE];
    int tx = threadIdx.x, ty = threadIdx.y;
    // The frame before has more pixels at all sides: half of the places to each.
    int wider = width + blockDim.x, place = ty * blockDim.x + tx;
    if (place < SIDE * SIDE) {
        int x = blockIdx.x * SIDE + place % SIDE, y = blockIdx.y * SIDE + place / SIDE;
        pixel[place / SIDE][place % SIDE] = frame[y * width + x];
    }
    __syncthreads();
    const byte *from = before + (blockIdx.y * SIDE + ty) * wider + blockIdx.x * SIDE + tx;
    int sum = 0;
#pragma unroll 1
    for (int y = 0; y < SIDE; ++y)
#pragma unroll
        for (int x = 0; x < SIDE; ++x)
            sum += abs(pixel[y][x] - from[y * wider + x]);
    sums[(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y + place] = sum;
}

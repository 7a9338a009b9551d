// SPDX-License-Identifier: Apache-2.0
// Histogram of bytes into 64 bins: per block in shared memory, then added to the global bins. Integer additions
// commute, so the result does not depend on the order of the atomics.

#define BINS 64

extern "C" __global__ void histogram(int words, const unsigned *data, unsigned *bins)
{
    __shared__ unsigned local[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
        unsigned word = data[i];
#pragma unroll
        for (int byte = 0; byte < 4; ++byte) {
            unsigned bin = (word >> (8 * byte + 2)) & (BINS - 1);
            atomicAdd(&local[bin], byte + 1u);
        }
    }
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        if (local[b] != 0)
            atomicAdd(&bins[b], local[b]);
}

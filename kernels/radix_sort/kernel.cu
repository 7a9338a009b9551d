// SPDX-License-Identifier: Apache-2.0
// Radix sort of the keys of a block by some of their bits, a bit at a time: a vote counts the zeros of a warp, a word per
// warp in shared memory those of the block, and every key goes to its new place there.

#define THREADS 128
#define WARPS (THREADS / 32)

extern "C" __global__ void radix_sort(int first_bit, int bits, const unsigned *key, unsigned *sorted)
{
    __shared__ unsigned place_of[THREADS];
    __shared__ int zeros_of[WARPS];
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    unsigned own = key[blockIdx.x * THREADS + thread];
    for (int bit = first_bit; bit < first_bit + bits; ++bit) {
        bool one = own >> bit & 1;
        unsigned zeros = __ballot_sync(0xffffffff, !one);
        if (lane == 0)
            zeros_of[warp] = __popc(zeros);
        __syncthreads();
        int before = __popc(zeros & ((1u << lane) - 1)), all = 0;
#pragma unroll
        for (int w = 0; w < WARPS; ++w) {
            before += w < warp ? zeros_of[w] : 0;
            all += zeros_of[w];
        }
        place_of[one ? all + thread - before : before] = own;
        __syncthreads();
        own = place_of[thread];
    }
    sorted[blockIdx.x * THREADS + thread] = own;
}

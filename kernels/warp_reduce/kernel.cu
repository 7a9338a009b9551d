// SPDX-License-Identifier: Apache-2.0
// Sum, maximum and number of positive values: each warp folds its lanes by shuffles, then one lane adds to the totals.

#define ALL 0xffffffffu

extern "C" __global__ void warp_reduce(int n, const int *in, int *total, int *largest, unsigned *positive)
{
    int sum = 0, top = 0x80000000;
    unsigned count = 0;
    int stride = gridDim.x * blockDim.x;
    // The loop bound is the same in all lanes of a warp, because the shuffles and the ballot need them all.
    for (int base = blockIdx.x * blockDim.x; base < n; base += stride) {
        int i = base + threadIdx.x;
        int value = i < n ? in[i] : 0;
        sum += value;
        top = max(top, i < n ? value : top);
        count += __popc(__ballot_sync(ALL, value > 0));
    }
#pragma unroll
    for (int step = 16; step > 0; step >>= 1) {
        sum += __shfl_down_sync(ALL, sum, step);
        top = max(top, __shfl_xor_sync(ALL, top, step));
    }
    if ((threadIdx.x & 31) == 0) {
        atomicAdd(total, sum);
        atomicMax(largest, top);
        atomicAdd(positive, count);
    }
}

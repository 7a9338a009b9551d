// SPDX-License-Identifier: Apache-2.0
// Each block sorts its own stretch of blockDim.x values (a power of two) by a bitonic network in shared memory.

extern "C" __global__ void bitonic_sort(int *values)
{
    __shared__ int line[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    line[t] = values[i];
    for (int run = 2; run <= blockDim.x; run *= 2) {
        for (int distance = run / 2; distance > 0; distance /= 2) {
            __syncthreads();
            int partner = t ^ distance;
            // Only the lower thread of a pair works, so half of the lanes idle and no word has two writers.
            if (partner > t) {
                int mine = line[t], other = line[partner];
                bool rising = (t & run) == 0;
                if ((mine > other) == rising) {
                    line[t] = other;
                    line[partner] = mine;
                }
            }
        }
    }
    __syncthreads();
    values[i] = line[t];
}

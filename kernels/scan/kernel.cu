// SPDX-License-Identifier: Apache-2.0
// Inclusive prefix sums of each block (Hillis and Steele) in dynamic shared memory, and the total of each block.

extern "C" __global__ void scan(int n, const int *in, int *out, int *block_total)
{
    extern __shared__ int line[];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    line[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < blockDim.x; distance *= 2) {
        int before = t >= distance ? line[t - distance] : 0;
        __syncthreads();
        line[t] += before;
        __syncthreads();
    }
    if (i < n)
        out[i] = line[t];
    if (t == blockDim.x - 1)
        block_total[blockIdx.x] = line[t];
}

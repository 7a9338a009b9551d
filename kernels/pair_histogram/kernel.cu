// SPDX-License-Identifier: Apache-2.0
// How often pairs of stars are so far apart: every thread has a star, takes its product with all others of a second
// list, finds the bin by binary search among its limits in shared memory, and counts in the warp's own histogram there.

#define BINS 16
#define WARPS 4

extern "C" __global__ void pair_histogram(int first, int second, const int *star, const int *other, const int *limit,
                                          int *count)
{
    __shared__ int edge[BINS - 1];
    __shared__ int here[WARPS][BINS];
    int thread = threadIdx.x, i = blockIdx.x * blockDim.x + thread;
    if (thread < BINS - 1)
        edge[thread] = limit[thread];
    if (thread < WARPS * BINS)
        here[thread / BINS][thread % BINS] = 0;
    __syncthreads();
    if (i < first) {
        int x = star[i], y = star[first + i], z = star[2 * first + i];
        for (int j = 0; j < second; ++j) {
            int product = x * other[3 * j] + y * other[3 * j + 1] + z * other[3 * j + 2];
            int low = 0, high = BINS - 1;
            while (low < high) {
                int middle = (low + high) / 2;
                if (product >= edge[middle])
                    low = middle + 1;
                else
                    high = middle;
            }
            atomicAdd(&here[thread / 32][low], 1);
        }
    }
    __syncthreads();
    if (thread < BINS) {
        int sum = 0;
        for (int warp = 0; warp < WARPS; ++warp)
            sum += here[warp][thread];
        atomicAdd(&count[thread], sum);
    }
}

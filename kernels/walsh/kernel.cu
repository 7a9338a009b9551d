// SPDX-License-Identifier: Apache-2.0
// Fast Walsh transform of 512 words per block in shared memory: sums and differences of pairs, first far apart, then
// side by side, two pairs per thread and step. The last steps have conflicts of banks.

#define THREADS 128
#define WORDS (4 * THREADS)

extern "C" __global__ void walsh(const int *in, int *out)
{
    __shared__ int word[WORDS];
    int thread = threadIdx.x, at = blockIdx.x * WORDS;
    for (int i = thread; i < WORDS; i += THREADS)
        word[i] = in[at + i];
    for (int stride = WORDS / 2; stride > 0; stride /= 2) {
        __syncthreads();
        for (int pair = thread; pair < WORDS / 2; pair += THREADS) {
            int low = 2 * pair - (pair & (stride - 1));
            int a = word[low], b = word[low + stride];
            word[low] = a + b;
            word[low + stride] = a - b;
        }
    }
    __syncthreads();
    for (int i = thread; i < WORDS; i += THREADS)
        out[at + i] = word[i];
}

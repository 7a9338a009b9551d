// SPDX-License-Identifier: Apache-2.0
// Wavelet transform of the rows of an image by lifting, the reversible one with filters of five and three words, over
// two levels in shared memory: odd words lose what their neighbours predict, even ones gain from what is left. A row has
// two words per thread; half of the threads work in the second level.

#define WIDTH 128
#define LEVELS 2

extern "C" __global__ void wavelet(const int *image, int *transformed)
{
    __shared__ int row[WIDTH];
    __shared__ int detail[WIDTH / 2];
    int i = threadIdx.x, at = blockIdx.x * WIDTH;
    row[i] = image[at + i];
    row[i + WIDTH / 2] = image[at + WIDTH / 2 + i];
    for (int half = WIDTH / 2; half >= WIDTH >> LEVELS; half /= 2) {
        __syncthreads();
        int even = 0, odd = 0;
        if (i < half) {
            even = row[2 * i];
            odd = row[2 * i + 1] - ((even + row[i < half - 1 ? 2 * i + 2 : 2 * i]) >> 1);
            detail[i] = odd;
        }
        __syncthreads();
        if (i < half) {
            row[i] = even + ((detail[max(i - 1, 0)] + odd + 2) >> 2);
            transformed[at + half + i] = odd;
        }
    }
    if (i < WIDTH >> LEVELS)
        transformed[at + i] = row[i];
}

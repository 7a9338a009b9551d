// SPDX-License-Identifier: Apache-2.0
// One layer of a convolutional network: 3x3 weights, several channels in and out, zeros around the image, ReLU behind.
// A warp computes one row of a tile and reads the rows above and below it too, from global memory, so neighbouring
// warps load the same words, and neighbouring lanes the same words shifted by one.

#define CHANNELS_OUT 4 // of one thread; blockIdx.z counts further ones

extern "C" __global__ void conv_layer(int width, int height, int channels, const float *in, const float *weight,
                                      const float *bias, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int first = blockIdx.z * CHANNELS_OUT;
    float sum[CHANNELS_OUT];
#pragma unroll
    for (int o = 0; o < CHANNELS_OUT; ++o)
        sum[o] = bias[first + o];
    for (int c = 0; c < channels; ++c) {
        const float *plane = in + c * width * height + y * width + x;
        const float *w = weight + (first * channels + c) * 9;
#pragma unroll
        for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
            for (int dx = -1; dx <= 1; ++dx) {
                bool inside = x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height;
                float value = inside ? plane[dy * width + dx] : 0.0f;
#pragma unroll
                for (int o = 0; o < CHANNELS_OUT; ++o)
                    sum[o] += value * w[o * channels * 9 + (dy + 1) * 3 + dx + 1];
            }
    }
#pragma unroll
    for (int o = 0; o < CHANNELS_OUT; ++o)
        out[((first + o) * height + y) * width + x] = fmaxf(sum[o], 0.0f);
}

// SPDX-License-Identifier: Apache-2.0
// A depth-wise layer as in MobileNet: every channel its own 3x3 filter, then the channel's scale and shift (what is left
// of batch normalization) and ReLU6. The layer before has put zeros around its planes, so nothing is guarded. A warp
// computes one row, so its neighbours read two of its three rows, and neighbouring lanes the same words shifted by one.

extern "C" __global__ void depthwise_conv(int width, int height, const float *in, const float *weight,
                                          const float *scale, const float *shift, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int channel = blockIdx.z;
    if (x >= width || y >= height)
        return;
    const float *window = in + (channel * (height + 2) + y) * (width + 2) + x;
    const float *filter = weight + channel * 9;
    float sum = 0.0f;
#pragma unroll
    for (int dy = 0; dy < 3; ++dy)
#pragma unroll
        for (int dx = 0; dx < 3; ++dx)
            sum += window[dy * (width + 2) + dx] * filter[dy * 3 + dx];
    out[(channel * height + y) * width + x] = fminf(fmaxf(sum * scale[channel] + shift[channel], 0.0f), 6.0f);
}

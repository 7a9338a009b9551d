// SPDX-License-Identifier: Apache-2.0
// Diffusion that removes speckle from an image, first half of a step: the differences to the four neighbours, and from
// them how well a pixel conducts. Three divisions per pixel; the last is kept between 0 and 1.

extern "C" __global__ void srad_coefficient(int width, int height, float speckle, const float *image, float *north,
                                            float *south, float *west, float *east, float *conduct)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int at = y * width + x;
    float here = image[at];
    float n = image[max(y - 1, 0) * width + x] - here, s = image[min(y + 1, height - 1) * width + x] - here;
    float w = image[y * width + max(x - 1, 0)] - here, e = image[y * width + min(x + 1, width - 1)] - here;
    float steepness = (n * n + s * s + w * w + e * e) / (here * here);
    float bend = (n + s + w + e) / here;
    float flat = 1.0f + 0.25f * bend;
    float variation = (0.5f * steepness - 0.0625f * bend * bend) / (flat * flat);
    float less = (variation - speckle) / (speckle * (1.0f + speckle));
    north[at] = n;
    south[at] = s;
    west[at] = w;
    east[at] = e;
    conduct[at] = __saturatef(1.0f / (1.0f + less));
}

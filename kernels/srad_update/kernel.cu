// SPDX-License-Identifier: Apache-2.0
// Diffusion that removes speckle from an image, second half of a step: what flows into a pixel over its four sides, with
// the conductances of a tile in shared memory. The tile has a row below and a column at the right that threads at its
// edges load besides.

#define WIDE 16
#define HIGH 8

extern "C" __global__ void srad_update(int width, int height, float rate, const float *north, const float *south,
                                       const float *west, const float *east, const float *conduct, float *image)
{
    __shared__ float tile[HIGH + 1][WIDE + 1];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * WIDE + tx, y = blockIdx.y * HIGH + ty;
    int column = min(x, width - 1), row = min(y, height - 1);
    tile[ty][tx] = conduct[row * width + column];
    if (tx == WIDE - 1)
        tile[ty][WIDE] = conduct[row * width + min(x + 1, width - 1)];
    if (ty == HIGH - 1)
        tile[HIGH][tx] = conduct[min(y + 1, height - 1) * width + column];
    __syncthreads();
    if (x >= width || y >= height)
        return;
    int at = y * width + x;
    float here = tile[ty][tx];
    float flow = here * (north[at] + west[at]) + tile[ty + 1][tx] * south[at] + tile[ty][tx + 1] * east[at];
    image[at] += 0.25f * rate * flow;
}

// SPDX-License-Identifier: Apache-2.0
// One step of heat flow on a plate: five-point stencil, periodic in x, insulated (edge value repeated) in y.

extern "C" __global__ void stencil(int width, int height, float rate, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int left = x == 0 ? width - 1 : x - 1;
    int right = x == width - 1 ? 0 : x + 1;
    int up = max(y - 1, 0);
    int down = min(y + 1, height - 1);
    int row = y * width;
    float centre = in[row + x];
    float around = in[row + left] + in[row + right] + in[up * width + x] + in[down * width + x];
    out[row + x] = centre + rate * (around - 4.0f * centre);
}

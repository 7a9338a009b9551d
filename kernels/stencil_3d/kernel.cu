// SPDX-License-Identifier: Apache-2.0
// Seven-point stencil in space: every thread goes up a column of the grid and keeps the cell below, its own and the one
// above in registers, so that a step loads the four neighbours in its plane and one cell of the plane after the next.

extern "C" __global__ void stencil_3d(int width, int height, int depth, float own, float around, const float *in,
                                      float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= width - 1 || y >= height - 1)
        return;
    int plane = width * height, at = y * width + x;
    float below = in[at], here = in[at + plane];
    for (int z = 1; z < depth - 1; ++z) {
        at += plane;
        float above = in[at + plane];
        float sum = below + above + in[at - 1] + in[at + 1] + in[at - width] + in[at + width];
        out[at] = own * here + around * sum;
        below = here;
        here = above;
    }
}

// SPDX-License-Identifier: Apache-2.0
// A step of finite differences in time on a staggered grid: two components of the electric field from the magnetic one,
// then that from them. Every thread has one cell, and computes the electric fields at its far sides again, which belong
// to its neighbours, so that one launch does the whole step without a barrier.

extern "C" __global__ void fdtd(int width, int height, float pulse, const float *ex, const float *ey, const float *hz,
                                float *ex_next, float *ey_next, float *hz_next)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int at = y * width + x;
    float h = hz[at];
    float e_x = ex[at], e_y = ey[at];
    e_x = x > 0 ? e_x - 0.5f * (h - hz[at - 1]) : e_x;
    e_y = y > 0 ? e_y - 0.5f * (h - hz[at - width]) : pulse;
    ex_next[at] = e_x;
    ey_next[at] = e_y;
    if (x < width - 1 && y < height - 1) {
        float right = ex[at + 1] - 0.5f * (hz[at + 1] - h);
        float under = ey[at + width] - 0.5f * (hz[at + width] - h);
        h -= 0.7f * (right - e_x + under - e_y);
    }
    hz_next[at] = h;
}

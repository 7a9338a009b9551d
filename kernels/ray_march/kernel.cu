// SPDX-License-Identifier: Apache-2.0
// Rays through a volume of densities: every thread sums samples along its ray, each interpolated from eight corners.

extern "C" __global__ void ray_march(int steps, int size, float spacing, const float *volume, const float *rays,
                                     float *out)
{
    int ray = blockIdx.x * blockDim.x + threadIdx.x;
    float x = rays[6 * ray], y = rays[6 * ray + 1], z = rays[6 * ray + 2];
    float dx = spacing * rays[6 * ray + 3], dy = spacing * rays[6 * ray + 4], dz = spacing * rays[6 * ray + 5];
    float light = 1.0f, sum = 0.0f;
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        int i = (int)x, j = (int)y, k = (int)z;
        float fx = x - (float)i, fy = y - (float)j, fz = z - (float)k;
        const float *at = volume + (k * size + j) * size + i;
        const float *up = at + size * size;
        float a = at[0], b = at[1], c = at[size], d = at[size + 1];
        float e = up[0], f = up[1], g = up[size], h = up[size + 1];
        a += fx * (b - a);
        c += fx * (d - c);
        e += fx * (f - e);
        g += fx * (h - g);
        a += fy * (c - a);
        e += fy * (g - e);
        a += fz * (e - a);
        sum += light * a;
        light *= 1.0f - 0.25f * a;
        x += dx;
        y += dy;
        z += dz;
    }
    out[ray] = sum;
}

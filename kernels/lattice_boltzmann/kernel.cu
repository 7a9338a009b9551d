// SPDX-License-Identifier: Apache-2.0
// A step of the lattice Boltzmann method in a plane: every thread takes what streams into its cell from nine directions,
// lets it collide, and stores nine words. Cells of an obstacle turn everything around instead. The plane is periodic.

extern "C" __global__ void lattice_boltzmann(int width, int height, float rate, const int *obstacle, const float *in,
                                             float *out)
{
    const int to_x[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, to_y[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    const int opposite[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
    const float share[9] = {4.0f / 9,  1.0f / 9,  1.0f / 9,  1.0f / 9, 1.0f / 9,
                            1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int cells = width * height, at = y * width + x;
    float flow[9], density = 0.0f, u = 0.0f, v = 0.0f;
#pragma unroll
    for (int d = 0; d < 9; ++d) {
        int from_x = x - to_x[d], from_y = y - to_y[d];
        from_x = from_x < 0 ? width - 1 : from_x == width ? 0 : from_x;
        from_y = from_y < 0 ? height - 1 : from_y == height ? 0 : from_y;
        flow[d] = in[d * cells + from_y * width + from_x];
        density += flow[d];
        u += to_x[d] * flow[d];
        v += to_y[d] * flow[d];
    }
    if (obstacle[at]) {
#pragma unroll
        for (int d = 0; d < 9; ++d)
            out[d * cells + at] = flow[opposite[d]];
        return;
    }
    float inverse = __fdividef(1.0f, density);
    u *= inverse;
    v *= inverse;
    float slow = 1.0f - 1.5f * (u * u + v * v);
#pragma unroll
    for (int d = 0; d < 9; ++d) {
        float along = 3.0f * (to_x[d] * u + to_y[d] * v);
        float rest = share[d] * density * (slow + along + 0.5f * along * along);
        out[d * cells + at] = flow[d] + rate * (rest - flow[d]);
    }
}

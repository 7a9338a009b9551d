// SPDX-License-Identifier: Apache-2.0
// Temperature of a chip, several steps in one launch: a block loads a tile with a border as wide as the steps, and in
// every step one cell less on each side is right. Heat flows between neighbours and to the air, and circuits produce it;
// none flows over the edges of the chip.

#define SIDE 16

extern "C" __global__ void hotspot(int width, int height, int steps, float along, float across, float upwards, float air,
                                   const float *power, const float *before, float *after)
{
    __shared__ float heat[SIDE][SIDE];
    int tx = threadIdx.x, ty = threadIdx.y, inner = SIDE - 2 * steps;
    int x = blockIdx.x * inner + tx - steps, y = blockIdx.y * inner + ty - steps, at = y * width + x;
    bool on_chip = x >= 0 && x < width && y >= 0 && y < height;
    float own = 0.0f;
    if (on_chip) {
        heat[ty][tx] = before[at];
        own = power[at];
    }
    __syncthreads();
    int west = x == 0 ? tx : tx - 1, east = x == width - 1 ? tx : tx + 1;
    int north = y == 0 ? ty : ty - 1, south = y == height - 1 ? ty : ty + 1;
    for (int step = 1; step <= steps; ++step) {
        bool right = on_chip && tx >= step && tx < SIDE - step && ty >= step && ty < SIDE - step;
        float next = 0.0f;
        if (right) {
            float here = heat[ty][tx];
            next = here + own + along * (heat[ty][west] + heat[ty][east] - 2.0f * here) +
                   across * (heat[north][tx] + heat[south][tx] - 2.0f * here) + upwards * (air - here);
        }
        __syncthreads();
        if (right)
            heat[ty][tx] = next;
        __syncthreads();
    }
    if (on_chip && tx >= steps && tx < SIDE - steps && ty >= steps && ty < SIDE - steps)
        after[at] = heat[ty][tx];
}

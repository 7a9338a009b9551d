// SPDX-License-Identifier: Apache-2.0
// Random walks along a line, with a generator that multiplies with carry, so that both halves of a product are needed
// at once; then a wave at the place that each walker reached. It is damped beyond an edge, where most warps have nobody.

extern "C" __global__ void random_walk(const unsigned *seed, unsigned steps, float edge, float *height)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = seed[i], carry = i + 1;
    float place = 0;
    for (unsigned step = 0; step < steps; ++step) {
        unsigned long long product = 4294957665ull * value + carry;
        value = static_cast<unsigned>(product);
        carry = static_cast<unsigned>(product >> 32);
        place += static_cast<float>(static_cast<int>(value) >> 24);
    }
    place *= 0.0078125f;
    float wave = __sinf(place) * __cosf(place), damping = 0;
    if (place > edge)
        damping = __expf(-place);
    height[i] = wave + damping;
}

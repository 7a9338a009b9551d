// SPDX-License-Identifier: Apache-2.0
// Length and peak of the Collatz sequence of each start value. Both loops run a different number of times in every
// lane.

extern "C" __global__ void collatz(unsigned first, unsigned count, unsigned *steps, unsigned *peak)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    unsigned value = first + i, length = 0, top = value;
    while (value != 1) {
        if (value & 1) {
            value = 3 * value + 1;
            top = max(top, value);
            ++length;
        }
        do {
            value >>= 1;
            ++length;
        } while (!(value & 1));
    }
    steps[i] = length;
    peak[i] = top;
}

// SPDX-License-Identifier: Apache-2.0
// Functions that are really called: one from both sides of a branch and from a loop whose length differs from lane to
// lane, and one that calls itself, so that the stack of a lane is as deep as its data say.

__device__ __noinline__ unsigned common_divisor(unsigned a, unsigned b)
{
    while (b) {
        unsigned rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// The ways to write n as a sum of parts of at most `largest`; no more than n calls are open at a time.
__device__ __noinline__ unsigned partitions(int n, int largest)
{
    if (n == 0 || largest == 1)
        return 1;
    unsigned without = partitions(n, largest - 1);
    return n < largest ? without : without + partitions(n - largest, largest);
}

extern "C" __global__ void calls(int n, const unsigned *a, const unsigned *b, const int *parts, unsigned *divisor,
                                 unsigned *coprime, unsigned *ways)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i], y = b[i], found;
    if (x & 1)
        found = common_divisor(x, y) + 1000000;
    else
        found = common_divisor(y + x, x);
    divisor[i] = found;
    unsigned count = 0;
    for (unsigned k = 1; k <= (x & 7); ++k)
        count += common_divisor(y, k) == 1;
    coprime[i] = count;
    ways[i] = partitions(parts[i], parts[i]);
}

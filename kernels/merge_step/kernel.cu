// SPDX-License-Identifier: Apache-2.0
// A step of merge sort: every thread has a key of a sorted run and finds by binary search how many keys of the run beside
// it come before; that and its own place say where key and value go. Lanes search in lock step and read scattered words.

extern "C" __global__ void merge_step(int n, int length, const int *key, const int *value, int *key_after,
                                      int *value_after)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int own = key[i], place = i % length, start = i - place;
    bool first = start / length % 2 == 0;
    int other = first ? start + length : start - length, low = 0, high = max(min(n - other, length), 0);
    while (low < high) {
        int middle = (low + high) / 2, there = key[other + middle];
        // Equal keys keep their order: those of the first run come before those of the second.
        if (there < own || (there == own && !first))
            low = middle + 1;
        else
            high = middle;
    }
    int to = min(start, other) + place + low;
    key_after[to] = own;
    value_after[to] = value[i];
}

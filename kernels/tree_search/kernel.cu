// SPDX-License-Identifier: Apache-2.0
// Queries of a tree of sorted keys: every thread goes down from the root, and looks in each node for the first key that
// is larger than its own. Lanes are in different nodes soon, and leave the search of a node at different keys.

extern "C" __global__ void tree_search(int queries, int levels, int order, const int *key, const int *value,
                                       const int *query, int *found)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queries)
        return;
    int wanted = query[i], node = 0, place = 0;
    for (int level = 0; level < levels; ++level) {
        const int *here = key + node * (order - 1);
        place = 0;
        while (place < order - 1 && here[place] <= wanted)
            ++place;
        node = node * order + 1 + place;
    }
    // Nodes below the last level are the leaves, numbered on.
    int inner = 0;
    for (int level = 0, width = 1; level < levels; ++level, width *= order)
        inner += width;
    found[i] = value[node - inner];
}

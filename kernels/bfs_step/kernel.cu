// SPDX-License-Identifier: Apache-2.0
// One level of a breadth-first search. The old levels are only read and the new ones only lowered by atomics, so two
// threads that find the same node do not race.

extern "C" __global__ void bfs_step(int nodes, int depth, const int *edge_start, const int *edge, const int *level,
                                    int *next_level, int *edges_seen)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || level[node] != depth)
        return;
    int begin = edge_start[node], end = edge_start[node + 1];
    for (int e = begin; e < end; ++e) {
        int other = edge[e];
        if (level[other] > depth + 1)
            atomicMin(&next_level[other], depth + 1);
    }
    atomicAdd(edges_seen, end - begin);
}

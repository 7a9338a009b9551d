// SPDX-License-Identifier: Apache-2.0
// Clustering of a stream of points: what would be gained by opening one more centre. Its coordinates are in shared
// memory; a thread has a point, and decides whether the new centre is nearer than the point's own. Points that stay
// would pay their way if their own centre closed, which is kept in a row per point and a column per centre.

#define MOST 32

extern "C" __global__ void stream_cluster(int points, int dimensions, int centres, int candidate, const float *coordinate,
                                          const float *weight, const float *cost, const int *assigned,
                                          const int *number_of_centre, float *change, float *closing, int *moves)
{
    __shared__ float centre[MOST];
    if (threadIdx.x < dimensions)
        centre[threadIdx.x] = coordinate[threadIdx.x * points + candidate];
    __syncthreads();
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points)
        return;
    float distance = 0.0f;
    for (int d = 0; d < dimensions; ++d) {
        float apart = coordinate[d * points + point] - centre[d];
        distance += apart * apart;
    }
    float own = cost[point], gain = distance * weight[point] - own;
    bool moving = gain < 0.0f;
    moves[point] = moving;
    change[point] = moving ? gain : 0.0f;
    if (!moving)
        closing[point * centres + number_of_centre[assigned[point]]] = gain;
}

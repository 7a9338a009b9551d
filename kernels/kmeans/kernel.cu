// SPDX-License-Identifier: Apache-2.0
// One step of k-means clustering: every thread finds the centre nearest to its point and counts it there. The features
// of the points are stored feature by feature, so that lanes load neighbouring words; all lanes load the same centre.

extern "C" __global__ void kmeans(int points, int features, int clusters, const float *feature, const float *centre,
                                  int *nearest, float *distance, int *members)
{
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points)
        return;
    int best = 0;
    float least = 3.4e38f;
    for (int cluster = 0; cluster < clusters; ++cluster) {
        float sum = 0.0f;
        for (int f = 0; f < features; ++f) {
            float apart = feature[f * points + point] - centre[cluster * features + f];
            sum += apart * apart;
        }
        if (sum < least) {
            least = sum;
            best = cluster;
        }
    }
    nearest[point] = best;
    distance[point] = least;
    atomicAdd(&members[best], 1);
}

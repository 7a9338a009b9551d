// SPDX-License-Identifier: Apache-2.0
// Softened gravity between all bodies (x, y, z, mass), tile by tile through shared memory, with 128-bit accesses.
// The number of bodies is gridDim.x * blockDim.x.

extern "C" __global__ void nbody(float softening, const float4 *body, float4 *acceleration)
{
    __shared__ float4 tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 self = body[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int t = 0; t < gridDim.x; ++t) {
        tile[threadIdx.x] = body[t * blockDim.x + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < blockDim.x; ++j) {
            float4 other = tile[j];
            float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            float pull = other.w * inverse * inverse * inverse;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        __syncthreads();
    }
    acceleration[i] = make_float4(ax, ay, az, self.w);
}

// SPDX-License-Identifier: Apache-2.0
// Particles in boxes: a block computes what the particles of its box feel from those of the box itself and of its
// neighbours, whose number differs from box to box. A neighbour's particles go through shared memory, one per thread;
// the interaction falls off exponentially with the square of the distance.

#define PARTICLES 32 // of a box, one per thread

extern "C" __global__ void __launch_bounds__(PARTICLES)
particle_boxes(float steepness, const int *neighbour_start, const int *neighbour, const float *particle, float *field)
{
    __shared__ float4 near[PARTICLES]; // place and charge
    int thread = threadIdx.x, box = blockIdx.x;
    const float4 *all = reinterpret_cast<const float4 *>(particle);
    float4 own = all[box * PARTICLES + thread];
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f); // force and potential

    for (int n = neighbour_start[box]; n < neighbour_start[box + 1]; ++n) {
        near[thread] = all[neighbour[n] * PARTICLES + thread];
        __syncthreads();
        for (int i = 0; i < PARTICLES; ++i) {
            float4 other = near[i];
            float dx = own.x - other.x, dy = own.y - other.y, dz = own.z - other.z;
            float weight = other.w * __expf(-steepness * (dx * dx + dy * dy + dz * dz));
            float force = 2.0f * steepness * weight;
            sum.x += force * dx;
            sum.y += force * dy;
            sum.z += force * dz;
            sum.w += weight;
        }
        __syncthreads();
    }
    reinterpret_cast<float4 *>(field)[box * PARTICLES + thread] = sum;
}

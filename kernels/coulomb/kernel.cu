// SPDX-License-Identifier: Apache-2.0
// Electric potential on a plane near atoms, with a cutoff: atoms come by 64 into shared memory, every thread sums over
// those that are near, and lanes whose point is far from an atom wait for the others.

#define ATOMS 64

extern "C" __global__ void coulomb(int width, int atoms, float spacing, float reach, const float4 *atom, float *potential)
{
    __shared__ float4 some[ATOMS];
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
    float at_x = x * spacing, at_y = y * spacing, square = reach * reach, inverse = 1.0f / square, sum = 0.0f;
    for (int first = 0; first < atoms; first += ATOMS) {
        int count = min(atoms - first, ATOMS);
        __syncthreads();
        for (int i = thread; i < count; i += threads)
            some[i] = atom[first + i];
        __syncthreads();
        for (int i = 0; i < count; ++i) {
            float4 one = some[i];
            float apart = (one.x - at_x) * (one.x - at_x) + (one.y - at_y) * (one.y - at_y) + one.z * one.z;
            if (apart < square) {
                float fading = 1.0f - apart * inverse;
                sum += one.w * rsqrtf(apart) * fading * fading;
            }
        }
    }
    if (x < width)
        potential[y * width + x] = sum;
}

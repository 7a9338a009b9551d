// SPDX-License-Identifier: Apache-2.0
// Particles that slow down in sea water: every thread finds its energy in a sorted table at each collision and
// interpolates the row there, weighted with how much there is of each of five nuclides.

#define NUCLIDES 5

extern "C" __global__ void cross_sections(int collisions, int middle, float loss, float hydrogen, float oxygen,
                                          float sodium, float chlorine, float boron, const float *starts,
                                          const float *energies, const float *rows, float *out)
{
    const float amounts[NUCLIDES] = {hydrogen, oxygen, sodium, chlorine, boron};
    int particle = blockIdx.x * blockDim.x + threadIdx.x;
    float energy = starts[particle], total = 0.0f;
#pragma unroll 1
    do {
        int low = 0, half = middle;
#pragma unroll 1
        do {
            if (energies[low + half] <= energy) low += half;
            half >>= 1;
        } while (half > 0);
        float below = energies[low], above = energies[low + 1];
        float part = __fdividef(energy - below, above - below);
        const float *row = rows + low * NUCLIDES;
#pragma unroll
        for (int nuclide = 0; nuclide < NUCLIDES; nuclide++) {
            float near = row[nuclide], far = row[NUCLIDES + nuclide];
            total += amounts[nuclide] * (near + part * (far - near));
        }
        energy *= loss;
    } while (--collisions > 0);
    out[particle] = total;
}

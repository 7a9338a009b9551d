// SPDX-License-Identifier: Apache-2.0
// Fluxes of a gas between the cells of an unstructured grid: every thread has a cell with four neighbours that it finds
// by their numbers, loads five words of each, and adds up means of both fluxes and a viscosity by the speed of sound.
// A neighbour that is none lets nothing through but pressure.

#define SIDES 4
#define GAMMA 1.4f

struct Cell {
    float density, x, y, z, energy;
};

__device__ __forceinline__ Cell cell_of(const float *variable, int cells, int i)
{
    return {variable[i], variable[cells + i], variable[2 * cells + i], variable[3 * cells + i], variable[4 * cells + i]};
}

extern "C" __global__ void euler_flux(int cells, const int *neighbour, const float *normal, const float *variable,
                                      float *flux)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= cells)
        return;
    Cell own = cell_of(variable, cells, i);
    float own_inverse = 1.0f / own.density;
    float own_square = (own.x * own.x + own.y * own.y + own.z * own.z) * own_inverse * own_inverse;
    float own_pressure = (GAMMA - 1.0f) * (own.energy - 0.5f * own.density * own_square);
    float own_speed = sqrtf(own_square) + sqrtf(GAMMA * own_pressure * own_inverse);
    Cell sum = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    for (int side = 0; side < SIDES; ++side) {
        int there = neighbour[side * cells + i];
        const float *at = normal + 3 * side * cells + i;
        float nx = at[0], ny = at[cells], nz = at[2 * cells];
        if (there < 0) {
            sum.x += nx * own_pressure;
            sum.y += ny * own_pressure;
            sum.z += nz * own_pressure;
            continue;
        }
        Cell other = cell_of(variable, cells, there);
        float inverse = 1.0f / other.density;
        float square = (other.x * other.x + other.y * other.y + other.z * other.z) * inverse * inverse;
        float pressure = (GAMMA - 1.0f) * (other.energy - 0.5f * other.density * square);
        float speed = sqrtf(square) + sqrtf(GAMMA * pressure * inverse);
        float viscosity = -0.1f * sqrtf(nx * nx + ny * ny + nz * nz) * (own_speed + speed);
        float through = 0.5f * (nx * other.x + ny * other.y + nz * other.z) * inverse;
        float own_through = 0.5f * (nx * own.x + ny * own.y + nz * own.z) * own_inverse;
        float both = 0.5f * (own_pressure + pressure);
        sum.density += through * other.density + own_through * own.density + viscosity * (own.density - other.density);
        sum.x += through * other.x + own_through * own.x + nx * both + viscosity * (own.x - other.x);
        sum.y += through * other.y + own_through * own.y + ny * both + viscosity * (own.y - other.y);
        sum.z += through * other.z + own_through * own.z + nz * both + viscosity * (own.z - other.z);
        sum.energy += through * (other.energy + pressure) + own_through * (own.energy + own_pressure) +
                      viscosity * (own.energy - other.energy);
    }
    flux[i] = sum.density;
    flux[cells + i] = sum.x;
    flux[2 * cells + i] = sum.y;
    flux[3 * cells + i] = sum.z;
    flux[4 * cells + i] = sum.energy;
}

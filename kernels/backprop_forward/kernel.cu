// SPDX-License-Identifier: Apache-2.0
// Forward pass of a layer of a network: a block has 16 inputs and 16 units, multiplies all pairs, and adds up the
// products of each unit in shared memory, in half as many rows in every step. Other blocks have the unit's other inputs.

#define SIDE 16

extern "C" __global__ void backprop_forward(int inputs, int units, const float *input, const float *weight,
                                            float *partial)
{
    __shared__ float value[SIDE];
    __shared__ float product[SIDE][SIDE];
    int x = threadIdx.x, y = threadIdx.y;
    int unit = blockIdx.x * SIDE + x, from = blockIdx.y * SIDE + y;
    if (x == 0)
        value[y] = from < inputs ? input[from] : 0.0f;
    __syncthreads();
    product[y][x] = from < inputs && unit < units ? weight[from * units + unit] * value[y] : 0.0f;
    __syncthreads();
    for (int rows = SIDE / 2; rows > 0; rows /= 2) {
        if (y < rows)
            product[y][x] += product[y + rows][x];
        __syncthreads();
    }
    if (y == 0 && unit < units)
        partial[blockIdx.y * units + unit] = product[0][x];
}

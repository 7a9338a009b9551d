// SPDX-License-Identifier: Apache-2.0
// Back propagation through a layer of a network: every weight moves against the error of its unit, in proportion to its
// input, and goes on as it moved before. Weights and moves are read and written in place, each once.

extern "C" __global__ void backprop_weights(int inputs, int units, float rate, float momentum, const float *input,
                                            const float *error, float *weight, float *move)
{
    int unit = blockIdx.x * blockDim.x + threadIdx.x, from = blockIdx.y * blockDim.y + threadIdx.y;
    if (unit >= units || from >= inputs)
        return;
    int at = from * units + unit;
    float step = rate * error[unit] * input[from] + momentum * move[at];
    weight[at] += step;
    move[at] = step;
}

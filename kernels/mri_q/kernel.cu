// SPDX-License-Identifier: Apache-2.0
// Sums of a magnetic resonance reconstruction: every thread has a place and adds up cosines and sines of its phases in
// all samples, which are the same words for all lanes.

extern "C" __global__ void mri_q(int places, int samples, const float *x, const float *y, const float *z,
                                 const float4 *sample, float *real, float *imaginary)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= places)
        return;
    float at_x = x[i], at_y = y[i], at_z = z[i], sum_cos = 0.0f, sum_sin = 0.0f;
#pragma unroll 2
    for (int k = 0; k < samples; ++k) {
        float4 one = sample[k];
        float phase = one.x * at_x + one.y * at_y + one.z * at_z, sine, cosine;
        __sincosf(phase, &sine, &cosine);
        sum_cos += one.w * cosine;
        sum_sin += one.w * sine;
    }
    real[i] = sum_cos;
    imaginary[i] = sum_sin;
}

// SPDX-License-Identifier: Apache-2.0
// Functions of the math library in double and single precision, with the operands of which they have special values:
// polynomials in doubles, fields of their exponents moved as integers, and words of doubles selected as floats.

extern "C" __global__ void mathlib(int n, const double *a, const double *b, const float *single, double *logarithm,
                                   double *exponential, double *power, double *thirteenth, float *tangent)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    logarithm[i] = log(a[i]);
    exponential[i] = exp(b[i]);
    power[i] = pow(a[i], b[i]);
    thirteenth[i] = b[i] / 13.0;
    tangent[i] = tanhf(single[i]);
}

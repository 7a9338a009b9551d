// SPDX-License-Identifier: Apache-2.0
// Prices of European options by the formula of Black and Scholes: logarithm, root, exponentials and a polynomial for the
// normal distribution, two prices from three loads, without any branch but the first.

// Share of the normal distribution under x, by formula 26.2.17 of Abramowitz and Stegun.
__device__ __forceinline__ float under(float x)
{
    float k = __fdividef(1.0f, 1.0f + 0.2316419f * fabsf(x));
    float series = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.39894228f * __expf(-0.5f * x * x) * series;
    return x > 0.0f ? 1.0f - tail : tail;
}

extern "C" __global__ void black_scholes(int options, float rate, float volatility, const float *price,
                                         const float *strike, const float *years, float *call, float *put)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= options)
        return;
    float s = price[i], k = strike[i], t = years[i];
    float spread = volatility * t * rsqrtf(t);
    float d1 = __fdividef(logf(__fdividef(s, k)) + (rate + 0.5f * volatility * volatility) * t, spread);
    float first = under(d1), second = under(d1 - spread);
    float later = k * __expf(-rate * t);
    call[i] = s * first - later * second;
    put[i] = later * (1.0f - second) - s * (1.0f - first);
}

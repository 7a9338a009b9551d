// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of 64 points: eight threads each, eight points per thread, two butterflies of radix 8.

#define POINTS 64
#define RADIX 8
#define TRANSFORMS 32
#define HALF_ROOT 0.70710678118654752f

static __device__ __forceinline__ void pair(float2 &a, float2 &b)
{
    float2 c = make_float2(a.x - b.x, a.y - b.y);
    a = make_float2(a.x + b.x, a.y + b.y);
    b = c;
}

static __device__ __forceinline__ float2 product(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

static __device__ __forceinline__ void butterfly(float2 *v)
{
#pragma unroll
    for (int i = 0; i < 4; i++) pair(v[i], v[i + 4]);
    v[5] = make_float2(HALF_ROOT * (v[5].x + v[5].y), HALF_ROOT * (v[5].y - v[5].x));
    v[6] = make_float2(v[6].y, -v[6].x);
    v[7] = make_float2(HALF_ROOT * (v[7].y - v[7].x), -HALF_ROOT * (v[7].x + v[7].y));
#pragma unroll
    for (int i = 0; i < 8; i += 4) {
        pair(v[i], v[i + 2]);
        pair(v[i + 1], v[i + 3]);
        v[i + 3] = make_float2(v[i + 3].y, -v[i + 3].x);
        pair(v[i], v[i + 1]);
        pair(v[i + 2], v[i + 3]);
    }
}

extern "C" __global__ void fft64(const float *roots, float *signal)
{
    __shared__ float held[TRANSFORMS * POINTS];  // one half of the numbers after the other, so that more blocks fit
    const int order[RADIX] = {0, 4, 2, 6, 1, 5, 3, 7};
    int column = threadIdx.x % RADIX, first = POINTS * (threadIdx.x / RADIX);
    float2 *numbers = (float2 *)signal + blockIdx.x * TRANSFORMS * POINTS + first;
    float2 v[RADIX];
#pragma unroll
    for (int i = 0; i < RADIX; i++) v[i] = numbers[RADIX * i + column];
    butterfly(v);
    float2 root = ((const float2 *)roots)[column], turn = root;
    held[first + column] = v[0].x;
#pragma unroll
    for (int i = 1; i < RADIX; i++) {
        v[order[i]] = product(v[order[i]], turn);
        held[first + RADIX * i + column] = v[order[i]].x;
        turn = product(turn, root);
    }
    __syncthreads();
    float real[RADIX];
#pragma unroll
    for (int i = 0; i < RADIX; i++) real[i] = held[first + RADIX * column + i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < RADIX; i++) held[first + RADIX * i + column] = v[order[i]].y;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < RADIX; i++) v[i] = make_float2(real[i], held[first + RADIX * column + i]);
    butterfly(v);
#pragma unroll
    for (int i = 0; i < RADIX; i++) numbers[RADIX * i + column] = v[order[i]];
}

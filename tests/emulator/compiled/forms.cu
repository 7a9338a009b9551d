// Instruction forms that ordinary kernels have seldom; the tests say which kernel has which.
__constant__ int table[8192];
__constant__ short shorts[64];
__constant__ signed char bytes[64];
__constant__ unsigned short words[64];

// ULDC.S16 and ULDC.S8 with offsets above 0x7fff, which are printed as negative ones, at uniform indices.
extern "C" __global__ void uniform_constants(int* out, signed char c, unsigned char u, unsigned short w) {
    int i = blockIdx.x;
    out[threadIdx.x] = table[i + 1] + shorts[i + 2] * bytes[i + 3] + words[i] + c * u - w + bytes[5] * words[9];
}

// LDC with negative distances and with offsets above 0x7fff.
extern "C" __global__ void far_constants(const int* in, int* out) {
    int i = threadIdx.x;
    out[i] = table[in[i] - 2] + table[in[i] + 7000] * shorts[in[i] & 63] + bytes[in[i] & 31];
}

// ULDC.64 at a uniform register in a loop.
extern "C" __global__ void swept_constants(const int* in, int* out, int n) {
    int sum = 0;
    for (int k = 0; k < n; k++) sum += table[k] * in[threadIdx.x + k] + bytes[k & 63];
    out[threadIdx.x] = sum;
}

// I2F.S16 and I2F.F64.U16 of the upper half.
extern "C" __global__ void halves(const short2* in, float* out) {
    short2 v = in[threadIdx.x];
    ushort2 w = make_ushort2(v.x, v.y);
    out[threadIdx.x] = (float)(v.y * 0.5f + v.x + ((double)w.y * 0.125 + (double)w.x));
}

// FSET.BF.
extern "C" __global__ void choices(const float* in, float* out) {
    float x = in[threadIdx.x];
    out[threadIdx.x] = (float)(x == 3.f) * 2 + (float)(x > 7.f) + (x > 2.f ? 1.f : 0.f);
}

// BAR.SYNC under a guard.
extern "C" __global__ void guarded_barrier(const int* in, int* out) {
    __shared__ int kept[64];
    int i = threadIdx.x;
    kept[i] = in[i];
    if (in[64]) __syncthreads();
    int other = in[64] ? kept[i ^ 33] : kept[i];
    if (in[65]) __syncthreads();
    out[i] = other;
}

// EXIT with a guard and a condition.
extern "C" __global__ void two_conditions(const int* in, int* out, int n) {
    int i = threadIdx.x;
    if (i < n && in[i] > 3) return;
    if (in[i] == 7 || in[i] < -n) return;
    out[i] = in[i];
    if (in[i + 1] > 5 && n > 3 && i < n / 2) return;
    out[i + 64] = 3;
}

// CALL.REL.NOINC with the callee in registers, one of them recursive.
typedef int (*Function)(int);
__device__ __noinline__ int linear(int x) { return x * 3 + 1; }
__device__ __noinline__ int loop(int x) { int s = 0; for (int i = 0; i < x; i++) s += i ^ x; return s; }
__device__ __noinline__ int recursive(int x) { return x < 2 ? 1 : recursive(x - 1) + loop(x); }
__device__ Function functions[3] = {linear, loop, recursive};
extern "C" __global__ void called_by_table(const int* in, int* out) {
    out[threadIdx.x] = functions[in[threadIdx.x]](threadIdx.x);
}
extern "C" __global__ void called_by_choice(const int* in, int* out) {
    Function f = in[threadIdx.x] == 0 ? linear : in[threadIdx.x] == 1 ? loop : recursive;
    out[threadIdx.x] = f(threadIdx.x) + in[threadIdx.x];
}

// Warps that wait for each other without a barrier, the first for the last.
extern "C" __global__ void chain(const int* in, int* out) {
    __shared__ volatile int turn, sum;
    int warp = threadIdx.x / 32, last = blockDim.x / 32 - 1;
    if (threadIdx.x == 0) { turn = last; sum = 0; }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (turn != warp) { }
        sum = sum * 2 + in[warp];
        __threadfence_block();
        turn = warp - 1;
    }
    __syncthreads();
    out[threadIdx.x] = sum;
}

// A lock that the warps of a CTA take in turn.
extern "C" __global__ void locked(const int* in, int* out) {
    __shared__ int lock, sum;
    if (threadIdx.x == 0) lock = sum = 0;
    __syncthreads();
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            sum += in[threadIdx.x];
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    out[threadIdx.x] = sum;
}

// Waits for a word that nobody writes.
extern "C" __global__ void forlorn(const int* in, int* out) {
    while (*(volatile const int*)in == 0) { }
    out[threadIdx.x] = 1;
}

// A structure by value, with a pointer into a buffer.
struct Part { float scale; double offset; short steps[3]; const float* from; };
extern "C" __global__ void structured(Part part, const float* rest, float* out) {
    int i = threadIdx.x;
    out[i] = part.from[i] * part.scale + (float)part.offset + part.steps[i % 3] + rest[i];
}

// A structure that is aligned to its size.
extern "C" __global__ void placed(int n, float4 v, float* out) { out[threadIdx.x] = n + v.x * v.y - v.z / v.w; }

// Literals of halves.
#include <cuda_fp16.h>
extern "C" __global__ void half_literals(const __half2* in, __half2* out) {
    int i = threadIdx.x;
    out[i] = __hfma2(in[i], __floats2half2_rn(0.3f, -1e-7f), __floats2half2_rn(1.5f, 6e-5f));
    out[i + 32] = __hmul2(in[i], __floats2half2_rn(1e-5f, 0.1f));
    out[i + 64] = __hadd2(in[i], __floats2half2_rn(65504.f, 1e9f));
}

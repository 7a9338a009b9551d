// 192 FFMA of one warp between two readings of the clock, none of which waits for one of the 15 before it. latency.py
// replaces their first two source registers in the machine code.

extern "C" __global__ void banks(unsigned *out, const unsigned *in)
{
    float from[32], to[16];
    unsigned start = 0, end = 0;
    for (int k = 0; k < 32; k++) from[k] = __uint_as_float(in[32 * k + threadIdx.x]);
    for (int k = 0; k < 16; k++) to[k] = 1;
    _Pragma("unroll 1") for (int round = 0; round < 3; round++) {
        __syncthreads();
        asm volatile("mov.u32 %0, %%clock;" : "=r"(start)::"memory");
        _Pragma("unroll") for (int k = 0; k < 192; k++) asm volatile("fma.rn.f32 %0, %1, %2, %0;"
            : "+f"(to[k % 16]) : "f"(from[k % 32]), "f"(from[(k + 7) % 32]));
        asm volatile("mov.u32 %0, %%clock;" : "=r"(end)::"memory");
    }
    out[threadIdx.x] = end - start;
    float sum = 0;
    for (int k = 0; k < 16; k++) sum = sum * to[k] + 1.0f;
    out[64 + threadIdx.x] = __float_as_uint(sum);
}

// Cycles of chains of dependent instructions, by the clock: each chain in two lengths, whose difference is free of what
// reading the clock costs.

#define CHAIN(name, D, setup, ptx, ...)                                                                                \
    template <int LENGTH> __device__ void name##_chain(unsigned *out, const unsigned *in)                              \
    {                                                                                                                  \
        __shared__ unsigned shared[32];                                                                                \
        D x;                                                                                                           \
        setup;                                                                                                         \
        shared[threadIdx.x & 31] = (unsigned)__cvta_generic_to_shared(shared);                                         \
        __syncthreads();                                                                                               \
        unsigned start = 0, end = 0;                                                                                   \
        _Pragma("unroll 1") for (int round = 0; round < 3; round++) {                                                                    \
            __syncthreads();                                                                                           \
            asm volatile("mov.u32 %0, %%clock;" : "=r"(start)::"memory");                                              \
            _Pragma("unroll") for (int k = 0; k < LENGTH; k++) asm volatile(ptx : "+" __VA_ARGS__);                    \
            asm volatile("mov.u32 %0, %%clock;" : "=r"(end)::"memory");                                                \
        }                                                                                                              \
        out[threadIdx.x] = end - start;                                                                                \
        *(D *)(out + 64 + 2 * threadIdx.x) = x;                                                                        \
    }                                                                                                                  \
    extern "C" __global__ void name##_64(unsigned *out, const unsigned *in) { name##_chain<64>(out, in); }             \
    extern "C" __global__ void name##_128(unsigned *out, const unsigned *in) { name##_chain<128>(out, in); }

#define SINGLE float y = __uint_as_float(in[32 + threadIdx.x]); float z = __uint_as_float(in[64 + threadIdx.x]); x = __uint_as_float(in[threadIdx.x])
#define WORD unsigned y = in[32 + threadIdx.x]; unsigned z = in[64 + threadIdx.x]; x = in[threadIdx.x]
#define DOUBLE double y = __uint_as_float(in[32 + threadIdx.x]); double z = __uint_as_float(in[64 + threadIdx.x]); x = __uint_as_float(in[threadIdx.x])

CHAIN(ffma, float, SINGLE, "fma.rn.f32 %0, %0, %1, %2;", "f"(x) : "f"(y), "f"(z))
CHAIN(fadd, float, SINGLE, "add.rn.f32 %0, %0, %1;", "f"(x) : "f"(y), "f"(z))
CHAIN(fmul, float, SINGLE, "mul.rn.f32 %0, %0, %1;", "f"(x) : "f"(y), "f"(z))
CHAIN(imad, unsigned, WORD, "mad.lo.u32 %0, %0, %1, %2;", "r"(x) : "r"(y), "r"(z))
CHAIN(lop3, unsigned, WORD, "lop3.b32 %0, %0, %1, %2, 0x69; ", "r"(x) : "r"(y), "r"(z))
CHAIN(shf, unsigned, WORD, "shf.l.wrap.b32 %0, %0, %1, %2;", "r"(x) : "r"(y), "r"(z))
CHAIN(prmt, unsigned, WORD, "prmt.b32 %0, %0, %1, %2;", "r"(x) : "r"(y), "r"(z))
CHAIN(popc, unsigned, WORD, "popc.b32 %0, %0;", "r"(x) : "r"(y), "r"(z))
CHAIN(iadd3_lop3, unsigned, WORD, "add.u32 %0, %0, %1; xor.b32 %0, %0, %2;", "r"(x) : "r"(y), "r"(z))
CHAIN(hfma2, unsigned, WORD, "fma.rn.f16x2 %0, %0, %1, %2;", "r"(x) : "r"(y), "r"(z))
CHAIN(mufu_rsq, float, SINGLE, "rsqrt.approx.ftz.f32 %0, %0;", "f"(x) : "f"(y), "f"(z))
CHAIN(mufu_ex2, float, SINGLE, "ex2.approx.ftz.f32 %0, %0;", "f"(x) : "f"(y), "f"(z))
CHAIN(dfma, double, DOUBLE, "fma.rn.f64 %0, %0, %1, %2;", "d"(x) : "d"(y), "d"(z))
CHAIN(dadd, double, DOUBLE, "add.rn.f64 %0, %0, %1;", "d"(x) : "d"(y), "d"(z))
CHAIN(shfl, unsigned, WORD; x += threadIdx.x, "shfl.sync.down.b32 %0, %0, 1, 0x1f, 0xffffffff;", "r"(x) : "r"(y), "r"(z))
CHAIN(lds, unsigned, x = (unsigned)__cvta_generic_to_shared(shared), "ld.shared.u32 %0, [%0];", "r"(x)::"memory")
CHAIN(ldg_near, unsigned long long, *(unsigned long long *)(out + 512) = (unsigned long long)(out + 512);
      __threadfence(); x = (unsigned long long)(out + 512), "ld.global.ca.u64 %0, [%0];", "l"(x)::"memory")
CHAIN(ldg_far, unsigned long long, *(unsigned long long *)(out + 512) = (unsigned long long)(out + 512);
      __threadfence(); x = (unsigned long long)(out + 512), "ld.global.cg.u64 %0, [%0];", "l"(x)::"memory")
CHAIN(hmma, float, SINGLE; unsigned a = in[96 + threadIdx.x]; float d1 = y; float d2 = y; float d3 = z,
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4}, {%4}, {%0,%1,%2,%3};",
      "f"(x), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a))

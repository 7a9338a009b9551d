// Every single-precision operand (or upper word of a double) through one instruction, compared with the correctly
// rounded value that double precision gives: a histogram of distances. STATS words of statistics per function.

typedef unsigned long long u64;

enum { FARTHEST = 32, UNLIKE = 33, FIRST_UNLIKE = 34, ABSOLUTE = 35, ABSOLUTE_TURN = 36, SUM = 37, ABOVE = 38, NOT_CUT = 39, STATS = 40 };
enum { NAN_BITS = 0x7fffffff };

__device__ float flushed(float x) { return fabsf(x) < 1.17549435e-38f ? copysignf(0.0f, x) : x; }

__device__ bool is_number(unsigned bits) { return (bits & 0x7f800000) != 0x7f800000; }

__device__ long long ordered(unsigned bits) { return bits >> 31 ? -(long long)(bits & 0x7fffffff) : bits; }

// What one thread has seen; distance d counts in place d below 8, else in 5 + log2(d), from 2**26 on in the last.
struct Seen {
    unsigned by_distance[32] = {}, unlike = 0, above = 0;
    u64 farthest = 0, first_unlike = ~0ull, sum = 0;
    double absolute = 0, absolute_turn = 0;

    __device__ void compare(unsigned x, unsigned got, unsigned wanted, bool like)
    {
        sum += (got + 0x9e3779b9ull) * (2ull * x + 1);
        if (!like) {
            unlike++;
            first_unlike = min(first_unlike, (u64)x);
            return;
        }
        const long long difference = ordered(got) - ordered(wanted);
        const u64 distance = difference < 0 ? -difference : difference;
        by_distance[distance < 8 ? distance : min(5 + 63 - __clzll(distance), 31)]++;
        above += difference > 0;
        if (distance) farthest = max(farthest, distance << 32 | x);
    }

    __device__ void report(u64 *out) const
    {
        for (int k = 0; k < 32; k++) if (by_distance[k]) atomicAdd(out + k, (u64)by_distance[k]);
        atomicMax(out + FARTHEST, farthest);
        atomicAdd(out + UNLIKE, (u64)unlike);
        atomicMin(out + FIRST_UNLIKE, first_unlike);
        atomicMax(out + ABSOLUTE, (u64)__double_as_longlong(absolute));
        atomicMax(out + ABSOLUTE_TURN, (u64)__double_as_longlong(absolute_turn));
        atomicAdd(out + SUM, sum);
        atomicAdd(out + ABOVE, (u64)above);
    }
};

#define ALL_OPERANDS                                                                                                   \
    for (u64 at = threadIdx.x + (u64)blockIdx.x * blockDim.x; at >> 32 == 0; at += (u64)gridDim.x * blockDim.x)

// Results are alike where both are numbers or both the same infinity or NaN.
#define FUNCTION(name, ptx, flush, exact)                                                                              \
    extern "C" __global__ void name(u64 *out)                                                                          \
    {                                                                                                                  \
        Seen seen;                                                                                                     \
        ALL_OPERANDS                                                                                                   \
        {                                                                                                              \
            float given = __uint_as_float((unsigned)at), got;                                                          \
            asm volatile(ptx " %0, %1;" : "=f"(got) : "f"(given));                                                     \
            const double x = flush ? flushed(given) : given, value = exact, apart = fabs(got - value);                 \
            const float wanted = flush ? flushed((float)value) : (float)value;                                         \
            const unsigned bits = __float_as_uint(got), right = wanted == wanted ? __float_as_uint(wanted) : NAN_BITS; \
            seen.compare((unsigned)at, bits, right, is_number(bits) && is_number(right) || bits == right);             \
            if (is_number(bits) && apart > seen.absolute) seen.absolute = apart;                                       \
            if (fabsf(given) <= 3.14159274f && apart > seen.absolute_turn) seen.absolute_turn = apart;                 \
        }                                                                                                              \
        seen.report(out);                                                                                              \
    }

#define TURNS __fmul_rz(flushed(given), 0.15915494f)

FUNCTION(rcp_ftz, "rcp.approx.ftz.f32", true, 1.0 / x)
FUNCTION(rsqrt_ftz, "rsqrt.approx.ftz.f32", true, 1.0 / sqrt(x))
FUNCTION(sqrt_ftz, "sqrt.approx.ftz.f32", true, sqrt(x))
FUNCTION(ex2_ftz, "ex2.approx.ftz.f32", true, exp2(x))
FUNCTION(lg2_ftz, "lg2.approx.ftz.f32", true, log2(x))
FUNCTION(sin_ftz, "sin.approx.ftz.f32", true, sinpi(2.0 * TURNS))
FUNCTION(cos_ftz, "cos.approx.ftz.f32", true, cospi(2.0 * TURNS))
FUNCTION(tanh_approx, "tanh.approx.f32", false, tanh(x))
FUNCTION(rcp_approx, "rcp.approx.f32", false, 1.0 / x)
FUNCTION(rsqrt_approx, "rsqrt.approx.f32", false, 1.0 / sqrt(x))
FUNCTION(sqrt_approx, "sqrt.approx.f32", false, sqrt(x))
FUNCTION(ex2_approx, "ex2.approx.f32", false, exp2(x))
FUNCTION(lg2_approx, "lg2.approx.f32", false, log2(x))
FUNCTION(rcp_rn, "rcp.rn.f32", false, 1.0 / x)
FUNCTION(sqrt_rn, "sqrt.rn.f32", false, sqrt(x))

// The 64H forms: upper words of doubles against that of the exact value, cut off, where neither is subnormal. A result
// with a lower word counts in NOT_CUT.
__device__ bool is_normal_high(unsigned high) { return (high + 0x00100000 & 0x7fffffff) >= 0x00200000; }

#define HIGH(name, ptx, exact)                                                                                         \
    extern "C" __global__ void name(u64 *out)                                                                          \
    {                                                                                                                  \
        Seen seen;                                                                                                     \
        ALL_OPERANDS                                                                                                   \
        {                                                                                                              \
            const double x = __longlong_as_double(at << 32);                                                           \
            double got;                                                                                                \
            asm volatile(ptx " %0, %1;" : "=d"(got) : "d"(x));                                                         \
            const u64 bits = __double_as_longlong(got);                                                                \
            const unsigned high = bits >> 32, right = (u64)__double_as_longlong(exact) >> 32;                          \
            const bool like = is_normal_high(high) && is_normal_high(right) || high == right;                          \
            seen.compare((unsigned)at, high, right, like);                                                             \
            if ((unsigned)bits) atomicAdd(out + NOT_CUT, 1);                                                           \
        }                                                                                                              \
        seen.report(out);                                                                                              \
    }

HIGH(rcp64_ftz, "rcp.approx.ftz.f64", 1.0 / x)
HIGH(rsqrt64_ftz, "rsqrt.approx.ftz.f64", 1.0 / sqrt(x))

// One kernel per question about an instruction. Every operand takes two words, of which 32-bit operands use the first:
// word w of operand k of thread i is in[(2 * k + w) * n + i], word w of the result out[w * n + i].
//
// The macros' first three arguments are read by probes.py: the name, a letter per operand (operands.py), and the result
// as a type letter or a number of words. The instruction is PTX, so that each compiler chooses its own machine code.

typedef unsigned long long u64;

#define T_r unsigned
#define T_f float
#define T_h unsigned short
#define T_l u64
#define T_d double
#define C_r "r"
#define C_f "f"
#define C_h "h"
#define C_l "l"
#define C_d "d"
#define GET_r(k) in[2 * (k) * n + i]
#define GET_f(k) __uint_as_float(GET_r(k))
#define GET_h(k) (unsigned short)GET_r(k)
#define GET_l(k) (GET_r(k) | (u64)in[(2 * (k) + 1) * n + i] << 32)
#define GET_d(k) __longlong_as_double(GET_l(k))
#define PUT(w, value) out[(w) * n + i] = (value)
#define PUT_r(v) PUT(0, v)
#define PUT_f(v) PUT(0, __float_as_uint(v))
#define PUT_h(v) PUT(0, v)
#define PUT_l(v) PUT(0, (unsigned)(v)), PUT(1, (unsigned)((v) >> 32))
#define PUT_d(v) PUT_l((u64)__double_as_longlong(v))

#define PROBE(name, kinds, result, ...)                                                                                \
    extern "C" __global__ void name(const unsigned *in, unsigned *out)                                                 \
    {                                                                                                                  \
        const unsigned i = threadIdx.x + blockIdx.x * blockDim.x, n = gridDim.x * blockDim.x;                          \
        __VA_ARGS__                                                                                                    \
    }
#define UNARY(name, kinds, D, A, ptx)                                                                                  \
    PROBE(name, kinds, D, T_##D d; asm volatile(ptx " %0, %1;" : "=" C_##D(d) : C_##A(GET_##A(0))); PUT_##D(d);)
#define BINARY(name, kinds, D, A, B, ptx)                                                                              \
    PROBE(name, kinds, D, T_##D d;                                                                                     \
          asm volatile(ptx " %0, %1, %2;" : "=" C_##D(d) : C_##A(GET_##A(0)), C_##B(GET_##B(1))); PUT_##D(d);)
#define TERNARY(name, kinds, D, A, B, C, ptx)                                                                          \
    PROBE(name, kinds, D, T_##D d;                                                                                     \
          asm volatile(ptx " %0, %1, %2, %3;" : "=" C_##D(d) : C_##A(GET_##A(0)), C_##B(GET_##B(1)), C_##C(GET_##C(2)));\
          PUT_##D(d);)

// The transcendental unit
UNARY(rcp_ftz, f, f, f, "rcp.approx.ftz.f32")
UNARY(rcp_approx, f, f, f, "rcp.approx.f32")
UNARY(rsqrt_ftz, f, f, f, "rsqrt.approx.ftz.f32")
UNARY(rsqrt_approx, f, f, f, "rsqrt.approx.f32")
UNARY(sqrt_ftz, f, f, f, "sqrt.approx.ftz.f32")
UNARY(sqrt_approx, f, f, f, "sqrt.approx.f32")
UNARY(ex2_ftz, f, f, f, "ex2.approx.ftz.f32")
UNARY(ex2_approx, f, f, f, "ex2.approx.f32")
UNARY(lg2_ftz, f, f, f, "lg2.approx.ftz.f32")
UNARY(lg2_approx, f, f, f, "lg2.approx.f32")
UNARY(sin_ftz, f, f, f, "sin.approx.ftz.f32")
UNARY(cos_ftz, f, f, f, "cos.approx.ftz.f32")
UNARY(tanh_approx, f, f, f, "tanh.approx.f32")
UNARY(rcp64_ftz, d, d, d, "rcp.approx.ftz.f64")
UNARY(rsqrt64_ftz, d, d, d, "rsqrt.approx.ftz.f64")

// Quotients and roots, whose subroutines start from the approximations
UNARY(rcp_rn, f, f, f, "rcp.rn.f32")
UNARY(sqrt_rn, f, f, f, "sqrt.rn.f32")
UNARY(sqrt_rz, f, f, f, "sqrt.rz.f32")
BINARY(div_rn, ff, f, f, f, "div.rn.f32")
BINARY(div_rm, ff, f, f, f, "div.rm.f32")
BINARY(div_ftz, ff, f, f, f, "div.rn.ftz.f32")
BINARY(div_full, ff, f, f, f, "div.full.f32")
BINARY(div_approx, ff, f, f, f, "div.approx.f32")
UNARY(rcp64_rn, d, d, d, "rcp.rn.f64")
UNARY(sqrt64_rn, d, d, d, "sqrt.rn.f64")
BINARY(div64_rn, dd, d, d, d, "div.rn.f64")
BINARY(div64_rp, dd, d, d, d, "div.rp.f64")

// Single precision
BINARY(add_rn, ff, f, f, f, "add.rn.f32")
BINARY(add_rz, ff, f, f, f, "add.rz.f32")
BINARY(add_rm, ff, f, f, f, "add.rm.f32")
BINARY(add_rp, ff, f, f, f, "add.rp.f32")
BINARY(add_ftz, ff, f, f, f, "add.rn.ftz.f32")
BINARY(add_sat, ff, f, f, f, "add.rn.sat.f32")
BINARY(mul_rn, ff, f, f, f, "mul.rn.f32")
BINARY(mul_rz, ff, f, f, f, "mul.rz.f32")
BINARY(mul_rm, ff, f, f, f, "mul.rm.f32")
BINARY(mul_rp, ff, f, f, f, "mul.rp.f32")
BINARY(mul_ftz, ff, f, f, f, "mul.rn.ftz.f32")
BINARY(mul_sat, ff, f, f, f, "mul.rn.sat.f32")
TERNARY(fma_rn, fff, f, f, f, f, "fma.rn.f32")
TERNARY(fma_rz, fff, f, f, f, f, "fma.rz.f32")
TERNARY(fma_rm, fff, f, f, f, f, "fma.rm.f32")
TERNARY(fma_rp, fff, f, f, f, f, "fma.rp.f32")
TERNARY(fma_ftz, fff, f, f, f, f, "fma.rn.ftz.f32")
TERNARY(fma_sat, fff, f, f, f, f, "fma.rn.sat.f32")
BINARY(mul_ftz_tiny, tt, f, f, f, "mul.rn.ftz.f32")
BINARY(mul_rp_ftz_tiny, tt, f, f, f, "mul.rp.ftz.f32")
BINARY(mul_rz_ftz_tiny, tt, f, f, f, "mul.rz.ftz.f32")
TERNARY(fma_ftz_tiny, ttt, f, f, f, f, "fma.rn.ftz.f32")
TERNARY(fma_rp_ftz_tiny, ttt, f, f, f, f, "fma.rp.ftz.f32")
BINARY(add_ftz_tiny, tt, f, f, f, "add.rn.ftz.f32")
BINARY(div_ftz_tiny, tt, f, f, f, "div.rn.ftz.f32")
BINARY(min_f32, ff, f, f, f, "min.f32")
BINARY(max_f32, ff, f, f, f, "max.f32")
BINARY(min_ftz, ff, f, f, f, "min.ftz.f32")
UNARY(neg_ftz, f, f, f, "neg.ftz.f32")
UNARY(abs_f32, f, f, f, "abs.f32")
TERNARY(slct_ftz, iif, r, r, r, f, "slct.ftz.u32.f32")

// Double precision
BINARY(dadd_rn, dd, d, d, d, "add.rn.f64")
BINARY(dadd_rz, dd, d, d, d, "add.rz.f64")
BINARY(dadd_rm, dd, d, d, d, "add.rm.f64")
BINARY(dadd_rp, dd, d, d, d, "add.rp.f64")
BINARY(dmul_rn, dd, d, d, d, "mul.rn.f64")
BINARY(dmul_rz, dd, d, d, d, "mul.rz.f64")
BINARY(dmul_rm, dd, d, d, d, "mul.rm.f64")
BINARY(dmul_rp, dd, d, d, d, "mul.rp.f64")
TERNARY(dfma_rn, ddd, d, d, d, d, "fma.rn.f64")
TERNARY(dfma_rz, ddd, d, d, d, d, "fma.rz.f64")
TERNARY(dfma_rm, ddd, d, d, d, d, "fma.rm.f64")
TERNARY(dfma_rp, ddd, d, d, d, d, "fma.rp.f64")
BINARY(dadd_nan, nn, d, d, d, "add.rn.f64")
BINARY(dsub_nan, nn, d, d, d, "sub.rn.f64")
BINARY(dadd_rp_nan, nn, d, d, d, "add.rp.f64")
BINARY(dmul_nan, nn, d, d, d, "mul.rn.f64")
TERNARY(dfma_nan, nnn, d, d, d, d, "fma.rn.f64")
TERNARY(dfma_rz_nan, nnn, d, d, d, d, "fma.rz.f64")
BINARY(dmin_nan, nn, d, d, d, "min.f64")
BINARY(dmin, dd, d, d, d, "min.f64")
BINARY(dmax, dd, d, d, d, "max.f64")

// Comparisons: a bit for each
#define SET(bit, ptx)                                                                                                  \
    {                                                                                                                  \
        unsigned one;                                                                                                  \
        asm volatile(ptx " %0, %1, %2;" : "=r"(one) : SET_C(a), SET_C(b));                                             \
        bits |= (one & 1) << bit;                                                                                      \
    }
#define SETS(type)                                                                                                     \
    SET(0, "set.lt.u32." type) SET(1, "set.le.u32." type) SET(2, "set.gt.u32." type) SET(3, "set.ge.u32." type)        \
    SET(4, "set.eq.u32." type) SET(5, "set.ne.u32." type) SET(6, "set.ltu.u32." type) SET(7, "set.leu.u32." type)      \
    SET(8, "set.gtu.u32." type) SET(9, "set.geu.u32." type) SET(10, "set.equ.u32." type)                               \
    SET(11, "set.neu.u32." type) SET(12, "set.num.u32." type) SET(13, "set.nan.u32." type)
#define SET_C C_f
PROBE(compare_f32, ff, 1, float a = GET_f(0); float b = GET_f(1); unsigned bits = 0; SETS("f32") PUT(0, bits);)
PROBE(compare_ftz, ff, 1, float a = GET_f(0); float b = GET_f(1); unsigned bits = 0;
      SET(0, "set.lt.ftz.u32.f32") SET(1, "set.eq.ftz.u32.f32") SET(2, "set.geu.ftz.u32.f32") PUT(0, bits);)
#undef SET_C
#define SET_C C_d
PROBE(compare_f64, dd, 1, double a = GET_d(0); double b = GET_d(1); unsigned bits = 0; SETS("f64") PUT(0, bits);)
#undef SET_C
#define SET_C C_l
PROBE(compare_s64, qq, 1, u64 a = GET_l(0); u64 b = GET_l(1); unsigned bits = 0; SET(0, "set.lt.u32.s64")
      SET(1, "set.le.u32.s64") SET(2, "set.gt.u32.u64") SET(3, "set.hs.u32.u64") SET(4, "set.eq.u32.s64")
      PUT(0, bits);)
BINARY(set_f32, ff, f, f, f, "set.lt.f32.f32")

// Pairs of halves
BINARY(hadd, hh, r, r, r, "add.rn.f16x2")
BINARY(hadd_ftz, hh, r, r, r, "add.rn.ftz.f16x2")
BINARY(hadd_sat, hh, r, r, r, "add.rn.sat.f16x2")
BINARY(hmul, hh, r, r, r, "mul.rn.f16x2")
BINARY(hmul_ftz, hh, r, r, r, "mul.rn.ftz.f16x2")
TERNARY(hfma, hhh, r, r, r, r, "fma.rn.f16x2")
TERNARY(hfma_ftz, hhh, r, r, r, r, "fma.rn.ftz.f16x2")
TERNARY(hfma_sat, hhh, r, r, r, r, "fma.rn.sat.f16x2")
BINARY(hadd_ftz_tiny, uu, r, r, r, "add.rn.ftz.f16x2")
BINARY(hmul_ftz_tiny, uu, r, r, r, "mul.rn.ftz.f16x2")
TERNARY(hfma_ftz_tiny, uuu, r, r, r, r, "fma.rn.ftz.f16x2")
UNARY(hneg, h, r, r, "neg.f16x2")
UNARY(habs, h, r, r, "abs.f16x2")
BINARY(hset_lt, hh, r, r, r, "set.lt.f16x2.f16x2")
BINARY(hset_neu, hh, r, r, r, "set.neu.f16x2.f16x2")
BINARY(hset_nan, hh, r, h, h, "set.nan.u32.f16")

// Conversions
UNARY(f2i_rni_s32, f, r, f, "cvt.rni.s32.f32")
UNARY(f2i_rzi_s32, f, r, f, "cvt.rzi.s32.f32")
UNARY(f2i_rmi_s32, f, r, f, "cvt.rmi.s32.f32")
UNARY(f2i_rpi_s32, f, r, f, "cvt.rpi.s32.f32")
UNARY(f2i_rni_u32, f, r, f, "cvt.rni.u32.f32")
UNARY(f2i_rzi_u32, f, r, f, "cvt.rzi.u32.f32")
UNARY(f2i_rni_s64, f, l, f, "cvt.rni.s64.f32")
UNARY(f2i_rzi_s64, f, l, f, "cvt.rzi.s64.f32")
UNARY(f2i_rni_u64, f, l, f, "cvt.rni.u64.f32")
UNARY(f2i_rzi_u64, f, l, f, "cvt.rzi.u64.f32")
UNARY(f2i_rmi_u64, f, l, f, "cvt.rmi.u64.f32")
UNARY(f2i_rpi_u64, f, l, f, "cvt.rpi.u64.f32")
UNARY(f2i_rni_s16, f, h, f, "cvt.rni.s16.f32")
UNARY(f2i_rzi_s16, f, h, f, "cvt.rzi.s16.f32")
UNARY(f2i_rni_u16, f, h, f, "cvt.rni.u16.f32")
UNARY(f2i_rzi_u16, f, h, f, "cvt.rzi.u16.f32")
UNARY(f2i_ftz_s32, f, r, f, "cvt.rpi.ftz.s32.f32")
UNARY(d2i_s32, d, r, d, "cvt.rzi.s32.f64")
UNARY(h2i_s32, h, r, h, "cvt.rni.s32.f16")
UNARY(f2i_ftz_u32, f, r, f, "cvt.rpi.ftz.u32.f32")
UNARY(d2i_u32, d, r, d, "cvt.rzi.u32.f64")
UNARY(h2i_u32, h, r, h, "cvt.rni.u32.f16")
UNARY(f2i_ftz_s64, f, l, f, "cvt.rpi.ftz.s64.f32")
UNARY(d2i_s64, d, l, d, "cvt.rzi.s64.f64")
UNARY(h2i_s64, h, l, h, "cvt.rni.s64.f16")
UNARY(f2i_ftz_u64, f, l, f, "cvt.rpi.ftz.u64.f32")
UNARY(d2i_u64, d, l, d, "cvt.rzi.u64.f64")
UNARY(h2i_u64, h, l, h, "cvt.rni.u64.f16")
UNARY(i2f_rn_s32, q, f, r, "cvt.rn.f32.s32")
UNARY(i2f_rz_s32, q, f, r, "cvt.rz.f32.s32")
UNARY(i2f_rm_s32, q, f, r, "cvt.rm.f32.s32")
UNARY(i2f_rp_s32, q, f, r, "cvt.rp.f32.s32")
UNARY(i2h_s32, q, h, r, "cvt.rn.f16.s32")
UNARY(i2f_rn_u32, q, f, r, "cvt.rn.f32.u32")
UNARY(i2f_rz_u32, q, f, r, "cvt.rz.f32.u32")
UNARY(i2f_rm_u32, q, f, r, "cvt.rm.f32.u32")
UNARY(i2f_rp_u32, q, f, r, "cvt.rp.f32.u32")
UNARY(i2h_u32, q, h, r, "cvt.rn.f16.u32")
UNARY(i2f_rn_s64, q, f, l, "cvt.rn.f32.s64")
UNARY(i2f_rz_s64, q, f, l, "cvt.rz.f32.s64")
UNARY(i2f_rm_s64, q, f, l, "cvt.rm.f32.s64")
UNARY(i2f_rp_s64, q, f, l, "cvt.rp.f32.s64")
UNARY(i2h_s64, q, h, l, "cvt.rn.f16.s64")
UNARY(i2f_rn_u64, q, f, l, "cvt.rn.f32.u64")
UNARY(i2f_rz_u64, q, f, l, "cvt.rz.f32.u64")
UNARY(i2f_rm_u64, q, f, l, "cvt.rm.f32.u64")
UNARY(i2f_rp_u64, q, f, l, "cvt.rp.f32.u64")
UNARY(i2h_u64, q, h, l, "cvt.rn.f16.u64")
UNARY(i2d_rn_s32, q, d, r, "cvt.rn.f64.s32")
UNARY(i2d_rn_u64, q, d, l, "cvt.rn.f64.u64")
UNARY(i2d_rz_s64, q, d, l, "cvt.rz.f64.s64")
UNARY(i2d_rm_s64, q, d, l, "cvt.rm.f64.s64")
UNARY(i2d_rp_s64, q, d, l, "cvt.rp.f64.s64")
UNARY(d2f_rn, d, f, d, "cvt.rn.f32.f64")
UNARY(d2f_rz, d, f, d, "cvt.rz.f32.f64")
UNARY(d2f_rm, d, f, d, "cvt.rm.f32.f64")
UNARY(d2f_rp, d, f, d, "cvt.rp.f32.f64")
UNARY(d2f_sat, d, f, d, "cvt.rn.sat.f32.f64")
UNARY(f2d, f, d, f, "cvt.f64.f32")
UNARY(f2d_ftz, f, d, f, "cvt.ftz.f64.f32")
UNARY(f2h_rn, f, h, f, "cvt.rn.f16.f32")
UNARY(f2h_rz, f, h, f, "cvt.rz.f16.f32")
UNARY(f2h_ftz, f, h, f, "cvt.rn.ftz.f16.f32")
UNARY(h2f, h, f, h, "cvt.f32.f16")
UNARY(d2h, d, h, d, "cvt.rn.f16.f64")
UNARY(h2d, h, d, h, "cvt.f64.f16")
UNARY(frnd_rni, f, f, f, "cvt.rni.f32.f32")
UNARY(frnd_rzi, f, f, f, "cvt.rzi.f32.f32")
UNARY(frnd_rmi, f, f, f, "cvt.rmi.f32.f32")
UNARY(frnd_rpi, f, f, f, "cvt.rpi.f32.f32")
UNARY(frnd_ftz, f, f, f, "cvt.rpi.ftz.f32.f32")
UNARY(frnd_d, d, d, d, "cvt.rni.f64.f64")
UNARY(frnd_h, h, h, h, "cvt.rmi.f16.f16")
UNARY(sat_f32, f, f, f, "cvt.sat.f32.f32")

// Integers
TERNARY(shf_l_wrap, iis, r, r, r, r, "shf.l.wrap.b32")
TERNARY(shf_l_clamp, iis, r, r, r, r, "shf.l.clamp.b32")
TERNARY(shf_r_wrap, iis, r, r, r, r, "shf.r.wrap.b32")
TERNARY(shf_r_clamp, iis, r, r, r, r, "shf.r.clamp.b32")
BINARY(shl_b32, is, r, r, r, "shl.b32")
BINARY(shr_u32, is, r, r, r, "shr.u32")
BINARY(shr_s32, is, r, r, r, "shr.s32")
BINARY(shl_b64, qs, l, l, r, "shl.b64")
BINARY(shr_u64, qs, l, l, r, "shr.u64")
BINARY(shr_s64, qs, l, l, r, "shr.s64")
BINARY(shl_b16, is, h, h, r, "shl.b16")
TERNARY(bfe_u32, iss, r, r, r, r, "bfe.u32")
TERNARY(bfe_s32, iss, r, r, r, r, "bfe.s32")
TERNARY(bfe_s64, qss, l, l, r, r, "bfe.s64")
PROBE(bfi_b32, iiss, 1, unsigned d;
      asm volatile("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(GET_r(0)), "r"(GET_r(1)), "r"(GET_r(2)), "r"(GET_r(3)));
      PUT(0, d);)
BINARY(bmsk_clamp, ss, r, r, r, "bmsk.clamp.b32")
BINARY(bmsk_wrap, ss, r, r, r, "bmsk.wrap.b32")
BINARY(szext_clamp_s32, is, r, r, r, "szext.clamp.s32")
BINARY(szext_wrap_s32, is, r, r, r, "szext.wrap.s32")
BINARY(szext_clamp_u32, is, r, r, r, "szext.clamp.u32")
UNARY(popc_b32, i, r, r, "popc.b32")
UNARY(popc_b64, q, r, l, "popc.b64")
UNARY(clz_b32, i, r, r, "clz.b32")
UNARY(clz_b64, q, r, l, "clz.b64")
UNARY(brev_b32, i, r, r, "brev.b32")
UNARY(bfind_u32, i, r, r, "bfind.u32")
UNARY(bfind_s32, i, r, r, "bfind.s32")
UNARY(bfind_shiftamt_s32, i, r, r, "bfind.shiftamt.s32")
UNARY(bfind_s64, q, r, l, "bfind.s64")
TERNARY(prmt, iii, r, r, r, r, "prmt.b32")
TERNARY(prmt_f4e, iii, r, r, r, r, "prmt.b32.f4e")
TERNARY(prmt_b4e, iii, r, r, r, r, "prmt.b32.b4e")
TERNARY(prmt_rc8, iii, r, r, r, r, "prmt.b32.rc8")
TERNARY(prmt_ecl, iii, r, r, r, r, "prmt.b32.ecl")
TERNARY(prmt_ecr, iii, r, r, r, r, "prmt.b32.ecr")
TERNARY(prmt_rc16, iii, r, r, r, r, "prmt.b32.rc16")
#define LOP3(table) asm volatile("lop3.b32 %0, %1, %2, %3, " #table ";" : "=r"(d) : "r"(a), "r"(b), "r"(c)); sum = sum * 3 + d;
PROBE(lop3, iii, 1, unsigned a = GET_r(0); unsigned b = GET_r(1); unsigned c = GET_r(2); unsigned d; unsigned sum = 0;
      LOP3(0x01) LOP3(0x1b) LOP3(0x2d) LOP3(0x35) LOP3(0x4e) LOP3(0x69) LOP3(0x8e) LOP3(0xca) LOP3(0xe8) LOP3(0xfd)
      PUT(0, sum);)
TERNARY(dp4a_s32_s32, iii, r, r, r, r, "dp4a.s32.s32")
TERNARY(dp4a_u32_s32, iii, r, r, r, r, "dp4a.u32.s32")
TERNARY(dp4a_u32_u32, iii, r, r, r, r, "dp4a.u32.u32")
TERNARY(dp2a_lo_s32_u32, iii, r, r, r, r, "dp2a.lo.s32.u32")
TERNARY(dp2a_hi_u32_s32, iii, r, r, r, r, "dp2a.hi.u32.s32")
TERNARY(vabsdiff4_s32, iii, r, r, r, r, "vabsdiff4.s32.s32.s32")
TERNARY(vabsdiff4_add, iii, r, r, r, r, "vabsdiff4.u32.u32.u32.add")
TERNARY(sad_s32, iii, r, r, r, r, "sad.s32")
TERNARY(mad_hi_s32, iii, r, r, r, r, "mad.hi.s32")
TERNARY(mad_hi_u32, iii, r, r, r, r, "mad.hi.u32")
TERNARY(mad_wide_s32, iiq, l, r, r, l, "mad.wide.s32")
TERNARY(mad_hi_sat, iii, r, r, r, r, "mad.hi.sat.s32")
BINARY(mul_lo_s64, qq, l, l, l, "mul.lo.s64")
BINARY(mul_hi_s64, qq, l, l, l, "mul.hi.s64")
BINARY(div_s32, ii, r, r, r, "div.s32")
BINARY(rem_u32, ii, r, r, r, "rem.u32")
BINARY(div_u64, qq, l, l, l, "div.u64")
BINARY(add_sat_s32, ii, r, r, r, "add.sat.s32")
BINARY(sub_sat_s32, ii, r, r, r, "sub.sat.s32")
BINARY(min_s32, ii, r, r, r, "min.s32")
BINARY(max_u64, qq, l, l, l, "max.u64")
UNARY(abs_s32, i, r, r, "abs.s32")
UNARY(cvt_sat_s8, i, r, r, "cvt.sat.s8.s32")
UNARY(cvt_sat_u16, i, r, r, "cvt.sat.u16.s32")
PROBE(carry, qq, 3, unsigned x; unsigned y; unsigned z;
      asm volatile("add.cc.u32 %0, %3, %5; addc.cc.u32 %1, %4, %6; addc.u32 %2, 0, 0;"
                   : "=r"(x), "=r"(y), "=r"(z)
                   : "r"((unsigned)GET_l(0)), "r"((unsigned)(GET_l(0) >> 32)), "r"((unsigned)GET_l(1)),
                     "r"((unsigned)(GET_l(1) >> 32)));
      PUT(0, x); PUT(1, y); PUT(2, z);)
PROBE(borrow, qq, 3, unsigned x; unsigned y; unsigned z;
      asm volatile("sub.cc.u32 %0, %3, %5; subc.cc.u32 %1, %4, %6; subc.u32 %2, 0, 0;"
                   : "=r"(x), "=r"(y), "=r"(z)
                   : "r"((unsigned)GET_l(0)), "r"((unsigned)(GET_l(0) >> 32)), "r"((unsigned)GET_l(1)),
                     "r"((unsigned)(GET_l(1) >> 32)));
      PUT(0, x); PUT(1, y); PUT(2, z);)

// Lanes of a warp; the lanes of a diverged half of it
#define SHFL(mode, value, lanes)                                                                                       \
    asm volatile("{.reg .pred p; shfl.sync." mode ".b32 %0|p, %2, %3, %4, " lanes "; selp.u32 %1, 1, 0, p;}"           \
                 : "=r"(d), "=r"(ok)                                                                                   \
                 : "r"(value), "r"(GET_r(1)), "r"(GET_r(2)))
PROBE(shfl_idx, iss, 2, unsigned d; unsigned ok; SHFL("idx", GET_r(0), "0xffffffff"); PUT(0, d); PUT(1, ok);)
PROBE(shfl_up, iss, 2, unsigned d; unsigned ok; SHFL("up", GET_r(0), "0xffffffff"); PUT(0, d); PUT(1, ok);)
PROBE(shfl_down, iss, 2, unsigned d; unsigned ok; SHFL("down", GET_r(0), "0xffffffff"); PUT(0, d); PUT(1, ok);)
PROBE(shfl_bfly, iss, 2, unsigned d; unsigned ok; SHFL("bfly", GET_r(0), "0xffffffff"); PUT(0, d); PUT(1, ok);)
PROBE(shfl_segments, is, 2, unsigned d; unsigned ok;
      asm volatile("{.reg .pred p; shfl.sync.down.b32 %0|p, %2, %3, 0x1c03, 0xffffffff; selp.u32 %1, 1, 0, p;}"
                   : "=r"(d), "=r"(ok) : "r"(GET_r(0)), "r"(GET_r(1) & 7));
      PUT(0, d); PUT(1, ok);)
PROBE(shfl_half, is, 2, unsigned d = 0; unsigned ok = 2; unsigned value = GET_r(0); unsigned place = GET_r(1);
      if (i & 1) asm volatile("{.reg .pred p; shfl.sync.idx.b32 %0|p, %2, %3, 0x1f, 0xaaaaaaaa; selp.u32 %1, 1, 0, p;}"
                              : "+r"(d), "+r"(ok) : "r"(value), "r"(place | 1));
      PUT(0, d); PUT(1, ok);)
PROBE(shfl_absent, is, 2, unsigned d = 0; unsigned ok = 2; unsigned value = GET_r(0); unsigned place = GET_r(1);
      if (i & 1) asm volatile("{.reg .pred p; shfl.sync.idx.b32 %0|p, %2, %3, 0x1f, 0xaaaaaaaa; selp.u32 %1, 1, 0, p;}"
                              : "+r"(d), "+r"(ok) : "r"(value), "r"(place & ~1u));
      PUT(0, d); PUT(1, ok);)
PROBE(vote, i, 2, unsigned d; unsigned bits; bool odd = GET_r(0) & 1;
      d = __ballot_sync(~0u, odd); bits = __any_sync(~0u, odd) | __all_sync(~0u, odd) << 1;
      PUT(0, d); PUT(1, bits);)
PROBE(vote_half, i, 2, unsigned d = 0; unsigned bits = 0; bool odd = GET_r(0) & 1;
      if (i & 1) { d = __ballot_sync(0xaaaaaaaa, odd);
                   bits = __any_sync(0xaaaaaaaa, odd) | __all_sync(0xaaaaaaaa, odd | (i & 2)) << 1 | __activemask() << 2; }
      PUT(0, d); PUT(1, bits);)
PROBE(match, i, 3, int same; unsigned key = GET_r(0) & 7; PUT(0, __match_any_sync(~0u, key));
      PUT(1, __match_all_sync(~0u, i / 96, &same)); PUT(2, same);)

// Memory
PROBE(atom_add_f32, ff, 2, float old; out[i] = GET_r(0); __threadfence();
      asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(old) : "l"(out + i), "f"(GET_f(1)) : "memory");
      PUT(1, __float_as_uint(old));)
PROBE(red_add_f32, ff, 1, out[i] = GET_r(0); __threadfence();
      asm volatile("red.global.add.f32 [%0], %1;" ::"l"(out + i), "f"(GET_f(1)) : "memory");)
PROBE(atom_shared_add_f32, ff, 2, __shared__ float word[256]; word[threadIdx.x] = GET_f(0); __syncthreads();
      float old = atomicAdd(word + threadIdx.x, GET_f(1)); __syncthreads();
      PUT(0, __float_as_uint(word[threadIdx.x])); PUT(1, __float_as_uint(old));)
PROBE(red_add_f16x2, hh, 1, out[i] = GET_r(0); __threadfence();
      asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(out + i), "r"(GET_r(1)) : "memory");)
PROBE(atom_integers, ii, 7, __shared__ unsigned word[256]; unsigned a = GET_r(0); unsigned b = GET_r(1);
      unsigned *at = word + threadIdx.x; at[0] = a;
      PUT(0, atomicInc(at, b)); PUT(1, atomicDec(at, b)); PUT(2, atomicMin((int *)at, (int)b)); PUT(3, atomicMax(at, b >> 1));
      PUT(4, atomicXor(at, b)); PUT(5, atomicCAS(at, a, b)); PUT(6, at[0]);)
PROBE(order_atom_add_f32, g, 2, __shared__ float sum[8]; if ((i & 31) == 0) sum[threadIdx.x / 32] = 0; __syncwarp();
      float old = atomicAdd(sum + threadIdx.x / 32, GET_f(0)); __syncwarp();
      PUT(0, __float_as_uint(old)); PUT(1, __float_as_uint(sum[threadIdx.x / 32]));)
PROBE(order_atom_exch, i, 2, __shared__ unsigned last[8]; if ((i & 31) == 0) last[threadIdx.x / 32] = 99; __syncwarp();
      PUT(0, atomicExch(last + threadIdx.x / 32, i)); __syncwarp(); PUT(1, last[threadIdx.x / 32]);)
PROBE(order_global_exch, i, 1, unsigned *last = out + i / 32 * 32; unsigned old; if ((i & 31) == 0) *last = 99;
      __threadfence(); __syncwarp(); old = atomicExch(last, i); __syncwarp(); if (i & 31) out[i] = old;)
PROBE(order_global_add_f32, g, 1, float *sum = (float *)out + i / 32 * 32; float old; if ((i & 31) == 0) *sum = 0;
      __threadfence(); __syncwarp(); old = atomicAdd(sum, GET_f(0)); __syncwarp(); if (i & 31) out[i] = __float_as_uint(old);)
PROBE(order_store, i, 1, unsigned *last = out + i / 32 * 32; *(volatile unsigned *)(last + (GET_r(0) & 7)) = i;
      __syncwarp(); if ((i & 31) > 7) out[i] = 0;)
PROBE(order_store_shared, i, 1, __shared__ unsigned word[256]; volatile unsigned *last = word + threadIdx.x / 32 * 32;
      last[i & 31] = 77; __syncwarp(); last[GET_r(0) & 7] = i; __syncwarp(); PUT(0, last[i & 31]);)

// Tensor cores
#define HMMA_F32                                                                                                       \
    float d0; float d1; float d2; float d3;                                                                            \
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"      \
                 : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)                                                              \
                 : "r"(in[i]), "r"(in[n + i]), "r"(in[2 * n + i]), "f"(__uint_as_float(in[4 * n + i])),                \
                   "f"(__uint_as_float(in[5 * n + i])), "f"(__uint_as_float(in[6 * n + i])),                           \
                   "f"(__uint_as_float(in[7 * n + i])));                                                               \
    PUT(0, __float_as_uint(d0)); PUT(1, __float_as_uint(d1)); PUT(2, __float_as_uint(d2)); PUT(3, __float_as_uint(d3));
#define HMMA_F16                                                                                                       \
    unsigned d0; unsigned d1;                                                                                          \
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%5,%6};"                   \
                 : "=r"(d0), "=r"(d1)                                                                                  \
                 : "r"(in[i]), "r"(in[n + i]), "r"(in[2 * n + i]), "r"(in[4 * n + i]), "r"(in[5 * n + i]));            \
    PUT(0, d0); PUT(1, d1);
#define IMMA(types, shape)                                                                                             \
    unsigned d0; unsigned d1;                                                                                          \
    asm volatile("mma.sync.aligned." shape ".row.col" types " {%0,%1}, {%2}, {%3}, {%4,%5};"                           \
                 : "=r"(d0), "=r"(d1)                                                                                  \
                 : "r"(in[i]), "r"(in[2 * n + i]), "r"(in[4 * n + i]), "r"(in[5 * n + i]));                            \
    PUT(0, d0); PUT(1, d1);
PROBE(hmma_f32, ppgg, 4, HMMA_F32)
PROBE(hmma_f32_edges, hhff, 4, HMMA_F32)
PROBE(hmma_f32_narrow, vvzz, 4, HMMA_F32)
PROBE(hmma_f16, ppp, 2, HMMA_F16)
PROBE(hmma_f16_edges, hhh, 2, HMMA_F16)
PROBE(imma_s8, iii, 2, IMMA(".s32.s8.s8.s32", "m8n8k16"))
PROBE(imma_u8_s8_sat, iii, 2, IMMA(".satfinite.s32.u8.s8.s32", "m8n8k16"))
PROBE(imma_s4_u4, iii, 2, IMMA(".s32.s4.u4.s32", "m8n8k32"))
PROBE(bmma_xor, iii, 2, IMMA(".s32.b1.b1.s32.xor.popc", "m8n8k128"))
PROBE(movmatrix, i, 1, unsigned d; asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(GET_r(0)));
      PUT(0, d);)

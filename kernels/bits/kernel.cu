// SPDX-License-Identifier: Apache-2.0
// Words as sets of bits: counts, positions, reversal, funnel shifts by more than a word, three-operand logic, lanes
// that agree on a value, a product without carries that tests every bit of a word, and more conditions than predicates.

#define PICKED 7 // words behind y[i]; y has as many more than there are threads

extern "C" __global__ void bits(int n, const unsigned *x, const unsigned *y, const unsigned *shift, const unsigned *key,
                                unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned present = __ballot_sync(~0u, i < n);
    if (i >= n)
        return;
    unsigned a = x[i], b = y[i], s = shift[i], k = key[i], below = (1u << (threadIdx.x & 31)) - 1, t;
    unsigned *field = out + i;

    field[0 * n] = __popc(a);
    field[1 * n] = __clz(a);
    field[2 * n] = __ffs(a);
    field[3 * n] = __brev(b);
    asm("bfind.s32 %0, %1;" : "=r"(t) : "r"(b)); // no intrinsic looks for the first bit that differs from the sign
    field[4 * n] = t;

    field[5 * n] = __funnelshift_l(a, b, s);
    field[6 * n] = __funnelshift_lc(a, b, s);
    field[7 * n] = __funnelshift_r(a, b, s);
    field[8 * n] = __funnelshift_rc(a, b, s);
    asm("shl.b32 %0, %1, %2;" : "=r"(t) : "r"(a), "r"(s)); // in C++ a shift by 32 and more has no meaning
    field[9 * n] = t;
    asm("shr.s32 %0, %1, %2;" : "=r"(t) : "r"(a), "r"(s));
    field[10 * n] = t;
    unsigned long long pair = (unsigned long long)b << 32 | a, moved = pair << (s & 63);
    field[11 * n] = (unsigned)moved;
    field[12 * n] = (unsigned)(moved >> 32);
    field[13 * n] = (unsigned)((long long)pair >> (s & 63) >> 16);

    field[14 * n] = (a & b) | (a & s) | (b & s);
    field[15 * n] = a ^ (~b & k);

    unsigned peers = __match_any_sync(present, k), odd = __ballot_sync(present, a & 1), alike = 0;
    field[16 * n] = peers;
    field[17 * n] = __popc(peers & below);
    if (a & 1)
        alike = __match_any_sync(odd, k >> 1);
    field[18 * n] = alike;
    field[19 * n] = __ballot_sync(present, a < b) ^ (__any_sync(present, k == 3) ? ~0u : 0u) ^
                    (__all_sync(present, k < 4) ? 0xff00u : 0u);

    unsigned product = 0;
#pragma unroll
    for (int bit = 0; bit < 32; ++bit)
        if (a >> bit & 1)
            product ^= b << bit;
    field[20 * n] = product;

    bool p0 = a < b, p1 = (int)a < (int)b, p2 = a > 0x40000000, p3 = b > s, p4 = k > 2, p5 = (int)b > 0,
         p6 = (b & 6) > 3, p7 = (a & 0xff) > (b & 0xff), p8 = s > 31;
    unsigned state = a;
    for (unsigned turn = 0; turn <= k; ++turn) {
        state = p0 ? state + b : state ^ b;
        state = p1 ? state * 5 : state >> 1;
        state = p2 ? ~state : state + 1;
        state = p3 ? state - s : state | s;
        state = p4 ? state ^ 0x55555555 : state + turn;
        state = p5 ? state + a : state & ~a;
        state = p6 ? state << 3 : state + 77;
        state = p7 ? state ^ turn : state - 3;
        state = p8 ? state + 9 : state * 3;
    }
    field[21 * n] = state;

    unsigned sum = 0;
#pragma unroll
    for (int bit = 0; bit < PICKED; ++bit)
        if (a >> bit & 1)
            sum += y[i + 1 + bit];
    field[22 * n] = sum;
}

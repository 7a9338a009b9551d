// SPDX-License-Identifier: Apache-2.0
// ChaCha20 key stream (RFC 8439), one 64-byte block per thread: long chains of additions, exclusive-ors and rotations
// on sixteen registers that are read again and again.

#define ROTATE(v, n) ((v) << (n) | (v) >> (32 - (n)))
#define QUARTER(a, b, c, d)             \
    a += b; d ^= a; d = ROTATE(d, 16);  \
    c += d; b ^= c; b = ROTATE(b, 12);  \
    a += b; d ^= a; d = ROTATE(d, 8);   \
    c += d; b ^= c; b = ROTATE(b, 7)

extern "C" __global__ void chacha(int rounds, unsigned counter, const unsigned *key, const unsigned *nonce, uint4 *out)
{
    unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned start[16] = {0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u};
#pragma unroll
    for (int i = 0; i < 8; ++i)
        start[4 + i] = key[i];
    start[12] = counter + index;
#pragma unroll
    for (int i = 0; i < 3; ++i)
        start[13 + i] = nonce[i];
    unsigned s[16];
#pragma unroll
    for (int i = 0; i < 16; ++i)
        s[i] = start[i];
#pragma unroll 1
    for (int round = 0; round < rounds; round += 2) {
        QUARTER(s[0], s[4], s[8], s[12]);
        QUARTER(s[1], s[5], s[9], s[13]);
        QUARTER(s[2], s[6], s[10], s[14]);
        QUARTER(s[3], s[7], s[11], s[15]);
        QUARTER(s[0], s[5], s[10], s[15]);
        QUARTER(s[1], s[6], s[11], s[12]);
        QUARTER(s[2], s[7], s[8], s[13]);
        QUARTER(s[3], s[4], s[9], s[14]);
    }
#pragma unroll
    for (int i = 0; i < 16; i += 4)
        out[4 * index + i / 4] = make_uint4(s[i] + start[i], s[i + 1] + start[i + 1], s[i + 2] + start[i + 2],
                                            s[i + 3] + start[i + 3]);
}

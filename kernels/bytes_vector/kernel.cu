// SPDX-License-Identifier: Apache-2.0
// Pixels of four bytes, four to a thread: 64 and 128-bit accesses beside accesses of one and two bytes, and bytes that
// are picked, swapped and given a sign inside of words.

typedef unsigned char byte;
typedef signed char sbyte;
typedef unsigned short half_word;

// Bytes of one word as signed numbers, added up.
__device__ __forceinline__ int signed_sum(unsigned word)
{
    return (sbyte)word + (sbyte)(word >> 8) + (sbyte)(word >> 16) + (sbyte)(word >> 24);
}

extern "C" __global__ void bytes_vector(int n, const uint4 *pixels, const uint2 *masks, const byte *level,
                                        const sbyte *offset, const half_word *order, uint4 *swapped, uint2 *planes,
                                        byte *brightest, sbyte *darkest, half_word *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint4 p = pixels[i];
    uint2 mask = masks[i];
    unsigned picks = order[i];
    // The bytes of a pixel from last to first; the order of the last pixel is data.
    swapped[i] = make_uint4(__byte_perm(p.x, 0, 0x0123), __byte_perm(p.y, 0, 0x0123), __byte_perm(p.z, 0, 0x0123),
                            __byte_perm(p.w, p.x, picks));
    // The first and second bytes of all four pixels, one word each.
    unsigned xy = __byte_perm(p.x, p.y, 0x5140), zw = __byte_perm(p.z, p.w, 0x5140);
    planes[i] = make_uint2(__byte_perm(xy, zw, 0x5410) ^ mask.x, __byte_perm(xy, zw, 0x7632) | mask.y);

    int most = level[i], least = offset[i];
    unsigned words[4] = {p.x, p.y, p.z, p.w};
#pragma unroll
    for (int w = 0; w < 4; ++w)
#pragma unroll
        for (int b = 0; b < 4; ++b) {
            most = max(most, (int)(words[w] >> 8 * b & 0xff));
            least = min(least, (int)(sbyte)(words[w] >> 8 * b));
        }
    brightest[i] = most;
    darkest[i] = least;
    sums[i] = signed_sum(p.x) + signed_sum(p.y) - signed_sum(p.z) - signed_sum(p.w);
}

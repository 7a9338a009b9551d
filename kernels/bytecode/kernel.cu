// SPDX-License-Identifier: Apache-2.0
// An interpreter: each thread runs the same little program from constant memory on its own value. Jumps depend on the
// data, so lanes part at the dispatch and meet again.

#define WORD(code, operand) ((operand) << 8 | (code))

enum { ADD, MUL, XOR, ROTATE, SHIFT, NEGATE, BITS, ADD_SAVED, SAVE, JUMP_IF_ODD, COUNT_DOWN, HALT };

__constant__ unsigned program[16] = {
    WORD(ADD, 77), WORD(MUL, 13), WORD(JUMP_IF_ODD, 5), WORD(SHIFT, 1), WORD(XOR, 0x5a5a5a),
    WORD(ROTATE, 7), WORD(SAVE, 0), WORD(JUMP_IF_ODD, 9), WORD(NEGATE, 0), WORD(BITS, 0xffffff),
    WORD(ADD_SAVED, 3), WORD(COUNT_DOWN, 1), WORD(HALT, 0),
};

// The arithmetic codes. nvcc makes compare chains of a switch, and this kernel is here for the indexed branch and its
// table in constant bank 2, so the dispatch is written in PTX.
__device__ __forceinline__ unsigned compute(unsigned code, unsigned operand, unsigned value, unsigned saved)
{
    asm volatile("{\n\t"
                 ".reg .u32 t;\n\t"
                 "table: .branchtargets l_add, l_mul, l_xor, l_rotate, l_shift, l_negate, l_bits, l_add_saved;\n\t"
                 "brx.idx %1, table;\n"
                 "l_add: add.u32 %0, %0, %2;\n\t"
                 "bra l_end;\n"
                 "l_mul: mul.lo.u32 %0, %0, %2;\n\t"
                 "bra l_end;\n"
                 "l_xor: xor.b32 %0, %0, %2;\n\t"
                 "bra l_end;\n"
                 "l_rotate: shf.l.wrap.b32 %0, %0, %0, %2;\n\t"
                 "bra l_end;\n"
                 "l_shift: shr.u32 %0, %0, %2;\n\t"
                 "bra l_end;\n"
                 "l_negate: not.b32 %0, %0;\n\t"
                 "bra l_end;\n"
                 "l_bits: and.b32 t, %0, %2;\n\t"
                 "popc.b32 t, t;\n\t"
                 "add.u32 %0, %0, t;\n\t"
                 "bra l_end;\n"
                 "l_add_saved: mad.lo.u32 %0, %3, %2, %0;\n"
                 "l_end:\n\t"
                 "}" : "+r"(value) : "r"(code), "r"(operand), "r"(saved));
    return value;
}

extern "C" __global__ void bytecode(int n, unsigned loops, const unsigned *in, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned value = in[i], saved = 0, left = loops, pc = 0;
    for (;;) {
        unsigned word = program[pc++];
        unsigned code = word & 0xff, operand = word >> 8;
        if (code == HALT)
            break;
        if (code == SAVE)
            saved = value;
        else if (code == JUMP_IF_ODD)
            pc = value & 1 ? operand : pc;
        else if (code == COUNT_DOWN)
            pc = --left ? operand : pc;
        else
            value = compute(code, operand, value, saved);
    }
    out[i] = value;
}

"""Directed traces, each for one corner: sections of every size, slices in every row, what is saved of a warp."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable
from dataclasses import replace

from warpfile.spec.stress.warp_programs import Memory, WarpProgram, trace_of
from warpfile.spec.structure import WORD_BITS
from warpfile.spec.trace import LANES, Port, Trace

FAR = 4096  #: bytes between loads: each is of another line
_WIDE = [0x40000000 + lane for lane in range(LANES)]
_NARROW = [lane & 63 for lane in range(LANES)]


def drain_trace(registers: int = 64) -> Trace:
    """A warp that loads one register after the other; behind each it writes the last one, then the first one.

    If the last one is behind the base set and the first one in it, the warp gives its section up between the two, while
    the load is under way.
    """
    warp = WarpProgram(Memory())
    for register in range(registers):
        warp.load(register, (), FAR * (register + 1))
        warp.put(registers - 1, _WIDE)
        warp.put(0, _WIDE)
    return trace_of([warp])


def stray_trace(register: int, registers: int = 64, port: Port = Port.ALU) -> Trace:
    """A warp of so many registers that writes one of them, by a port, and nothing else."""
    warp = WarpProgram(Memory())
    warp.put(register, _WIDE, port=port)
    return replace(trace_of([warp]), registers=registers)


def alike_trace() -> Trace:
    """A warp with values that are the same in all lanes, but for one lane, or but for one bit of one lane.

    Every lane and every bit of it in turn, with the bit set and clear. A value that was the same stays in the other
    lanes when one is written. All are read.
    """
    rng, warp = random.Random("alike"), WarpProgram(Memory())
    for turn, (lane, bit) in enumerate(itertools.product(range(LANES), range(WORD_BITS))):
        register, word, other = turn % 64, rng.getrandbits(WORD_BITS), rng.getrandbits(WORD_BITS)
        for same in (word, word ^ (1 << WORD_BITS) - 1):
            warp.put(register, [same] * LANES)
            warp.get(register)
            warp.put(register, [other] * LANES, mask=1 << lane)
            warp.get(register)
            warp.put(register, [same ^ (number == lane) << bit for number in range(LANES)])
            warp.get(register)
    return trace_of([warp])


def leaving_trace(warps: int = 2, most: int = 40) -> Trace:
    """Warps that wait for one load while another one completes sooner or later, for a register that is in a cache.

    Before both, another register was read for the last time. Up to ``most`` beats are between the loads and what waits,
    so that the second load completes in each cycle around that in which the warp leaves its place.
    """
    memory = Memory()
    programs = [WarpProgram(memory) for _ in range(warps)]
    for turn, (between, first) in enumerate(itertools.product(range(most), (0, 1))):
        for number, warp in enumerate(programs):
            for register in (first, 1 - first):
                warp.put(register, _WIDE)
            warp.get(1)
            warp.load(2, (), FAR * (1 + warps * turn + number))
            warp.load(0, (), 0)
            for _ in range(between):
                warp.get()
            warp.get(2)
            warp.get(0)
    return trace_of(programs)


def levels_trace(first: int, registers: int = 64, warps: int = 4, banks: int = 2) -> Trace:
    """Warps that fill two banks row by row, row ``first`` and each fourth one from there with four narrow values.

    The value of register r of warp w goes to bank (r + w) modulo ``banks``, in the lowest row that has room. So the
    four are in one row; when they grow, they fill the next ones. One value after the other, all warps at a barrier.
    """
    names = [(warp, register) for register in range(registers) for warp in range(warps)]
    programs = [WarpProgram(Memory()) for _ in range(warps)]
    for bank in range(banks):
        order = [(warp, register) for warp, register in names if (warp + register) % banks == bank]
        writes = [(one, _WIDE) for one in order[:first]]
        for at in range(first, len(order), 4):
            writes += [(one, values) for values in (_NARROW, _WIDE) for one in order[at : at + 4]]
        for (warp, register), values in writes:
            programs[warp].put(register, values)
            programs[warp].get(register)
            for program in programs:
                program.barrier()
    for program in programs:
        for register in range(registers):
            program.get(register)
    return trace_of(programs)


def save_trace(registers: Iterable[int] = range(64)) -> Trace:
    """A warp that waits for a load of each register while each other one has a value that is read behind that.

    For each pair twice: the value was there before the load, or it comes from the SFU behind it. So what is saved where
    a warp leaves its place meanwhile is one register only of the two.
    """
    warp = WarpProgram(Memory())
    for turn, (loaded, kept) in enumerate(itertools.permutations(registers, 2)):
        for behind in (False, True):
            if not behind:
                warp.put(kept, _WIDE)
                warp.get(kept)
            warp.load(loaded, (), FAR * (2 * turn + behind))
            if behind:
                warp.put(kept, _WIDE, port=Port.SFU)
            warp.get(loaded)
            warp.get(kept)
    return trace_of([warp])

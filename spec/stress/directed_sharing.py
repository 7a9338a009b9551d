"""Directed programs of loads that share words: in every row, beside stores of every size, while no bank is free."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from warpfile.spec.stress.warp_programs import Memory, WarpProgram, trace_of
from warpfile.spec.trace import LANES, Trace

PAIR, FIRST, LAST = (0, 1), 2, 62  #: registers of an address, and those of data
WARPS = 4  #: as many as have room with all registers
BASE = 0x10000000
HELPERS = 16  #: registers of a warp that share a row and give it up again
VECTOR = 4 * LANES  #: bytes
STEP = 4  #: lanes of the machine for which loads of :func:`starved_trace` are made of two rows
UPPER_BITS = range(32, 48)  #: of an address, above the 32 that entries have
LONE = 1  #: the mask of a store whose only lane is one that every machine has


def _warps(count: int, memory: Memory, apart: int = 0) -> list[WarpProgram]:
    """Warps whose address registers are there; each one's begins so many bytes behind that of the one before."""
    warps = [WarpProgram(memory) for _ in range(count)]
    for number, warp in enumerate(warps):
        warp.address(PAIR[0], BASE + number * apart)
    return warps


def _values(number: int, register: int) -> list[int]:
    return [(number << 16 | register << 8 | lane) * 0x9E3779B1 for lane in range(LANES)]


def _put(warp: WarpProgram, number: int, registers: Iterable[int]) -> None:
    for register in registers:
        warp.put(register, _values(number, register))


def _together(warps: list[WarpProgram]) -> None:
    for warp in warps:
        warp.barrier()


def turns_trace(turn: int) -> Trace:
    """Warps that fill the file; one register after the other gets a vector that 64 more share, and give up again.

    So most rows have every count up to the greatest one of six bits, and some vectors have two entries. ``turn``: 0 or
    1, for the registers that come to share, the lowest or the highest.
    """
    warps = _warps(WARPS, Memory())
    registers = range(FIRST, LAST + 1)
    helpers = registers[:HELPERS] if turn == 0 else registers[-HELPERS:]
    for number, warp in enumerate(warps):
        _put(warp, number, registers)
    owners = [(warp, register) for register in registers if register not in helpers for warp in warps]
    for vector, (owner, register) in enumerate(owners):
        owner.load(register, PAIR, vector * VECTOR)
        _together(warps)
        for warp in warps:
            for helper in helpers:
                warp.load(helper, PAIR, vector * VECTOR)
        _together(warps)
        for number, warp in enumerate(warps):
            _put(warp, number, helpers)
    for warp in warps:
        warp.get(*registers[:3])
    return trace_of(warps)


def brim_trace() -> Trace:
    """Every warp stores values of every size right before words that it has, up to their first one and up to it only.

    A store that ends too early or too late by its size deletes too little or too much.
    """
    memory = Memory()
    warps = _warps(WARPS, memory, 0x100000)
    for warp in warps:
        _put(warp, 0, range(LAST - 3, LAST + 1))
    for turn in range(6):
        for warp in warps:
            for number, size in enumerate((1, 2, 4, 8, 16)):
                _brim(warp, size, (turn * 5 + number + 1) * 4 * VECTOR)
    return trace_of(warps)


def _brim(warp: WarpProgram, size: int, at: int) -> None:
    """A vector, a store whose last byte is the one before it or its first one, and the vector again."""
    data = list(range(LAST - 3, LAST - 3 + max(1, size // 4)))
    for register, last in ((FIRST, at - 1), (FIRST + 2, at + size - 1 if size <= 4 else at + 3)):
        warp.load(register, PAIR, at)
        warp.store(PAIR, data, last + 1 - size, size, LONE)
        warp.load(register + 1, PAIR, at)


def starved_trace() -> Trace:
    """A warp whose loads are made of two rows, one right behind the other, and others whose results take every bank.

    For machines of ``STEP`` lanes.
    """
    warps = _warps(WARPS, Memory())
    first, *others = warps
    for turn in range(8):
        at, into = 2 * turn * VECTOR, FIRST + 6 * turn
        sources = (at, at + 4 * STEP, at + VECTOR, at + VECTOR + 4 * STEP)
        for register, source in enumerate(sources, into):
            first.load(register, PAIR, source)
        first.get(into, into + 1)
        first.get(into + 2, into + 3)
        _together(warps)
        for register, source in enumerate(sources[::2], into + len(sources)):
            first.load(register, PAIR, source + 4)
        for number, warp in enumerate(others):
            _put(warp, turn, range(FIRST + number % 2, LAST, 2))
        _together(warps)
        first.get(into, into + 1)
        first.get(into + 2, into + 3)
    return trace_of(warps)


def pending_trace() -> Trace:
    """Two warps load vectors that two others have asked for and not got, in either order."""
    warps = _warps(WARPS, Memory())
    for turn in range(8):
        first, second, *others = warps[turn % WARPS :] + warps[: turn % WARPS]
        vectors = (2 * turn * VECTOR, (2 * turn + 1) * VECTOR)
        for warp, vector in zip((first, second), vectors, strict=True):
            warp.load(FIRST, PAIR, vector)
        _together(warps)
        for warp, vector in zip(others, vectors if turn % 2 else vectors[::-1], strict=True):
            warp.load(FIRST, PAIR, vector)
        _together(warps)
        for warp in warps:
            warp.get(FIRST)
        _together(warps)
    return trace_of(warps)


def far_trace() -> Trace:
    """Loads from where one bit above the low 32 is another one: by the offset, and by the registers of the address."""
    (warp,) = _warps(1, Memory())
    for bit in UPPER_BITS:
        for offset in (0, 1 << bit):
            warp.load(FIRST, PAIR, offset)
        warp.address(PAIR[0], BASE + (1 << bit))
        warp.load(FIRST, PAIR)
        warp.address(PAIR[0], BASE)
    warp.get(FIRST)
    return trace_of([warp])


def beside_trace() -> Trace:
    """In every row a vector, and behind each one that is made of it and of the one before.

    For machines of ``STEP`` lanes. One warp after the other, so that entries are there when they are asked for.
    """
    warps = _warps(WARPS, Memory(), 0x100000)
    for warp in warps:
        for number, register in enumerate(range(FIRST, LAST)):
            warp.load(register, PAIR, 4 * STEP * number)
            warp.get(register)
            if number:
                warp.load(LAST, PAIR, 4 * STEP * (number - 1) + 4)
        _together(warps)
    for warp in warps:
        for register in range(FIRST, LAST + 1):
            warp.get(register)
    return trace_of(warps)


def twins_trace(entries: int = 8) -> Trace:
    """A vector that has two entries, of two lanes and of three, ``gap`` apart, and one beside it that both have.

    In a table of so many entries the two are in every place. For machines of ``STEP`` lanes.
    """
    memory = Memory()
    warps = [WarpProgram(memory, mask * 0x11111111) for mask in (3, 7, 3, 15)]
    for warp in warps:
        warp.address(PAIR[0], BASE + VECTOR)
    two, three, asks, fills = warps
    for turn, (skipped, gap) in enumerate(itertools.product(range(entries), range(1, entries))):
        at = 0x1000 * (turn + 1)
        others = iter(range(FIRST, FIRST + 2 * entries))
        for warp, before, apart in ((two, skipped, 0x400), (three, gap - 1, 0x800)):
            for number, register in zip(range(before), others, strict=False):
                fills.load(register, PAIR, at + apart + VECTOR * number)
            _together(warps)
            warp.load(LAST, PAIR, at)
            warp.get(LAST)
            _together(warps)
        for offset in (4, -4):
            asks.load(LAST, PAIR, at + offset)
            asks.get(LAST)
        _together(warps)
        for warp in (two, three):
            warp.get(LAST)
        for register in range(FIRST, FIRST + 2 * entries):
            fills.get(register)
    return trace_of(warps)

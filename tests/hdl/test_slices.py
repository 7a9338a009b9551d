"""Sizes of values, slices, packers and unpackers."""

from __future__ import annotations

import random

import pytest
from amaranth import Module, Signal

from tests.hdl.rf.packed.bench import run, size_of, unpack
from warpfile.hdl.slices import (
    first_slices,
    high_slices,
    low_slices,
    mask_size,
    needs_more,
    packed,
    slices_from,
    unpacked,
    way_in,
    way_out,
)
from warpfile.hdl.slices import size_of as hardware_size

MASKS = [(1 << size) - 1 << anchor for size in range(1, 5) for anchor in range(5 - size)]
#: Of docs/schemes/corf.md, section 13.
WIDTHS = {
    0x7F: 1,
    0x80: 2,
    0xFF: 2,
    0xFFFFFFFF: 1,
    0xFFFFFF80: 1,
    0xFFFFFF7F: 2,
    0x7FFF: 2,
    0x8000: 3,
    0xFFFF8000: 2,
    0xFFFF7FFF: 3,
    0x7FFFFF: 3,
    0x800000: 4,
    0xFF800000: 3,
    0xFF7FFFFF: 4,
    0x80000000: 4,
    0x3F800000: 4,
}


def test_widths_are_those_of_the_page() -> None:
    m = Module()
    word, size = Signal(32), Signal(4)
    m.d.comb += size.eq(hardware_size(needs_more(word)))

    async def bench(ctx) -> None:
        for value, expected in WIDTHS.items():
            ctx.set(word, value)
            assert ctx.get(size) == 1 << expected - 1 == 1 << size_of(value) - 1, hex(value)

    run(m, bench, clocked=False)


@pytest.mark.parametrize("lanes", [(5, -3, 200), (200, 5, -3), (-3, 200, 5)])
def test_the_widest_lane_decides_whatever_the_signs(lanes: tuple[int, ...]) -> None:
    m = Module()
    words, size = Signal(96), Signal(4)
    more = [needs_more(words.word_select(lane, 32)) for lane in range(3)]
    m.d.comb += size.eq(hardware_size(more[0] | more[1] | more[2]))

    async def bench(ctx) -> None:
        ctx.set(words, sum((value & 0xFFFFFFFF) << 32 * at for at, value in enumerate(lanes)))
        assert ctx.get(size) == 0b10

    run(m, bench, clocked=False)


def test_what_is_packed_is_unpacked_again() -> None:
    m = Module()
    word, mask, row, back = Signal(32), Signal(4), Signal(32), Signal(32)
    m.d.comb += [row.eq(packed(word, way_in(mask))), back.eq(unpacked(m, row, way_out(mask)))]
    numbers = random.Random(2)

    async def bench(ctx) -> None:
        for slices in MASKS:
            ctx.set(mask, slices)
            for bits in (3, 7, 8, 15, 16, 23, 24, 31, 32):
                value = numbers.getrandbits(bits) ^ numbers.getrandbits(1) * 0xFFFFFFFF
                if size_of(value) > slices.bit_count():
                    continue
                ctx.set(word, value)
                assert ctx.get(back) == value == unpack(ctx.get(row), slices)
        ctx.set(mask, 0)
        assert ctx.get(back) == 0

    run(m, bench, clocked=False)


def test_slices_of_a_size_are_where_they_should_be() -> None:
    m = Module()
    size, anchor, mask, free = Signal(4), Signal(2), Signal(4), Signal(4)
    low, high, at, found = (Signal(4, name=name) for name in ("low", "high", "at", "found"))
    first, last = Signal(4), Signal(4)
    m.d.comb += [low.eq(low_slices(size)), high.eq(high_slices(size)), at.eq(slices_from(size, anchor))]
    m.d.comb += [found.eq(mask_size(mask)), first.eq(first_slices(m, free, size))]
    m.d.comb += last.eq(first_slices(m, free, size, highest=True))

    async def bench(ctx) -> None:
        for count in range(1, 5):
            ctx.set(size, 1 << count - 1)
            fits = [(1 << count) - 1 << place for place in range(5 - count)]
            assert (ctx.get(low), ctx.get(high)) == (fits[0], fits[-1])
            for place, expected in enumerate(fits):
                ctx.set(anchor, place)
                ctx.set(mask, expected)
                assert ctx.get(at) == expected and ctx.get(found) == 1 << count - 1
            for room in range(16):
                ctx.set(free, room)
                there = [one for one in fits if not one & ~room] or [0]
                assert (ctx.get(first), ctx.get(last)) == (there[0], there[-1])
        ctx.set(mask, 0)
        assert ctx.get(found) == 0

    run(m, bench, clocked=False)

"""Proofs of width detectors, packers and unpackers, for all values."""

from amaranth import Cat, Module, Signal
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from tests.formal.properties import Miswired, Proof, Properties, at_most_one
from warpfile.hdl.slices import (
    SLICES,
    WAY_IN,
    WAY_OUT,
    mask_size,
    needs_more,
    packed,
    size_of,
    slices_from,
    unpacked,
    way_in,
    way_out,
)

LANES = 2


class Detector(wiring.Component):
    """The size of a value of a few lanes, of which some count."""

    lanes: In(data.ArrayLayout(32, LANES))
    mask: In(LANES)
    size: Out(SLICES)

    def elaborate(self, platform) -> Module:
        m = Module()
        more = [needs_more(lane) & self.mask[at].replicate(SLICES - 1) for at, lane in enumerate(self.lanes)]
        m.d.comb += self.size.eq(size_of(more[0] | more[1]))
        return m


class Packing(wiring.Component):
    """A lane through a packer, a row in which the other slices are somebody else's, and an unpacker."""

    word: In(32)
    mask: In(SLICES)
    others: In(32)
    back: Out(32)

    def elaborate(self, platform) -> Module:
        m = Module()
        ways = Signal(WAY_IN), Signal(WAY_OUT)
        m.d.comb += [ways[0].eq(way_in(self.mask)), ways[1].eq(way_out(self.mask))]
        own = Cat(bit.replicate(8) for bit in self.mask)
        row = Signal(32)
        m.d.comb += row.eq((packed(self.word, ways[0]) & own) | (self.others & ~own))
        m.d.comb += self.back.eq(unpacked(m, row, ways[1]))
        return m


def fits(word, count: int):
    """Whether a word is the sign extension of its lowest bytes."""
    return word == Cat(word[: 8 * count], word[8 * count - 1].replicate(32 - 8 * count))


class SizeProperties(Properties):
    """Any lanes, any mask."""

    def check(self, m, part):
        for count in range(1, SLICES + 1):
            enough = [~part.mask[at] | fits(lane, count) for at, lane in enumerate(part.lanes)]
            said = part.size[:count].any()
            m.d.comb += Assert(said == (enough[0] & enough[1]), "a size is enough if every lane that counts fits it")
            m.d.comb += Cover(part.size[count - 1] & part.mask.all(), f"{count} bytes")
        m.d.comb += Assert(at_most_one(part.size) & part.size.any(), "there is one size")


class PackingProperties(Properties):
    """Any value, at any anchor of its size or of a larger one."""

    def check(self, m, part):
        size, legal = Signal(SLICES), Signal()
        m.d.comb += size.eq(mask_size(part.mask))
        places = [
            part.mask == ((1 << count) - 1) << at for count in range(1, SLICES + 1) for at in range(SLICES + 1 - count)
        ]
        m.d.comb += [legal.eq(Cat(places).any()), Assume(legal | ~part.mask.any())]
        narrow = Cat(size[count - 1] & fits(part.word, count) for count in range(1, SLICES + 1)).any()
        m.d.comb += [
            Assert(~narrow | (part.back == part.word), "a packed value is unpacked again"),
            Assert(part.mask.any() | (part.back == 0), "a value without a place is zero"),
            Assert(~legal | (size.any() & at_most_one(size)), "slices tell their size"),
            Cover(narrow & part.word[31] & (part.mask == 0b0110), "two bytes in the middle, negative"),
        ]
        lowest = (part.mask & -part.mask)[:SLICES]
        for at in range(SLICES):
            same = slices_from(size, at) == part.mask
            m.d.comb += Assert(~(legal & lowest[at]) | same, "size and anchor tell the slices")


PROOFS = (
    Proof(
        "hdl.slices",
        f"width of {LANES} lanes",
        lambda: SizeProperties(Detector()),
        {
            "a size is enough if every lane that counts fits it": lambda: SizeProperties(
                Miswired(Detector(), lanes=lambda value: value & ~(1 << 15))
            ),
            "there is one size": lambda: SizeProperties(Miswired(Detector(), size=lambda value: value & 7)),
        },
        reach=1,
    ),
    Proof(
        "hdl.slices",
        "packer and unpacker",
        lambda: PackingProperties(Packing()),
        {
            "a packed value is unpacked again": lambda: PackingProperties(
                Miswired(Packing(), word=lambda value: value ^ (1 << 7))
            ),
            "a value without a place is zero": lambda: PackingProperties(
                Miswired(Packing(), back=lambda value: value | 1)
            ),
        },
        reach=1,
    ),
)

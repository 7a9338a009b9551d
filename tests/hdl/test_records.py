"""Records of nets are what the netlist's names for their fields say, and bits are found in them by name."""

from __future__ import annotations

import pytest
from amaranth import Module, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.records import Bits, Elements, Record, flat, records
from warpfile.hdl.stamp import convert

PLACE = Record((("bank", Bits(1)), ("row", Bits(7))))
PLACES = Record((("e0", PLACE), ("e1", PLACE)))
BEAT = Record((("warp", Bits(3)), ("places", PLACES), ("sources", Elements(2, 6)), ("ok", Bits(2))))
_PLACE = data.StructLayout({"bank": 1, "row": 7})
_BEAT = data.StructLayout(
    {
        "warp": 3,
        "places": data.ArrayLayout(_PLACE, 2),
        "sources": data.ArrayLayout(unsigned(6), 2),
        "ok": data.ArrayLayout(unsigned(1), 2),
    }
)


class Part(wiring.Component):
    """A beat goes through a register, and its warp beside it."""

    def __init__(self) -> None:
        super().__init__({"beat": In(_BEAT), "places": In(data.ArrayLayout(_PLACE, 2)), "out": Out(_BEAT), "w": Out(3)})

    def elaborate(self, platform: object) -> Module:
        """Amaranth's hook."""
        m = Module()
        m.d.sync += self.out.eq(self.beat)
        m.d.comb += self.w.eq(self.beat.warp + self.places[1].row)
        return m


def test_records_are_the_layouts_of_the_part() -> None:
    found = records(convert(Part, "part"))["part"]
    assert found == {"beat": BEAT, "out": BEAT, "places": PLACES}


def test_a_net_of_which_bits_have_no_name_has_no_record() -> None:
    text = convert(Part, "part")
    assert "out" not in records(text.replace("  assign \\out.sources  = out[30:19];\n", ""))["part"]
    assert "out" in records(text.replace("  assign \\out.sources[0]  = out[24:19];\n", ""))["part"]


@pytest.mark.parametrize(
    ("high", "low", "path", "splits"),
    [
        (32, 0, "", False),
        (2, 0, ".warp", False),
        (1, 1, ".warp[1]", False),
        (18, 3, ".places", False),
        (18, 11, ".places.e1", False),
        (18, 12, ".places.e1.row", False),
        (13, 12, ".places.e1.row[1:0]", False),
        (12, 11, ".places.e1[1:0]", True),
        (30, 19, ".sources", False),
        (30, 25, ".sources[1]", False),
        (26, 25, ".sources[1][1:0]", False),
        (25, 24, "[25:24]", True),
        (32, 32, ".ok[1]", False),
        (4, 2, "[4:2]", True),
    ],
)
def test_bits_are_the_field_that_they_are(high: int, low: int, path: str, splits: bool) -> None:
    assert BEAT.width == 33
    assert (BEAT.path(high, low), BEAT.splits(high, low)) == (path, splits)
    named = path.rpartition(".")[2]
    assert (BEAT.part(high, low) is None) == (splits or ("[" in named and named != "sources[1]"))


def test_a_known_record_without_the_fields_of_elements_is_taken() -> None:
    less = Record((("warp", Bits(3)), ("places", Elements(2, 8)), *BEAT.fields[2:]))
    assert flat(BEAT, {less: "beat_t"}) == less
    assert flat(BEAT, {less: "beat_t", BEAT: "other_t"}) == flat(BEAT, {}) == BEAT

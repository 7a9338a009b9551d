"""Block diagrams say what is in a design and what is connected."""

from itertools import pairwise

import pytest
from amaranth import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.stamp import convert
from warpfile.hdl.verilog import verilog
from warpfile.schemes import SCHEMES, TOP
from warpfile.verilog.blocks import Diagram, diagram, modules, stem
from warpfile.verilog.generate import design
from warpfile.verilog.manifest import manifest
from warpfile.verilog.names import Names


class Delay(wiring.Component):
    """Eight bits, a cycle later."""

    a: In(8)
    y: Out(8)

    def elaborate(self, platform) -> Module:
        m = Module()
        m.d.sync += self.y.eq(self.a)
        return m


class Pair(wiring.Component):
    """Two delays in a row, the upper half beside them, and an adder."""

    a: In(8)
    y: Out(8)
    z: Out(4)
    total: Out(8)

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.first = first = Delay()
        m.submodules.second = second = Delay()
        m.d.comb += [
            first.a.eq(self.a),
            second.a.eq(Cat(first.y[:3], self.a[3:])),
            self.y.eq(second.y),
            self.z.eq(self.a[4:]),
            self.total.eq(first.y + self.a),
        ]
        return m


class Whole(wiring.Component):
    """A pair between the pins, and a delay behind the input that the pair hands through."""

    x: In(8)
    y: Out(8)
    late: Out(8)

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.pair = pair = Pair()
        m.submodules.behind = behind = Delay()
        m.d.comb += [pair.a.eq(self.x), self.y.eq(pair.y), behind.a.eq(Cat(pair.z, pair.total[:4]))]
        m.d.comb += self.late.eq(behind.y)
        return m


PAIR, FIRST, SECOND, BEHIND = (
    ("top.pair",),
    ("top.pair", "top.pair.first"),
    ("top.pair", "top.pair.second"),
    ("top.behind",),
)


@pytest.fixture(scope="module")
def text() -> str:
    return convert(Whole, "top", lambda _module: None, apart=True)


def edges(found: Diagram) -> dict[tuple[tuple[str, ...], tuple[str, ...]], dict[str, int]]:
    return {ends: dict(signals) for ends, signals in found.connections.items()}


def test_one_level_has_the_parts_of_the_top(text: str) -> None:
    found = diagram(modules(text), "top", 1)
    assert [(block.place, block.flip_flops, block.opened) for block in found.blocks] == [
        ((), 0, True),
        (BEHIND, 8, False),
        (PAIR, 16, False),
    ]
    assert edges(found) == {(PAIR, BEHIND): {"z": 4, "total": 4}}
    assert found.inputs == {PAIR: {"x": 8}} and found.outputs == {PAIR: {"y": 8}, BEHIND: {"late": 8}}


def test_two_levels_follow_bits_through_ports_joins_and_cuts(text: str) -> None:
    found = diagram(modules(text), "top", 2)
    assert edges(found) == {
        (FIRST, SECOND): {"y": 3},
        (FIRST, PAIR): {"y": 8},
        (PAIR, BEHIND): {"total": 4},
    }
    # x comes to all that reads a bit of it, through the pair's port too; z is x and ends behind it.
    assert found.inputs[FIRST] == {"x": 8} and found.inputs[SECOND] == {"x": 5} and found.inputs[PAIR] == {"x": 8}
    assert found.inputs[BEHIND] == {"x": 4}
    assert found.outputs == {SECOND: {"y": 8}, BEHIND: {"late": 8}}


def test_equal_parts_are_one_box_with_their_number() -> None:
    class Row(wiring.Component):
        a: In(8)
        y: Out(8)

        def elaborate(self, platform) -> Module:
            m = Module()
            stages = [Delay() for _ in range(3)]
            for index, stage in enumerate(stages):
                m.submodules[f"stage{index}"] = stage
            for before, behind in pairwise(stages):
                m.d.comb += behind.a.eq(before.y)
            m.d.comb += [stages[0].a.eq(self.a), self.y.eq(stages[2].y)]
            return m

    shared = verilog(Row(), "top").replace("\\top.stage0 ", "delay ")
    for index in (1, 2):
        shared = shared.replace(f"\\top.stage{index} ", "delay ")
    (own, box) = diagram(modules(shared), "top", 1).blocks
    assert own.place == () and (box.module, box.count, box.flip_flops) == ("delay", 3, 8)


@pytest.mark.parametrize("scheme", ["baseline", "bow", "ltrf"])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_boxes_hold_all_flip_flops_and_memories_of_the_manifest(scheme: str, levels: int) -> None:
    one = SCHEMES[scheme]
    cfg = one.configuration("tiny")
    component, text = design(one, cfg)
    facts = manifest(one, cfg, "tiny", component, text, Names.of(scheme, True, None, None), probes=(), files=[])
    found = diagram(modules(text), TOP, levels)
    times = {(): 1}
    for block in found.blocks:
        times[block.place] = block.count * times[block.place[:-1]]
    for what, kind in (("flip_flops", "flip_flops"), ("memory_bits", "memories")):
        drawn = sum(getattr(block, what) * times[block.place] for block in found.blocks)
        assert drawn == facts["storage_bits"][kind]["total"] > 0


def test_the_number_of_one_among_several_is_no_part_of_a_signal() -> None:
    assert stem("dispatch2") == "dispatch" and stem("result__payload") == "result" and stem("\\head0__warp") == "head"

"""Counts of designs that can be counted by hand, and of the baseline's repeated parts."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from warpfile.schemes import SCHEMES, TOP
from warpfile.spec.config import Config
from warpfile.spec.presets import PRESETS
from warpfile.spec.structure import LATCHES, RAMS
from warpfile.synth import area, timing, yosys
from warpfile.synth.area import AreaReport, access_times, critical_path, measure, report
from warpfile.synth.fanout import FanOut
from warpfile.synth.liberty import NAND2_UNITS, read_liberty
from warpfile.synth.overhead import NAND2_PER_BIT, has_latches, latched_overhead, overhead
from warpfile.synth.timing import CriticalPath, PathCell

SMALL = PRESETS["tiny"].config.replace(warps=2, register_names=16, rows=16, collectors=2, payload_bits=16)

FLIP_FLOPS = """\
module warpfile(clk, d, q);
  input clk; input [{last}:0] d; output reg [{last}:0] q;
  always @(posedge clk) q <= d;
endmodule
"""

AND_PAIRS = """\
module warpfile(a, b, y);
  input [7:0] a, b; output [7:0] y;
  part part0 (.a(a[3:0]), .b(b[3:0]), .y(y[3:0]));
  part part1 (.a(a[7:4]), .b(b[7:4]), .y(y[7:4]));
endmodule
module part(a, b, y);
  input [3:0] a, b; output [3:0] y;
  \\part.inner inner (.a(a), .b(b), .y(y));
endmodule
module \\part.inner (a, b, y);
  input [3:0] a, b; output [3:0] y;
  assign y = a & b;
endmodule
"""

CHAIN = """\
module warpfile(clk, a, b, y);
  input clk, b; input [15:0] a; output reg y;
  wire read;
  register_bank_ram ram (.clk(clk), .a(&a), .q(read));
  always @(posedge clk) y <= read ^ b;
endmodule
module register_bank_ram(clk, a, q);
  input clk, a; output reg q;
  always @(posedge clk) q <= a;
endmodule
"""


TREE = """\
module warpfile(a, y);
  input [15:0] a; output y;
  wire [3:0] found;
  part part0 (.a(a[3:0]), .y(found[0]));
  part part1 (.a(a[7:4]), .y(found[1]));
  part part2 (.a(a[11:8]), .y(found[2]));
  part part3 (.a(a[15:12]), .y(found[3]));
  assign y = &found;
endmodule
module part(a, y);
  input [3:0] a; output y;
  assign y = &a;
endmodule
"""


FOUR_LANES = """\
module warpfile(sources, banks, inputs);
  input [3:0] sources; input [255:0] banks; output [255:0] inputs;
  {lane} lane0 (.sources(sources), .banks(banks[63:0]), .inputs(inputs[63:0]));
  {lane} lane1 (.sources(sources), .banks(banks[127:64]), .inputs(inputs[127:64]));
  {lane} lane2 (.sources(sources), .banks(banks[191:128]), .inputs(inputs[191:128]));
  {lane} lane3 (.sources(sources), .banks(banks[255:192]), .inputs(inputs[255:192]));
endmodule
"""


def count(verilog: str, cfg: Config = SMALL) -> AreaReport:
    library = read_liberty()
    counts = yosys.synthesise(verilog, TOP, RAMS, library.text, levels=False).cells
    return report(counts, library, cfg, {}, real=False)


def levels_of(verilog: str) -> dict[str, int]:
    return yosys.synthesise(verilog, TOP, RAMS, read_liberty().text).levels


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[int, AreaReport]:
    """The small baseline with 4 and with 8 lanes."""
    folder = tmp_path_factory.mktemp("area")
    scheme = SCHEMES["baseline"]
    return {lanes: measure(scheme, SMALL.replace(lanes=lanes), cache=folder) for lanes in (4, 8)}


@pytest.mark.parametrize("bits", [1, 7])
def test_flip_flops_are_counted_one_by_one(bits: int) -> None:
    result = count(FLIP_FLOPS.format(last=bits - 1))
    assert (result.flip_flops, result.cells, result.nand2_equivalents) == (bits, bits, 6.0 * bits)


def test_one_more_flip_flop_is_seen_in_its_module_and_in_the_sum() -> None:
    small, large = (count(FLIP_FLOPS.format(last=last)) for last in (4, 5))
    assert large.flip_flops - small.flip_flops == 1
    assert large.storage_bits["flip_flops"] == {TOP: 6}


def test_a_part_below_a_repeated_part_is_counted_in_it() -> None:
    result = count(AND_PAIRS)
    part = next(module for module in result.modules if module.name == "part")
    assert (part.instances, part.cells, part.nand2_equivalents) == (2, 4, 6.0)
    assert (result.cells, result.nand2_equivalents) == (8, 12.0)
    assert {module.name for module in result.modules} == {TOP, "part"}


def test_levels_end_at_memories_and_registers() -> None:
    assert levels_of(CHAIN) == {TOP: 4, "": 4}
    assert levels_of(CHAIN.replace(".a(&a)", ".a(a[0])")) == {TOP: 1, "": 1}


def test_levels_of_modules_add_up_where_a_path_crosses_them() -> None:
    """Sixteen bits are a tree of four levels: two in each of four parts, two in the top that joins them."""
    assert levels_of(TREE) == {TOP: 2, "part": 2, "": 4}


def test_the_text_of_a_memory_is_not_counted() -> None:
    result = count(CHAIN)
    assert result.flip_flops == 1
    assert result.storage_bits["memories"] == {"register_bank_ram": SMALL.rows * SMALL.data_bits}


def test_a_design_that_yosys_refuses_says_why() -> None:
    with pytest.raises(yosys.YosysError, match=r"ERROR.*nothing"):
        count("module warpfile(a); input a; nothing part (.a(a)); endmodule")


@pytest.mark.check
def test_lanes_add_the_same_slices(measured: dict[int, AreaReport]) -> None:
    narrow, wide = measured[4], measured[8]
    slices = {"collector_lane", "write_lane", "crossbar_lane"}
    first = {module.name: module for module in narrow.modules}
    second = {module.name: module for module in wide.modules}
    for name in slices:
        assert second[name] == dataclasses.replace(first[name], instances=8)
        assert first[name].instances == 4


@pytest.mark.check
def test_the_operands_of_all_units_are_flip_flops(measured: dict[int, AreaReport]) -> None:
    for lanes, result in measured.items():
        bits = SMALL.collectors * SMALL.source_slots * lanes * 32
        assert result.storage_bits["flip_flops"]["collector_lane"] == bits


def test_memory_bits_are_those_of_the_banks(measured: dict[int, AreaReport]) -> None:
    for lanes, result in measured.items():
        assert result.memory_bits == SMALL.banks * SMALL.rows * lanes * 32


def test_logic_levels_do_not_depend_on_lanes(measured: dict[int, AreaReport]) -> None:
    assert measured[4].logic_levels == measured[8].logic_levels > 0


def test_a_report_is_the_sum_of_its_modules_and_survives_json(measured: dict[int, AreaReport]) -> None:
    facts = json.loads(json.dumps(measured[4].to_json()))
    assert AreaReport.from_json(facts) == measured[4]
    for field in ("cells", "flip_flops", "nand2_equivalents"):
        assert facts[field] == sum(module[field] * module["instances"] for module in facts["modules"])
    assert facts["flip_flops"] == sum(facts["storage_bits"]["flip_flops"].values())
    assert facts["tool"] == "Yosys 0.70" and facts["area_um2"] is None


def without_yosys(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Gets whether levels were asked for, of each synthesis that would have been."""
    asked: list[bool] = []

    def synthesise(*_: Any, levels: bool) -> yosys.Synthesis:
        asked.append(levels)
        return yosys.Synthesis({TOP: {"DFF": 3}}, {TOP: 4, "": 5} if levels else {})

    monkeypatch.setattr(yosys, "synthesise", synthesise)
    return asked


def test_a_remembered_result_needs_no_synthesis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = without_yosys(monkeypatch)
    cfg = SMALL.replace(lanes=1)
    first = measure(SCHEMES["baseline"], cfg, cache=tmp_path)
    assert measure(SCHEMES["baseline"], cfg, cache=tmp_path) == first and asked == [True]
    measure(SCHEMES["baseline"], cfg.replace(rows=32), cache=tmp_path)
    assert asked == [True, True]


def test_what_is_remembered_without_levels_is_not_enough_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = without_yosys(monkeypatch)
    found = [
        measure(SCHEMES["baseline"], SMALL.replace(lanes=1), cache=tmp_path, levels=levels)
        for levels in (False, True, False, True)
    ]
    assert asked == [False, True]
    assert [(one.logic_levels, one.modules[0].logic_levels) for one in found] == [(0, 0), (5, 4), (0, 0), (5, 4)]


@pytest.mark.parametrize("slots", [1, 2])
def test_no_more_syntheses_run_at_once_than_there_are_processors(slots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two are asked for; with two processors both run at once, which the barrier sees."""
    running: list[int] = []
    most, both = [0], threading.Barrier(slots)

    def work(*_: Any, levels: bool) -> yosys.Synthesis:
        running.append(1)
        most[0] = max(most[0], len(running))
        both.wait(10)
        time.sleep(0.05)  # a second one would come in
        running.pop()
        return yosys.Synthesis({TOP: {"DFF": 3}}, {"": 5})

    monkeypatch.setattr(area, "_SLOTS", threading.BoundedSemaphore(slots))
    monkeypatch.setattr(yosys, "synthesise", work)
    with ThreadPoolExecutor() as pool:
        both_done = [pool.submit(measure, SCHEMES["baseline"], SMALL.replace(lanes=1), cache=None) for _ in range(2)]
    assert all(one.result().flip_flops == 3 for one in both_done)
    assert most == [slots]


def test_a_remembered_path_needs_no_timing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cfg, asked = SMALL.replace(lanes=1), []
    found = CriticalPath(1.5, "", "a/Q", "b/D", (PathCell("a", "DFF", 0.3),), FanOut(40, 16, 3))
    monkeypatch.setattr(timing, "timer", lambda: "2.0")
    monkeypatch.setattr(timing, "critical_path", lambda *_, access_fo4: asked.append(access_fo4) or found)
    for _ in range(2):
        assert critical_path(SCHEMES["baseline"], cfg, NAND2_UNITS, cache=tmp_path) == found
    assert len(asked) == 1
    monkeypatch.setattr(timing, "timer", lambda: "3.0")
    critical_path(SCHEMES["baseline"], cfg, NAND2_UNITS, cache=tmp_path)
    assert len(asked) == 2


def test_memories_of_a_path_have_the_access_time_of_their_slices() -> None:
    """256 x 128 bits with a read and a write port: 0.144601 ns of CACTI, in its FO4 of 0.00317506 ns."""
    cfg = SCHEMES["baseline"].configuration("turing")
    assert access_times(cfg) == {"register_bank_ram": pytest.approx(0.144601 / 0.00317506, abs=1e-3)}
    table = access_times(SCHEMES["corf"].configuration("fermi"))
    assert table and set(table) == {"register_bank_ram", "renaming_table_ram"}
    # Nobody has priced such a bank, nor an array of operands as a memory.
    assert access_times(cfg.replace(rows=512)) is None
    assert access_times(SCHEMES["bow"].configuration("pascal", storage="memory")) is None


def test_overhead_weighs_memories_by_their_density(measured: dict[int, AreaReport]) -> None:
    base = measured[4]
    assert set(overhead(base, base)["total"].values()) == {0.0}
    grown = dataclasses.replace(base, nand2_equivalents=base.nand2_equivalents * 2)
    result = overhead(grown, base)
    assert result["logic"] == 1.0 and result["storage"] == 0.0
    for name, per_bit in NAND2_PER_BIT.items():
        memory = base.memory_bits * per_bit
        assert result["total"][name] == pytest.approx(
            base.nand2_equivalents / (base.nand2_equivalents + memory), abs=1e-4
        )


def test_small_memories_are_latches_and_banks_have_the_density() -> None:
    """ltrf has 128 slices of 8 x 128 bits in its cache, and two of 64 x 128 in its table; a latch is 3 NAND2.

    A clock gate is a latch and an AND of 1.5. One port reads: its trees have 7 and 63 multiplexers of 3.
    """
    names = ("ltrf", "baseline")
    ltrf, base = (SCHEMES[name].configuration("maxwell") for name in names)
    memories = [{name: ram.instances * ram.bits for name, ram in cfg.rams.items()} for cfg in (ltrf, base)]
    empty = AreaReport("", "", 0, 0, None, 1000.0, {"flip_flops": {}, "memories": memories[0]}, 0, ())
    beside = dataclasses.replace(empty, nand2_equivalents=500.0, storage_bits={"memories": memories[1]})
    found = latched_overhead((empty, ltrf), (beside, base), read_liberty())
    cache = 128 * (8 * (128 * 3 + 4.5) + 128 * 6 + 128 * 7 * 3)
    names_table = 2 * (64 * (128 * 3 + 4.5) + 128 * 6 + 128 * 63 * 3)
    assert found["logic"] == 1.0 and not found["noise"]
    assert memories[0]["register_bank_ram"] == memories[1]["register_bank_ram"]
    for name, bit in NAND2_PER_BIT.items():
        banks = memories[0]["register_bank_ram"] * bit
        assert found["total"][name] == pytest.approx((1000 + banks + cache + names_table) / (500 + banks) - 1, abs=1e-4)


def test_a_library_without_latches_has_no_such_form(tmp_path: Path) -> None:
    (tmp_path / "cells.lib").write_text(NAND2_UNITS.read_text())
    assert has_latches(read_liberty()) and not has_latches(read_liberty(tmp_path / "cells.lib"))


def test_small_differences_are_called_noise(measured: dict[int, AreaReport]) -> None:
    base = measured[4]
    for growth, noise in ((1.004, True), (1.006, False), (0.996, True), (0.99, False)):
        grown = dataclasses.replace(base, nand2_equivalents=base.nand2_equivalents * growth)
        assert overhead(grown, base)["noise"] is noise
    first, *others = base.modules
    for growth, noise in ((1.09, True), (1.11, False)):
        larger = dataclasses.replace(first, nand2_equivalents=first.nand2_equivalents * growth)
        found = overhead(dataclasses.replace(base, modules=(larger, *others)), base)["modules"]
        assert found[first.name]["noise"] is noise
        assert all(found[one.name]["logic"] == 0 for one in others if one.nand2_equivalents)


def test_slices_counted_once_agree_with_all_lanes_mapped_together() -> None:
    """Four real crossbar lanes: one mapped and multiplied, or all dissolved in the top and mapped as one."""
    text = SCHEMES["baseline"].verilog(SMALL, probes=False)
    lane = text[text.index("module crossbar_lane") :].partition("endmodule")[0] + "endmodule\n"
    apart = count(FOUR_LANES.format(lane="crossbar_lane") + lane)
    dissolved = "\\all.lane "  # a dotted name that does not begin with that of the top is not kept
    together = count(FOUR_LANES.format(lane=dissolved) + lane.replace("crossbar_lane", dissolved))
    assert {module.name for module in apart.modules} == {TOP, "crossbar_lane"}
    assert {module.name for module in together.modules} == {TOP}
    assert together.nand2_equivalents == pytest.approx(apart.nand2_equivalents, rel=0.005)


def test_every_baseline_module_text_is_emitted_once() -> None:
    text = SCHEMES["baseline"].verilog(SMALL, probes=False)
    names = yosys.module_names(text)
    assert len(names) == len(set(names))


def test_words_of_latches_are_counted_beside_the_cells() -> None:
    cfg = SCHEMES["bow"].configuration("tiny", lanes=1, storage="latches")
    words = cfg.warps * cfg.window_entries
    counts = {TOP: {"lane": 2, "DFF": 3}, "lane": {LATCHES: words // 2, "NAND2": 5}}
    found = report(counts, read_liberty(), cfg, {}, real=False)
    assert found.nand2_equivalents == 3 * 6 + 2 * 5 + words * 100.5
    assert found.flip_flops == 3 + words * 32
    assert found.storage_bits["memories"] == {}

"""Operand windows as a structure: bits of the reference design, what grows with lanes, edges of configurations."""

import re
from pathlib import Path

import pytest

from tests.warpfile.verilog.test_generate import lint
from warpfile.hdl.collectors.bow.collectors import Windows
from warpfile.hdl.collectors.bow.window import Window
from warpfile.hdl.stamp import convert
from warpfile.schemes import SCHEMES
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.bow import BowConfig
from warpfile.synth.netlist import instance_counts, read_modules

PAPER = {"warps": 32, "banks": 32, "rows": 64, "register_names": 256, "window": 3, "window_writes": "hints"}
SMALL = {"lanes": 1, "warps": 3, "rows": 16, "register_names": 32}


def config(preset, **changes):
    return BowConfig(**BowConfig.adapted({**PRESETS[preset].config.to_json(), **changes}))


def window_bits(cfg):
    """Flip-flops of one window by part; "" is what belongs to none."""
    modules = read_modules(convert(lambda: Window(cfg), "window"))
    return {name.partition(".")[2]: facts.flip_flops for name, facts in modules.items() if facts.flip_flops}


@pytest.mark.parametrize(("entries", "rank", "total"), [(12, 4, 7680), (6, 3, 3648)], ids=["full", "half"])
def test_tags_have_the_bits_of_the_reference_design_but_for_an_order_of_pairs_in_place_of_ranks(entries, rank, total):
    cfg = config("pascal", **PAPER, window_entries=entries)
    bits = window_bits(cfg)
    assert bits["ranks"] == entries * (entries - 1) // 2
    assert (bits["tags"] + rank * entries) * cfg.warps == total
    assert bits[""] == cfg.entry_bits  # the entry whose data arrive


def test_windows_that_write_through_need_neither_an_owed_bit_nor_states_for_dirty_values():
    cfg = config("pascal", **PAPER | {"window_writes": "through"}, window_entries=12)
    bits = window_bits(cfg)
    assert bits["tags"] == 12 * (20 - 4 - 2)


@pytest.mark.check
@pytest.mark.parametrize(("slots", "reference"), [(3, 97 - 16 - 4), (7, 97)])
def test_slots_have_the_bits_of_the_reference_design(slots, reference):
    """Up to fields of the frame: port and payload for an operation, the full flag, used sources, a count up to four."""
    cfg = config("pascal", **PAPER, window_entries=12, source_slots=slots)
    operation, valid = 12, 1
    ours = reference - operation - valid + 2 + cfg.payload_bits + 1 + slots + 1
    assert window_bits(cfg)["slots"] == 3 * ours + 2  # slot of the next beat


def collectors(**changes):
    return convert(lambda: Windows(config("tiny", **changes)), "collectors")


@pytest.fixture(scope="module")
def texts():
    """Windows of twelve entries, by the number of its lanes."""
    return {lanes: collectors(lanes=lanes, warps=2, window_entries=12, window_writes="hints") for lanes in (1, 8)}


def test_control_does_not_grow_with_lanes(texts):
    narrow, wide = (read_modules(texts[lanes]) for lanes in (1, 8))
    assert set(narrow) == set(wide)
    growing = {name for name in narrow if narrow[name].flip_flops != wide[name].flip_flops}
    assert growing == {"window.slots"}
    assert wide["window.slots"].flip_flops - narrow["window.slots"].flip_flops == 3 * 7  # execution masks
    counts = {lanes: instance_counts(modules, "collectors") for lanes, modules in ((1, narrow), (8, wide))}
    per_lane = {name for name in narrow if counts[8][name] == 8 * counts[1][name]}
    assert per_lane == {"window_lane", "dispatch_lane"}
    assert all(counts[8][name] == counts[1][name] for name in set(narrow) - per_lane)


def test_the_entries_of_a_window_hold_their_lanes(texts):
    modules = read_modules(texts[8])
    assert modules["window_lane"].flip_flops == 32 * 12
    assert instance_counts(modules, "collectors")["window_lane"] == 8 * 2
    assert not any(facts.memories for facts in modules.values())


def test_no_control_signal_is_as_wide_as_a_register(texts):
    window = re.search(r"(?ms)^module window\(.*?^endmodule", texts[8])
    assert max(int(high) + 1 for high in re.findall(r"\[(\d+):0\]", window[0])) < 8 * 32


def test_only_windows_that_write_back_are_writers_of_the_banks(texts):
    through = collectors(**SMALL, window_writes="through", window_entries=2)
    assert "engine_data" in texts[1] and "engine_data" not in through


EDGES = {
    "least": {"window": 2, "window_entries": 1, "source_slots": 1, "ports": 1, "warps": 1, "banks": 1},
    "most": {
        "window": 7,
        "window_writes": "back",
        "window_entries": 14,
        "source_slots": 8,
        "bank_ports": "1R1W",
        "bank_cycles": 3,
    },
    "rows": {"window": 4, "window_entries": 5, "source_slots": 2, "bank_skew": "row", "banks": 8, "bank_cycles": 2},
    "through": {"window": 3, "window_entries": 4, "window_writes": "through", "bank_cycles": 3},
}


@pytest.mark.check
@pytest.mark.parametrize("changes", EDGES.values(), ids=EDGES)
def test_configurations_at_the_edges_lint_clean(changes, tmp_path: Path):
    cfg, file = config("tiny", **SMALL | {"window_writes": "hints"} | changes), tmp_path / "design.v"
    file.write_text(SCHEMES["bow_wr"].verilog(cfg, probes=True))
    assert lint(file) == ""

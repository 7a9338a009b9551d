"""Caching collectors as a structure: the bits that it adds, what grows with lanes, and configurations at the edges."""

import re
from pathlib import Path

import pytest

from tests.warpfile.verilog.test_generate import lint
from warpfile.hdl.collectors.malekeh.collectors import CachingCollectors
from warpfile.hdl.stamp import convert
from warpfile.schemes import SCHEMES
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.malekeh import MalekehConfig
from warpfile.synth.netlist import instance_counts, read_modules

SMALL = {"lanes": 1, "warps": 3, "rows": 16, "interval": 20}


def config(preset, **changes):
    return MalekehConfig(
        **MalekehConfig.adapted({**PRESETS[preset].config.to_json(), **changes} | {"scheduler": "oldest"})
    )


def collectors(cfg):
    return convert(lambda: CachingCollectors(cfg), "collectors")


@pytest.fixture(scope="module")
def texts():
    """Preset turing's collectors, by the number of its lanes."""
    return {lanes: collectors(config("turing", lanes=lanes)) for lanes in (1, 8)}


@pytest.fixture(scope="module")
def turing(texts):
    return {lanes: read_modules(text) for lanes, text in texts.items()}


def in_units(modules):
    return sum(facts.flip_flops for name, facts in modules.items() if name.split(".")[0] == "caching_unit")


@pytest.mark.check
def test_a_unit_adds_the_papers_128_bits_and_12_for_order_and_valid_bits_to_what_a_collector_unit_holds(turing):
    cfg = config("turing", lanes=1)
    assert (cfg.source_slots, cfg.unit_entries, cfg.collectors) == (8, 8, 2)
    entries = 8 * (8 + 1 + 1)  # tag, lock, near
    order = 8 * 7 // 2  # a bit per pair of entries, where the paper has 3 per entry
    valid = 8  # an entry has a register
    slots = 8 * 3  # entry of each source
    beat = cfg.warp_bits + cfg.port_bits + cfg.register_bits + 3 + cfg.lanes + cfg.payload_bits
    place = cfg.bank_bits + cfg.row_bits + (cfg.register_bits - cfg.bank_bits) + 1  # with what is added to a row
    known = 1 + beat + cfg.source_slots * (place + 3)  # busy; per slot place and progress
    apart = 1 + 1 + 4  # owned; full and near bits of the destinations, which travel with the beat
    assert entries + slots + 8 * 3 == 128
    assert in_units(turing[1]) == known + apart + entries + slots + order + valid


def test_what_is_not_in_the_units_has_the_stated_bits(turing):
    modules, cfg = turing[1], config("turing", lanes=1)
    bits = {name.rpartition(".")[2]: facts.flip_flops for name, facts in modules.items()}
    assert (bits["lfsr0"], bits["lfsr1"], bits["allocator"]) == (8, 8, 7)
    assert (bits["departures"], bits["ages"]) == (1, 1)
    count = 14  # 10,000 cycles
    assert bits["wait_threshold"] == 3 + 6 + 3 * count
    assert bits["collectors"] == 0
    assert bits["caching_lane"] == 32 * cfg.unit_entries


def test_control_does_not_grow_with_lanes(turing):
    narrow, wide = turing[1], turing[8]
    assert set(narrow) == set(wide)
    assert in_units(wide) - in_units(narrow) == 7  # the held execution mask
    counts = {lanes: instance_counts(modules, "collectors") for lanes, modules in turing.items()}
    per_lane = {name for name in narrow if counts[8][name] == 8 * counts[1][name]}
    assert per_lane == {"caching_lane", "dispatch_lane"}
    assert all(counts[8][name] == counts[1][name] for name in set(narrow) - per_lane)


@pytest.mark.check
@pytest.mark.parametrize(
    "changes",
    [
        {"unit_entries": 2, "source_slots": 1, "collectors": 1, "ports": 1},
        {"unit_entries": 16, "source_slots": 8, "collectors": 3, "bank_ports": "1R1W", "bank_cycles": 3},
        {"unit_entries": 4, "source_slots": 3, "wait_control": "fixed", "banks": 1, "bank_cycles": 2},
        {
            "unit_entries": 4,
            "source_slots": 4,
            "collectors": 8,
            "register_names": 256,
            "rows": 512,
            "wait_step": 31,
            "interval": 2,
        },
    ],
    ids=["least", "most", "fixed_wait", "short_intervals"],
)
def test_configurations_at_the_edges_lint_clean(changes, tmp_path: Path):
    cfg, file = config("tiny", **SMALL | changes), tmp_path / "design.v"
    file.write_text(SCHEMES["malekeh"].verilog(cfg, probes=True))
    assert lint(file) == ""


def test_a_fixed_threshold_counts_no_beats():
    modules = read_modules(collectors(config("tiny", **SMALL, unit_entries=2, wait_control="fixed", wait_threshold=5)))
    assert modules["collectors.wait_threshold"].flip_flops == 5  # the cycles of an interval, 20


def test_the_data_of_a_unit_are_chosen_lane_by_lane(texts):
    assert len(re.findall(r"(?m)^  caching_lane \S+ \(", texts[8])) == 8 * 2
    unit = re.search(r"(?ms)^module caching_unit\(.*?^endmodule", texts[8])
    widths = [int(high) + 1 for high in re.findall(r"\[(\d+):0\]", unit[0])]
    assert max(widths) < 8 * 32

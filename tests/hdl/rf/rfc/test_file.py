"""The register file with a cache as a structure: the bits of its parts, what grows with lanes, edges."""

import re
from pathlib import Path

import pytest

from tests.warpfile.verilog.test_generate import lint
from warpfile.hdl.rf.rfc.file import CachedFile
from warpfile.hdl.stamp import convert
from warpfile.schemes import SCHEMES
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.rfc import RfcConfig
from warpfile.synth.netlist import instance_counts, read_modules

SMALL = {"lanes": 1, "warps": 3, "rows": 16, "active_warps": 2}


def config(preset, **changes):
    return RfcConfig(**RfcConfig.adapted({**PRESETS[preset].config.to_json(), **changes} | {"scheduler": "two_level"}))


def paper_config(lanes):
    return config("isca2011", lanes=lanes, warps=4, collectors=4)


def file(cfg):
    return convert(lambda: CachedFile(cfg), "file")


@pytest.fixture(scope="module")
def texts():
    """The paper's file with fewer warps and units, by the number of its lanes."""
    return {lanes: file(paper_config(lanes)) for lanes in (1, 4)}


@pytest.fixture(scope="module")
def paper(texts):
    return {lanes: read_modules(text) for lanes, text in texts.items()}


def bits(modules, cfg):
    """Flip-flops of every kind of part, all its instances together."""
    counts, sums = instance_counts(modules, "file"), {}
    for name, facts in modules.items():
        part = name.split(".")[0]
        sums[part] = sums.get(part, 0) + facts.flip_flops * counts[name]
    return sums


@pytest.mark.check
def test_the_parts_have_the_bits_of_the_paper(paper):
    cfg = paper_config(1)
    assert (cfg.active_warps, cfg.cache_entries, cfg.banks, cfg.write_queue) == (8, 6, 4, 4)
    held = bits(paper[1], cfg)
    tag = 1 + cfg.register_bits + 1 + 1 + cfg.pin_bits  # valid, register, dead, evict first, pins
    assert held["cache_tags"] == 8 * (6 * tag + 3)  # and the head of every place
    assert held["cache_lane"] == 48 * 32
    assert held["write_queue"] == 4 * (4 * cfg.row_bits + 4 + 2 * 4)  # rows, which are there, two pointers
    assert held["queue_lane"] == 4 * 4 * (32 + 1)
    base = cfg.place_bits + cfg.bank_bits + 1  # with the number modulo banks, and whether there was a warp
    assert held["file"] == cfg.warps * cfg.place_bits + 8 * base  # the steps of a cycle keep nothing


def test_lines_that_know_their_lanes_have_a_bit_more_per_lane():
    cfg = config("tiny", **SMALL, partial_results="lanes")
    held = bits(read_modules(file(cfg)), cfg)
    assert held["cache_lane"] == cfg.lines * 33
    assert held["queue_lane"] == cfg.banks * cfg.write_queue * 33


def test_lru_keeps_an_order_instead_of_a_head():
    cfg = config("tiny", **SMALL, cache_entries=4, replacement="lru")
    tag = 1 + cfg.register_bits + 1 + 1 + cfg.pin_bits
    assert bits(read_modules(file(cfg)), cfg)["cache_tags"] == 2 * (4 * tag + 4 * 3 // 2)


def test_without_lines_there_is_no_cache():
    cfg = config("tiny", **SMALL, cache_entries=0)
    modules = read_modules(file(cfg))
    assert not {"cache_tags", "cache_lane"} & set(modules)
    assert {"write_queue", "queue_lane", "crossbar_lane"} <= set(modules)


def test_control_does_not_grow_with_lanes(paper):
    narrow, wide = paper[1], paper[4]
    assert set(narrow) == set(wide)
    counts = {lanes: instance_counts(modules, "file") for lanes, modules in paper.items()}
    per_lane = {name for name in narrow if counts[4][name] == 4 * counts[1][name]}
    assert per_lane == {"cache_lane", "queue_lane", "crossbar_lane"}
    assert all(counts[4][name] == counts[1][name] for name in set(narrow) - per_lane)
    assert {name: facts.flip_flops for name, facts in narrow.items()} == {
        name: facts.flip_flops for name, facts in wide.items()
    }


def test_the_data_are_chosen_lane_by_lane(texts):
    for part in ("cache_tags", "write_queue", r"file\.directory", r"file\.writes"):
        module = re.search(rf"(?ms)^module \\?{part} ?\(.*?^endmodule", texts[4])
        assert "result_data" not in module[0]
    assert len(re.findall(r"(?m)^  cache_lane \S+ \(", texts[4])) == 4


@pytest.mark.check
@pytest.mark.parametrize(
    "changes",
    [
        {"cache_entries": 0, "source_slots": 1, "collectors": 1, "ports": 1, "write_queue": 1, "active_warps": 1},
        {"cache_entries": 1, "replacement": "lru", "bank_ports": "1R1W", "bank_cycles": 3, "banks": 1},
        {"cache_entries": 3, "replacement": "evict_first", "dead_bits": "ignored", "bank_cycles": 2, "write_queue": 3},
        {"cache_entries": 8, "active_warps": 5, "collect": "all", "allocation": "hinted", "suspend": "always"},
        {"cache_entries": 2, "warps": 1, "active_warps": 1, "collect": "one", "suspend": "never",
         "long_results": "allocate"},
    ],
    ids=["least", "one_line", "odd", "more_places_than_warps", "one_warp"],
)  # fmt: skip
def test_configurations_at_the_edges_lint_clean(changes, tmp_path: Path):
    scheme, design = SCHEMES["rfc"], tmp_path / "design.v"
    design.write_text(scheme.verilog(config("tiny", **SMALL | changes), probes=True))
    assert lint(design) == ""


def test_conversion_is_deterministic():
    cfg = config("tiny", **SMALL | {"warps": 2}, cache_entries=2, collectors=2)
    assert file(cfg) == file(cfg)

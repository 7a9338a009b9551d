"""Bits of the file as page and reference design count them, from the netlist."""

import re

import pytest

from tests.hdl.rf.ltrf.bench import config
from warpfile.hdl.rf.ltrf.file import PrefetchedFile
from warpfile.hdl.stamp import convert
from warpfile.spec.schemes.ltrf import STRUCTURES
from warpfile.synth.netlist import instance_counts, read_modules

SMALL = {"active_warps": 2, "warps": 4, "register_names": 16, "lanes": 2, "banks": 4}


def bits(cfg):
    """Of every structure by its name; what belongs to none under "rest"."""
    modules = read_modules(convert(lambda: PrefetchedFile(cfg), "warpfile.register_file"))
    found = {}
    for name, count in instance_counts(modules, "warpfile.register_file").items():
        memories = [("memory", name, memory.bits) for memory in modules[name].memories]
        registers = [("flip-flops", f"{name}.{one}", width) for one, width in modules[name].registers.items()]
        for kind, what, width in (*memories, *registers):
            fits = (one.name for one in STRUCTURES if one.kind == kind and re.match(one.registers, what))
            row = next(fits, "rest")
            found[row] = found.get(row, 0) + width * count
    return found


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {"address tables": 2 * 16 * 3, "working sets and livenesses of the warps": 4 * 16}),
        ({"control_block": "warps"}, {"address tables": 4 * 16 * 3}),
        (
            {"liveness": 1, "moved_back": "dirty"},
            {
                "working sets and livenesses of the warps": 2 * 4 * 16,
                "livenesses of the places": 2 * 16,
                "dirty registers": 2 * 16,
            },
        ),
        ({"interval_registers": 8}, {"address tables": 2 * 16 * 4, "free banks": 2 * 8}),
    ],
    ids=str,
)
def test_the_file_has_the_bits_of_the_page(changes, expected):
    cfg = config(**SMALL | changes)
    found = bits(cfg)
    banks = cfg.interval_registers
    same = {
        "cache": banks * 2 * 2 * 32,
        # By place and bank, valid and home for write-backs, and asked, too, for fills: main bank and row.
        "directory of what moves": 2 * banks * (1 + 2 + 4 + 2 + 2 + 4),
        # Valid, moves, register and bank of a step in by part; one bit for the direction of them all.
        "steps of the cycle before": 2 * (4 * (1 + 1 + 4 + cfg.cache_bank_bits) + 1),
        "registers of full loads": 2 * 16,
        "working sets of the places": 2 * 16,
        "staging registers": 2 * banks * 2 * 32,
        # Of a main bank, what is written and its lanes; of what was read all words of a lane but the first.
        "latches of the main banks": 4 * (2 * 32 + 2 + 1 * 32),
        "free banks": 2 * banks,
    }
    assert {name: found[name] for name in same | expected} == same | expected
    assert {name for name in ("livenesses of the places", "dirty registers") if name in found} <= set(expected)


@pytest.mark.parametrize("changes", [{}, {"control_block": "warps", "liveness": 1}], ids=str)
def test_the_sheet_counts_a_table_for_every_warp(changes):
    """Of the reference design: tables, offsets, vectors of 64 warps with 256 registers, queues of 8 places."""
    cfg = config(active_warps=8, warps=64, register_names=256, interval_registers=16, banks=16, lanes=32, **changes)
    published = {one.name: one.published(cfg) for one in STRUCTURES if one.published}
    expected = {
        "cache": 131_072,
        "address tables": 81_920,
        "warp offsets": 192,
        "working sets and livenesses of the warps": 16_384 * (1 + cfg.liveness),
        "free banks": 1_104,
        "pending registers": 2_048,
        "registers of full loads": 16_384,
        "staging registers": 16_384,
        "channels": 112,
    }
    assert published == expected
    block = ("address tables", "warp offsets", "working sets and livenesses of the warps")
    assert not cfg.liveness or sum(published[name] for name in block) == 114_880


@pytest.mark.regress
def test_the_netlist_has_the_papers_control_block_and_totals():
    """At the paper's size, one lane of 32 built: a minute."""
    size = {"active_warps": 8, "warps": 64, "register_names": 256, "interval_registers": 16, "banks": 16, "rows": 128}
    found = bits(config(**size, lanes=1, liveness=1, control_block="warps"))
    block = found["address tables"] + found["working sets and livenesses of the warps"]
    assert block == 114_880 - 192
    # The page's 480 bits of entries, whose steps of one place have one direction.
    assert found["steps of the cycle before"] == 480 - 32 + 8
    assert (found["directory of what moves"], found["free banks"]) == (3_200, 128)
    assert 32 * found["cache"] == 131_072

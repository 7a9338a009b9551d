"""Bits of the register hierarchy, as docs/schemes/shrf.md, section 10, counts them, from the netlist."""

import pytest

from tests.hdl.rf.shrf.bench import config
from warpfile.hdl.collectors.units.collectors import Units
from warpfile.hdl.rf.banked.file import BankedFile
from warpfile.hdl.rf.shrf.file import LeveledFile
from warpfile.hdl.stamp import convert
from warpfile.schemes import find
from warpfile.synth.netlist import instance_counts, read_modules


def bits(build, top):
    """Flip-flops of every kind of part, all its instances together."""
    modules = read_modules(convert(build, top))
    counts, sums = instance_counts(modules, top), {}
    for name, facts in modules.items():
        part = name.split(".")[-1]
        sums[part] = sums.get(part, 0) + facts.flip_flops * counts[name]
    return sums


@pytest.mark.check
def test_the_parts_have_the_bits_of_the_page():
    cfg = find("shrf").configuration("isca2011", lanes=1)
    assert (cfg.active_warps, cfg.orf_entries, cfg.lrf, cfg.collectors, cfg.bank_cycles) == (8, 3, "split", 4, 1)
    held = bits(lambda: LeveledFile(cfg), "file")
    assert held["operand_file_lane"] == 8 * 3 * 32
    assert held["last_result_lane"] == 3 * 8 * 32
    assert held["place_entries"] == 8 * 6  # one bit per entry: to be written
    assert held["brings"] == 1 + 8 + 3 + 12 + 1  # valid, place one-hot, entry, slot, lanes
    assert held.get("head_hold", 0) == held.get("targets", 0) == 0


def test_a_unit_adds_three_fields_per_slot():
    known = bits(lambda: Units(config(orf_entries=0, lrf="none")), "units")["collector_unit"]
    cfg = config(orf_entries=3, lrf="split")
    added = cfg.source_slots * (1 + 1 + (cfg.place_entries - 1).bit_length()) + cfg.result_entry_bits + 1
    assert bits(lambda: Units(cfg), "units")["collector_unit"] == known + cfg.collectors * added
    cfg = config(orf_entries=0, lrf="one")
    added = cfg.source_slots * (1 + 1) + cfg.result_entry_bits + 1  # nothing is brought
    assert bits(lambda: Units(cfg), "units")["collector_unit"] == known + cfg.collectors * added


def test_without_entries_it_is_the_file_of_the_baseline():
    off = config(orf_entries=0, lrf="none")
    assert convert(lambda: LeveledFile(off), "file") == convert(lambda: BankedFile(off), "file")


@pytest.mark.parametrize(("orf", "lrf"), [(0, "none"), (0, "split"), (2, "none"), (1, "one")])
def test_files_without_entries_are_not_there(orf, lrf):
    modules = read_modules(convert(lambda: LeveledFile(config(orf_entries=orf, lrf=lrf)), "file"))
    assert ("operand_file_lane" in modules) == (orf > 0)
    assert ("last_result_lane" in modules) == (lrf != "none")
    assert ("place_entries" in modules) == (orf > 0 or lrf != "none")

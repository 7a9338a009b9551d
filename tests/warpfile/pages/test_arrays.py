"""The page of memories and small arrays: what it counts, and its totals worked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.synth.test_built import CELLS, FLIP_FLOP, GATE, LATCH, MUX2, MUX4
from warpfile.pages import arrays
from warpfile.pages.arrays import Part, parts
from warpfile.schemes import SCHEMES, find
from warpfile.synth.arrays import Array, read_array_prices
from warpfile.synth.built import DENSE_UM2, read_macros
from warpfile.synth.liberty import Liberty, read_liberty


@pytest.fixture
def sky(tmp_path: Path) -> Liberty:
    path = tmp_path / "sky.lib"
    path.write_text(CELLS)
    return read_liberty(path)


def area(scheme: str, form: str, library: Liberty) -> float:
    one = find(scheme)
    return arrays._arrays(one.configuration(one.preset), form, library, read_macros())


def test_a_machine_has_its_memories_in_slices_and_its_arrays_of_operands() -> None:
    """A bank of ltrf has eight slices, its table two; bow has 8 windows of 32 lanes, each 12 words of 32 bits."""
    found = {part.name: part for part in parts(find("ltrf").configuration("maxwell"))}
    assert found["register_cache_ram"] == Part("register_cache_ram", Array(8, 128, "1R1W"), 8, 16, False)
    assert found["register_table_ram"].slices == 2
    (window,) = (part for part in parts(find("bow").configuration("pascal")) if part.logic)
    assert (window.array, window.instances, window.bits) == (Array(12, 32, "3R2W"), 8 * 32, 8 * 12 * 1024)


@pytest.mark.parametrize("name", SCHEMES)
def test_slices_have_all_bits_of_the_memories(name: str) -> None:
    cfg = SCHEMES[name].configuration(SCHEMES[name].preset)
    memories = sum(ram.instances * ram.bits for ram in cfg.rams.values())
    assert sum(part.bits for part in parts(cfg) if not part.logic) == memories
    assert all(part.array in read_array_prices().arrays for part in parts(cfg) if not part.logic)


def test_banks_are_macros_and_windows_the_difference_of_two_forms(sky: Liberty) -> None:
    """bow: banks of 64 rows in latches; a window's lane has 12 latches and gates for flip-flops that hold."""
    bank = 64 * 128 * LATCH + 64 * GATE + 128 * FLIP_FLOP + 128 * 21 * MUX4
    # Two writing ports: three ways at every flip-flop, two at every latch. The trees are the same.
    lane = 12 * 32 * (LATCH + MUX2 - FLIP_FLOP - 2 * MUX2) + 12 * GATE + 2 * 32 * FLIP_FLOP
    assert area("bow", "latches", sky) == pytest.approx(8 * 8 * bank + 256 * lane)
    assert area("bow", "flip-flops", sky) == pytest.approx(8 * 8 * bank)
    assert area("bow", "0.94 Mb/mm2", sky) == pytest.approx(524_288 * DENSE_UM2)
    # Two banks of 256 rows: 256 x 1,024 bits of 23.28 um2 each.
    assert area("baseline", "latches", sky) == pytest.approx(2 * 256 * 1024 * 479.78 * 397.5 / 8192)


def test_small_memories_of_a_scheme_are_flip_flops_in_that_variant(sky: Liberty) -> None:
    """ltrf: 128 slices of its cache and two of its table, each with one reading port; banks stay macros."""
    cache = 8 * 128 * (FLIP_FLOP + MUX2) + 128 * (2 * MUX4 + MUX2)
    table = 64 * 128 * (FLIP_FLOP + MUX2) + 128 * 21 * MUX4
    banks = 16 * 128 * 1024 * 479.78 * 397.5 / 8192
    assert area("ltrf", "flip-flops", sky) == pytest.approx(banks + 128 * cache + 2 * table)
    assert area("ltrf", "latches", sky) < area("ltrf", "flip-flops", sky)


def test_the_page_has_a_row_for_every_array_and_every_scheme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sky: Liberty
) -> None:
    monkeypatch.setattr(arrays, "PAGE", tmp_path / "arrays.md")
    monkeypatch.setattr(arrays.tools, "find", lambda name: None)  # the library has no inverter to time
    assert arrays.main(["--liberty", str(tmp_path / "sky.lib")]) == 0
    text = (tmp_path / "arrays.md").read_text()
    assert "python -m warpfile.pages arrays --liberty sky.lib" in text
    wanted = sum(len(parts(one.configuration(one.preset))) for one in SCHEMES.values())
    lines = text[text.index("## Arrays") : text.index("## Machines")].splitlines()
    assert sum(line.startswith("| `") for line in lines) == wanted
    assert sum(line.startswith("| `") for line in text[text.index("## Machines") :].splitlines()) == len(SCHEMES) - 1


def test_without_a_library_it_says_what_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert arrays.main([]) == 1
    assert "needs --liberty FILE" in capsys.readouterr().out

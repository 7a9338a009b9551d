"""Energies of memories: worked by hand from three prices, and what a damaged file of prices says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from warpfile.schemes import PARTS, SCHEMES
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.structure import BANK_RAM, CACHE_RAM, TABLE_RAM, Ram
from warpfile.synth.arrays import (
    Array,
    ArrayPrice,
    ArrayPrices,
    RunEnergy,
    read_array_file,
    read_array_prices,
    run_energy,
    slices,
)

#: Slices of 128 bits: eight of a bank and of a bank of the cache, two of the table.
BANK, CACHE, TABLE = Array(128, 128, "1RW"), Array(8, 128, "1R1W"), Array(64, 128, "1R1W")
FO4 = 0.01


def price(read: float, write: float, leakage: float, area: float) -> ArrayPrice:
    return ArrayPrice(read, write, leakage, area, access_ns=0.25, cycle_ns=0.5, from_sizes="by hand")


def prices(**arrays: ArrayPrice) -> ArrayPrices:
    known = {"bank": BANK, "cache": CACHE, "table": TABLE}
    return sheet({known[name]: one for name, one in arrays.items()})


def sheet(facts: dict[Array, ArrayPrice]) -> ArrayPrices:
    return ArrayPrices("a sheet of paper", 22, 0.8, 360, "cells", "remark", FO4, facts)


#: Round numbers, so that sums can be followed.
ROUND = prices(bank=price(10, 20, 2, 0.5), cache=price(4, 5, 1, 0.25), table=price(1, 2, 0.5, 0.125))


def cost(name: str, cycles: int = 0, gigahertz: float = 1, at: ArrayPrices = ROUND, **counters: int) -> RunEnergy:
    """Memories of a scheme at its preset, after a run that counted this and nothing else."""
    scheme = SCHEMES[name]
    return run_energy(scheme, scheme.configuration(scheme.preset), Counter(counters), cycles, at, gigahertz)


def test_accesses_cost_their_prices() -> None:
    """ltrf: 16 banks, 16 banks of the cache, one table."""
    found = cost("ltrf", main_reads=3, main_writes=1, cache_reads=10, cache_writes=2, set_reads=4, set_writes=1)
    by_ram = {one.ram: one.dynamic for one in found.memories}
    # 8 x (3 x 10 + 1 x 20); 8 x (10 x 4 + 2 x 5); 2 x (4 x 1 + 1 x 2).
    assert by_ram == {BANK_RAM: 400, CACHE_RAM: 400, TABLE_RAM: 12}
    assert (found.dynamic, found.leakage, found.picojoules) == (812, 0, 812)


def test_whole_rows_are_a_variant() -> None:
    """One array of 1,024 bits in place of eight of 128: the prices of both are of different arrays."""
    cut = {Array(256, 128, "1R1W"): price(1, 1, 1, 1)}
    whole = replace(sheet({Array(256, 1024, "1R1W"): price(30, 40, 5, 6)}), slice_bits=None)
    slices = cost("baseline", 10, at=sheet(cut), bank_reads=2, bank_writes=1)
    rows = cost("baseline", 10, at=whole, bank_reads=2, bank_writes=1)
    assert (slices.dynamic, rows.dynamic) == (8 * 3, 2 * 30 + 40)
    # Two banks of eight slices, two banks of one array.
    assert (slices.leakage, rows.leakage) == (2 * 8 * 10, 2 * 5 * 10)
    assert [one.arrays for run in (slices, rows) for one in run.memories] == [16, 2]
    with pytest.raises(ValueError, match="no price for an array of 256x1024x1R1W"):
        cost("baseline", at=replace(sheet(cut), slice_bits=None))


@pytest.mark.parametrize(("width", "bits", "number"), [(128, 128, 1), (129, 65, 2), (160, 80, 2), (1024, 128, 8)])
def test_slices_are_of_equal_width_and_at_most_so_wide(width: int, bits: int, number: int) -> None:
    ram = Ram(256, width, "1RW", 2)
    assert (Array.of(ram), slices(ram)) == (Array(256, bits, "1RW"), number)
    assert (Array.of(ram, None), slices(ram, None)) == (Array(256, width, "1RW"), 1)


def test_the_word_that_is_read_comes_so_many_fo4_after_the_clock() -> None:
    """0.25 ns in units of 0.01 ns."""
    assert ROUND.clock_to_output_fo4(BANK) == pytest.approx(25)


def test_every_array_leaks_in_every_cycle() -> None:
    """8 x (16 x 2 + 16 x 1) + 2 x 0.5 = 385 mW; 1,000 cycles of 1 ns are 385,000 pJ, and of 0.5 ns half of it."""
    assert cost("ltrf", 1000).leakage == pytest.approx(385_000)
    assert cost("ltrf", 1000, 2).leakage == pytest.approx(192_500)
    # ltrf_plus has a second table.
    assert cost("ltrf_plus", 1000).leakage == pytest.approx(386_000)


def test_area_is_that_of_all_arrays() -> None:
    assert cost("ltrf").area_mm2 == pytest.approx(8 * (16 * 0.5 + 16 * 0.25) + 2 * 0.125)


def test_slices_with_an_address_each_are_arrays_of_one_access() -> None:
    """A bank of corf_plus is four arrays of two slices; fermi has two banks. The table costs nothing here."""
    scheme = SCHEMES["corf_plus"]
    cfg = scheme.configuration("fermi")
    table = Array(cfg.table_rows, cfg.mapping_bits, "2RW")  # type: ignore[attr-defined]
    free = price(0, 0, 0, 0)
    at = sheet({Array(256, 128, "1RW"): price(3, 7, 1, 1), table: free})
    found = run_energy(scheme, cfg, Counter(bank_reads=2, merges=1, bank_writes=1), 10, at)
    assert found.dynamic == 3 * (8 * 3) + 1 * (8 * 7)
    assert found.leakage == 2 * 8 * 10


def test_what_moves_between_banks_is_read_and_written() -> None:
    found = cost("pilot", bank_reads=5, bank_writes=1, migrated_pairs=2)
    # A pair is two registers.
    assert found.dynamic == 8 * ((5 + 4) * 10 + (1 + 4) * 20)


def test_what_is_no_memory_is_counted_and_not_priced() -> None:
    assert cost("ltrf", bank_reads=7, main_reads=2, cache_reads=1).unpriced == {
        "crossbar": 2,
        "collector_write": 7,
        "collector_read": 7,
    }
    at = sheet({Array(256, 128, "1R1W"): price(1, 1, 1, 1)})
    found = cost("rfc", at=at, bank_reads=2, cache_hits=3, cache_writes=4)
    # The cache of rfc is flip-flops; that of ltrf is SRAM.
    assert (found.dynamic, found.unpriced["cache_read"], found.unpriced["cache_write"]) == (16, 3, 4)


def test_runs_of_different_clocks_are_not_compared() -> None:
    slow, fast = cost("ltrf", 10), cost("ltrf", 10, 2)
    assert slow.over(slow) == 1
    assert slow.over(cost("ltrf")) is None
    with pytest.raises(ValueError, match="both runs must have one clock, not 1 and 2 GHz"):
        slow.over(fast)


@pytest.mark.parametrize("gigahertz", [0, -1, float("nan")])
def test_a_clock_must_be_above_zero(gigahertz: float) -> None:
    with pytest.raises(ValueError, match="gigahertz must be above 0"):
        cost("ltrf", 10, gigahertz)


def test_an_array_without_a_price_names_the_command_that_makes_it() -> None:
    with pytest.raises(
        ValueError, match=r"cacti has no price for an array of 8x128x1R1W: make cacti ARRAYS=8x128x1R1W"
    ):
        cost("ltrf", at=prices(bank=price(1, 1, 1, 1)))


def test_a_part_that_names_no_counters_is_refused() -> None:
    """Part of another package, say, that was written before memories had prices."""
    scheme = SCHEMES["baseline"]
    old = replace(scheme, name="old", rf=replace(PARTS["banked"], rams={}))
    at = sheet({Array(256, 128, "1R1W"): price(1, 1, 1, 1)})
    with pytest.raises(ValueError, match="old: rams must name the counters of register_bank_ram"):
        run_energy(old, scheme.configuration("turing"), Counter(), 1, at)


@pytest.mark.parametrize("name", SCHEMES)
def test_every_memory_has_counters_that_the_scheme_has(name: str) -> None:
    scheme = SCHEMES[name]
    cfg = scheme.configuration(scheme.preset)
    counted = scheme.golden(cfg, ProbeLayout(scheme.probes(cfg))).counters
    assert set(scheme.rams) == set(cfg.rams)
    assert {one for pair in scheme.rams.values() for names in pair for one in names} <= set(counted)


# The file of prices.

_NUMBERS = "read_pj = 1.5, write_pj = 2, leakage_mw = 3, area_mm2 = 4, access_ns = 5, cycle_ns = 6"
ARRAY = f'{{ rows = 64, width = 32, ports = "1RW", {_NUMBERS}, from_sizes = "64x32x1RW" }}'
GOOD = f"""source = "S"
node_nm = 22
volts = 0.8
kelvin = 360
cells = "C"
remark = "R"
fo4_ns = 0.02
arrays = [{ARRAY}]
"""


def test_a_file_of_prices_is_read(tmp_path: Path) -> None:
    (tmp_path / "good.toml").write_text(GOOD)
    found = read_array_prices(tmp_path / "good.toml")
    assert found.price(Array(64, 32, "1RW")) == ArrayPrice(1.5, 2, 3, 4, 5, 6, "64x32x1RW")
    assert (found.node_nm, found.cells, found.kelvin, found.fo4_ns) == (22, "C", 360, 0.02)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (GOOD, GOOD[:-8], "must be TOML"),
        ("read_pj = 1.5", "read_pj = 0", "array 1: read_pj must be a number above 0, not 0"),
        ("leakage_mw = 3", "leakage_mw = nan", "array 1: leakage_mw must be a number above 0, not nan"),
        ("cycle_ns = 6", "cycles = 6", "array 1: fields must be rows, width, ports, read_pj"),
        ("rows = 64", "rows = 6.4", "array 1: rows must be a whole number above 0, not 6.4"),
        (f"[{ARRAY}]", f"[{ARRAY}, {ARRAY}]", "array 2: 64x32x1RW must have one price, not two"),
        (f"[{ARRAY}]", "[]", "arrays must be a list with entries, not []"),
        ("kelvin = 360\n", "", "kelvin must be a whole number above 0, not None"),
        ("node_nm = 22", "node_nm = 22\nnode = 22", "fields must be source, node_nm"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path, old: str, new: str, what: str) -> None:
    path = tmp_path / "bad.toml"
    assert old in GOOD
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(ValueError) as error:
        read_array_prices(path)
    message = str(error.value)
    assert message.startswith(f"{path}: ") and what in message and "\n" not in message


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"none\.toml: No such file"):
        read_array_file(tmp_path / "none.toml")

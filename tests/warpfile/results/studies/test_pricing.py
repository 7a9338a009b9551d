"""Energies of a study: one set of prices for all rows, and none where a memory has no price."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.warpfile.results.studies.conftest import Sevens, answered, plan, ran
from warpfile.results.points import Outcome
from warpfile.results.studies.pricing import DEFAULT, cost, one_set, price_names, without
from warpfile.results.studies.table import Results
from warpfile.schemes import find
from warpfile.synth.arrays import Array, ArrayPrices, read_array_prices, slices

PAIR = {"schemes": ["bow", "baseline"], "presets": ["tiny"]}
#: Arrays are priced for 4 lanes and for those of a preset.
NARROW = {"set": {"lanes": 2}}


def test_memories_cost_their_accesses_and_what_they_leak() -> None:
    scheme, run, prices = find("baseline"), Outcome(100, 50, Sevens()), read_array_prices()
    cfg = scheme.configuration("tiny")
    (bank,) = cfg.rams.values()
    each, parts = prices.arrays[Array.of(bank)], slices(bank)
    found = cost(scheme, cfg, run, prices)
    leaked = each.leakage_mw * bank.instances * parts * 100
    assert found and found.leaked == pytest.approx(leaked)
    assert found.picojoules == pytest.approx(7 * parts * (each.read_pj + each.write_pj) + leaked)
    counts = {kind: 7 * len(names) for kind, names in scheme.accesses.items()}
    assert found.priced == pytest.approx((counts["bank_read"] + counts["bank_write"]) / sum(counts.values()))


def test_a_paper_is_asked_for_and_stands_alone() -> None:
    study = plan(PAIR, prices="rfc")
    rows = Results(study, answered(study)).rows
    assert {row["energy_prices"] for row in rows} == {"rfc"} and {row["energy_leakage_pj"] for row in rows} == {None}
    assert one_set("rfc").name == "rfc" and one_set(None).name == DEFAULT == price_names()[0]


def test_a_memory_without_a_price_has_no_energy_and_one_line_says_so() -> None:
    study = plan(PAIR, PAIR | NARROW)
    found = Results(study, answered(study))
    energies = {row["changes"]: (row["energy_pj"], row["energy_over_baseline"]) for row in found.rows}
    assert energies["lanes=2"] == (None, None) and None not in energies[""]
    (line,) = found.without_energy
    assert line.startswith("No energy for bow tiny lanes=2 and 1 more: cacti has no price of a memory")
    array = Array.of(next(iter(find("bow").configuration("tiny", lanes=2).rams.values())))
    assert line.endswith(f'make cacti ARRAYS="{array}"')


def test_a_machine_whose_baseline_has_no_price_has_an_energy_and_no_growth() -> None:
    study = plan({"schemes": ["corf"], "presets": ["turing"]})
    prices = read_array_prices()
    rest = {array: price for array, price in prices.arrays.items() if array.ports != "1R1W"}
    fewer = replace(prices, arrays=rest)
    (case,) = study.cases
    assert case.baseline and case.machine.design and case.baseline.machine.design
    row = Results(study, answered(study))._golden(case, fewer)
    assert row["energy_pj"] > 0 and row["energy_over_baseline"] is None and row["ipc_over_baseline"] == 1


def test_a_part_that_does_not_say_how_often_a_memory_is_asked_has_no_energy() -> None:
    scheme, prices = find("baseline"), read_array_prices()
    cfg = scheme.configuration("tiny")
    silent = replace(scheme, rf=replace(scheme.rf, rams={}))
    assert cost(silent, cfg, Outcome(100, 50, Sevens()), prices) is None
    (line,) = without({"mine": (silent, cfg), "ours": (scheme, cfg)}, prices)
    assert line == "No energy for mine: rams of the part must name the counters of its memories"


def test_where_all_has_a_price_nothing_is_said() -> None:
    study = plan(PAIR)
    assert Results(study, answered(study, bow=ran(80))).without_energy == []
    nothing = ArrayPrices(**{**vars(read_array_prices()), "arrays": {}})
    design = study.cases[0].machine.design
    assert design and list(without({"bow": (design.scheme, design.config)}, nothing))

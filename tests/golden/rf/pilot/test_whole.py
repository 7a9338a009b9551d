"""From a listing to the accesses of both parts, and the partitioned file under other collectors and schedulers."""

from __future__ import annotations

from functools import partial

import pytest

from tests.compiler.passes.pilot.test_annotate import config, example
from tests.golden.rf.pilot.scenario import run_pilot
from warpfile.golden.run import observations
from warpfile.schemes import SCHEMES
from warpfile.schemes.compose import find
from warpfile.sim.counters import ObservedCounters
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.pilot import PilotConfig
from warpfile.spec.stress import stress_trace
from warpfile.spec.workload import prepare


@pytest.mark.parametrize(
    ("profile", "pairs", "reads", "writes"),
    [
        ("none", [], (0, 7), (0, 6)),
        ("compiler", [(0, 4), (1, 9)], (1, 6), (1, 5)),
        ("oracle", [(0, 6), (1, 8)], (5, 2), (5, 1)),
    ],
)
def test_a_listing_decides_which_part_serves_its_registers(
    profile: str, pairs: list[tuple[int, int]], reads: tuple[int, int], writes: tuple[int, int]
) -> None:
    """The code names R4 and R9 most; its warp reads R8 and writes R6 five times, and R4 and R5 once."""
    cfg = config(profile=profile)
    assert isinstance(cfg, PilotConfig)
    model = run_pilot(cfg, SCHEMES["pilot"].annotated(cfg, example())).model
    assert model.file.homes.tables[0].pairs == pairs  # type: ignore[attr-defined]
    found = model.counters
    assert (found["fast_reads_high"] + found["fast_reads_low"], found["slow_reads"]) == reads
    assert (found["fast_writes_high"] + found["fast_writes_low"], found["slow_writes"]) == writes


@pytest.mark.parametrize("name", ["bow+pilot", "bow_wr+pilot", "malekeh+pilot", "bow_wr+pilot+two_level"])
def test_operands_and_counters_are_right_under_other_parts(name: str) -> None:
    scheme = find(name)
    cfg = scheme.configuration("tiny")
    trace = scheme.annotated(cfg, stress_trace(3, warps_per_cta=2, ctas=12, registers=12, length=15), loosened=1)
    layout = ProbeLayout(scheme.probes(cfg))
    machine, environment = scheme.golden(cfg, layout), Environment(cfg, prepare(cfg, trace), layout)
    observed = ObservedCounters(layout, partial(scheme.events, cfg))
    for word in observations(machine, environment):
        observed.add(word)
    assert machine.operands_checked
    assert machine.counters["warps_new_map"] and machine.counters["table_hits"]
    totals = {"bank_writes": environment.writes} | dict(observed.totals())
    assert {counter: machine.counters[counter] for counter in totals} == totals

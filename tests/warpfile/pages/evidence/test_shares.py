"""Shares that pages count, of counters made up by hand."""

from __future__ import annotations

import pytest

from warpfile.pages.evidence import bow, malekeh, pilot, rfc
from warpfile.pages.evidence.samples import Sample
from warpfile.results.points import Outcome, Run
from warpfile.schemes import find


def counted(**counters: int) -> Outcome:
    """Of a run of ten cycles."""
    return Outcome(10, 5, counters)


def test_windows_serve_reads_and_keep_results() -> None:
    run = counted(
        bypassed_reads=6, bank_reads=4, bypassed_writes=2, results=8, class_1=4, sources_3=1, beats=20, dispatches=5
    )
    assert (bow.reads_bypassed(run), bow.writes_bypassed(run)) == (0.6, 0.25)
    assert (bow.of_class(1)(run), bow.three_sources(run)) == (0.5, 0.05)
    assert bow.residency(counted(unit_cycles=15, dispatches=5)) == 3
    assert bow.waiting(counted(operand_waits=10, dispatches=5)) == 2
    assert bow.mostly_full(counted(occupancy_0=6, occupancy_6=3, occupancy_7=1)) == pytest.approx(0.1)


def test_units_hold_operands() -> None:
    run = Run(malekeh.UNITS, "divide")
    ours = Sample(run, counted(source_hits=5, sources=10, bank_reads=5))
    windows = Sample(run, counted(bypassed_reads=2, bank_reads=8))
    over = next(one.metric for one in malekeh.STATEMENTS if one.key == "hits-over-windows")
    assert malekeh.hit_ratio(ours.outcome) == 0.5 and over.of(ours, windows) == pytest.approx(0.3)
    assert malekeh.FORGETTING.counted
    assert malekeh.FORGETTING.counted.of(ours, windows) == pytest.approx(0.5 - ours.reuse.near(3, flushed=True))


def test_the_fast_part_serves_reads_and_writes_in_two_modes() -> None:
    fast = {"fast_reads_high": 3, "fast_reads_low": 2, "fast_writes_high": 1, "fast_writes_low": 0}
    run = counted(**fast, slow_reads=2, slow_writes=2, pilot_cycles=3)
    assert pilot.fast_share(run) == 0.6 and pilot.low_share(run) == pytest.approx(2 / 6)
    assert pilot.pilot_share(run) == 0.3


def test_a_register_cache_avoids_reads_and_writes() -> None:
    run = Run(rfc.BOTH, "divide")
    ours = Sample(run, counted(cache_hits=3, cache_misses=1, bank_reads=1, bank_writes=2))
    other = Sample(run, counted(bank_reads=4, bank_writes=8))
    assert rfc.reads_avoided(ours.outcome) == 0.75 and rfc.WRITES.of(ours, other) == 0.75
    assert rfc.ACCESSES.of(ours, other) == pytest.approx(3 / 12)
    assert (
        rfc.written_back(counted(evictions=2, flushes=3)) == 5
        and rfc.written_back(counted(evictions=0, flushes=0)) == 1
    )


def test_with_all_warps_active_none_is_suspended() -> None:
    points = {point for one in rfc.STATEMENTS for pair in one.pairs for point in (pair.point, pair.over)}
    configurations = [find(one.scheme).configuration(one.preset, **dict(one.changes)) for one in points]
    two_level = [cfg for cfg in configurations if cfg.scheduler == "two_level"]
    assert len(two_level) > 5
    assert all((cfg.suspend == "never") == (cfg.active_warps == rfc.WARPS) for cfg in two_level)

"""How steady a run was, by hand and against the machine's own sums."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from warpfile.output.display import silent
from warpfile.results.run import GoldenRun, golden_run
from warpfile.schemes import SCHEMES, find
from warpfile.spec.cta_dispatcher import CtaDispatcher, possible_warps
from warpfile.spec.probe import Probe, ProbeLayout
from warpfile.spec.steady import Steady, Watch
from warpfile.spec.stress import stress_trace
from warpfile.spec.workload import Workload, prepare
from warpfile.workloads.inputs import obtain_trace

LAYOUT = ProbeLayout(
    (
        Probe("launch", 1, "before"),
        Probe("started", 1, "kernels and launches are accepted"),
        *(Probe(name, 4, "mask of warps") for name in ("resident", "buffered", "clear", "waiting", "room")),
        Probe("after", 9, "behind"),
    )
)


def word(started: int = 1, **fields: int) -> int:
    return sum(value << LAYOUT.offset[name] for name, value in {"started": started, **fields}.items())


def watched(*words: int, possible: int = 4, launched: int = 9) -> Steady:
    watch = Watch(LAYOUT, possible, launched)
    for one in words:
        watch.add(one)
    return watch.sums


def test_resident_warps_are_counted_and_cycles_with_fewer_than_half_are_sparse() -> None:
    found = watched(*(word(resident=mask, after=511, launch=1) for mask in (0b0000, 0b0100, 0b0101, 0b1111)))
    assert (found.resident, found.sparse, found.cycles) == (0 + 1 + 2 + 4, 2, 4)
    assert (found.mean(found.resident), found.share) == (1.75, 0.5)


def test_an_eligible_warp_is_clear_has_room_and_waits_at_no_barrier() -> None:
    all_of_it = word(clear=0b1111, waiting=0b0010, room=0b0111, after=511)
    assert watched(all_of_it).eligible == 2
    for lacking in (word(clear=15), word(room=15), word(clear=15, room=15, waiting=15), word(resident=15, buffered=15)):
        assert watched(lacking).eligible == 0


def test_nothing_is_noted_before_the_machine_has_started() -> None:
    full = dict.fromkeys(("resident", "clear", "room"), 15)
    assert watched(word(started=0, **full), word(started=0)) == watched()
    assert watched(word(started=0), word(**full)) == watched(word(**full))


def test_a_run_measures_start_and_end_if_its_warps_fit_at_once_or_most_cycles_are_sparse() -> None:
    full, few = word(resident=15), word(resident=1)
    assert not watched(full, full, few, few, launched=5).starts
    assert watched(full, few, few, launched=5).starts
    assert watched(full, full, launched=4).starts


def small_run(name: str, seed: int = 3) -> GoldenRun:
    trace = stress_trace(seed, ctas=6, warps_per_cta=2, length=20, registers=8)
    return golden_run(find(name), find(name).configuration("tiny"), "tiny", trace, silent)


@pytest.mark.parametrize("name", SCHEMES)
def test_the_sums_of_a_run_are_those_that_its_model_counts(name: str) -> None:
    """The model counts resident warps from its own events; a beat issues only of a warp that is eligible."""
    run = small_run(name)
    assert run.steady and run.steady.cycles == run.cycles
    assert run.steady.resident == run.counters["resident_cycles"]
    assert run.counters["beats"] <= run.steady.eligible <= run.steady.resident
    assert run.steady.launched == 12 and 0 < run.steady.sparse < run.cycles
    without = run.counters["issue_idle"] + run.counters["issue_barrier"] + run.counters["issue_hazard"]
    assert run.steady.eligible <= (run.cycles - without) * run.config.warps


def filled(workload: Workload, run: GoldenRun) -> int:
    """Warps that the dispatcher launches before the first one ends."""
    dispatcher, count = CtaDispatcher(run.config, workload), 0
    while dispatcher.offer():
        dispatcher.accepted()
        count += 1
    return count


@pytest.mark.parametrize("seed", range(20))
def test_as_many_warps_are_possible_as_are_launched_before_the_first_one_ends(seed: int) -> None:
    rng = random.Random(seed)
    cfg = find("baseline").configuration("tiny", warps=rng.choice((4, 5, 8)), ctas=rng.choice((1, 2, 8)))
    trace = stress_trace(seed, ctas=16, warps_per_cta=rng.choice((1, 2, 3)), length=4, registers=rng.choice((4, 8)))
    trace = replace(trace, shared_bytes=rng.choice((0, cfg.shared_bytes // 3, cfg.shared_bytes)))
    workload = prepare(cfg, trace)
    run = replace(small_run("baseline"), config=cfg)
    assert possible_warps(cfg, workload) == filled(workload, run)


def test_a_launch_that_fits_at_once_is_one_that_measures_start_and_end() -> None:
    scheme = find("baseline")
    trace = obtain_trace("saxpy", "launch", None, silent)
    run = golden_run(scheme, scheme.configuration("turing"), "turing", trace, silent)
    assert run.steady and run.steady.starts == (run.steady.launched <= run.steady.possible)

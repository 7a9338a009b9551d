"""Hits, hints and values of operand windows over whole programs."""

from __future__ import annotations

import pytest

from tests.golden.collectors.bow.scenario import MODES, bow_config, bow_run, exactly_hinted, hinted
from tests.golden.collectors.bow.test_random import watch_bow
from tests.golden.machines import Baseline, Bow
from tests.golden.test_kernels import KERNELS
from warpfile.emulator.launch import load_kernel
from warpfile.emulator.run import execute
from warpfile.golden import StaleOperand
from warpfile.golden.collectors.bow.collectors import Windows
from warpfile.golden.run import simulate
from warpfile.schemes import SCHEMES
from warpfile.spec.environment import Environment
from warpfile.spec.presets import PRESETS
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.bow import BowConfig, WriteClass
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare

#: With all warps of every CTA, so that short traces fill the windows.
PASCAL = PRESETS["pascal"].config.replace(domains=1)


def expected_hits(cfg: BowConfig, trace: Trace) -> int:
    """Sources that are found in the window if nothing ever lacks an entry, from the program alone.

    A register is in the window while it was read, or wholly written, less than ``window`` beats ago; lanes are merged
    into it where it is, and go to the banks where it is not.
    """
    hits = 0
    for beats in prepare(cfg, trace).warps:
        last: dict[int, int] = {}
        for number, beat in enumerate(beats):
            if not beat.mask:
                continue
            near = {register for register, use in last.items() if number - use < cfg.window}
            hits += sum(register in near for register in beat.sources)
            last |= dict.fromkeys(beat.sources, number)
            for register in range(beat.dest, beat.dest + beat.dest_count):
                # An entry that the beat itself reads is there when its result comes back.
                if beat.full or register in near or register in beat.sources:
                    last[register] = number
    return hits


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("mode", ["through", "back"])
@pytest.mark.parametrize("window", [2, 3, 7])
def test_hits_are_those_of_the_program_where_no_entry_lacks(mode: str, window: int, profile: str) -> None:
    cfg = bow_config(PASCAL, window=window, window_entries=7 * window, window_writes=mode)
    trace = stress_trace(window, profile=profile, length=60)
    counters = bow_run(cfg, trace).model.counters
    assert counters["victims"] == counters["refusals"] == 0
    assert counters["bypassed_reads"] == expected_hits(cfg, trace)


@pytest.mark.parametrize("mode", MODES)
def test_a_kernel_runs_with_the_right_operands(mode: str) -> None:
    trace = execute(load_kernel(KERNELS / "bfs_step")).trace
    cfg = bow_config(PASCAL, window_writes=mode, window_entries=6)
    assert watch_bow(cfg, exactly_hinted(cfg, trace)).operands_checked > 100


@pytest.mark.parametrize("mode", MODES)
def test_as_many_operands_are_checked_as_in_the_baseline(mode: str) -> None:
    trace = stress_trace(2, profile="chain", length=60)
    layout = ProbeLayout(SCHEMES["baseline"].probes(PASCAL))
    baseline = Baseline(PASCAL, layout)
    simulate(baseline, Environment(PASCAL, prepare(PASCAL, trace), layout))
    cfg = bow_config(PASCAL, window_writes=mode)
    counters = (model := bow_run(cfg, exactly_hinted(cfg, trace)).model).counters
    assert model.operands_checked == baseline.operands_checked > 100
    assert counters["bank_reads"] + counters["bypassed_reads"] == baseline.counters["bank_reads"]
    if mode == "through":
        assert counters["bank_writes"] == baseline.counters["bank_writes"]
    else:
        assert counters["bank_writes"] < baseline.counters["bank_writes"]


class Trusting(Bow):
    """Takes every stored copy for what the trace expects."""

    class kind(Windows):
        def dispatch(self, port: int) -> list[int]:
            warp, number = self._offered[port]
            super().dispatch(port)
            entry = self.windows[warp].slots[number].entry
            assert entry is not None
            return list(entry.beat.expected)


@pytest.mark.parametrize("write_class", [WriteClass.NEITHER, WriteClass.WINDOW])
@pytest.mark.parametrize("profile", ["mixed", "chain", "mask", "memory"])
def test_wrong_hints_are_stale_operands_and_nothing_else(profile: str, write_class: WriteClass) -> None:
    cfg = bow_config(PASCAL, window_writes="hints")
    trace = stress_trace(4, profile=profile, length=60)
    wrong = hinted(cfg, trace, [write_class] * trace.instructions)
    with pytest.raises(StaleOperand):
        bow_run(cfg, wrong)
    bow_run(cfg, wrong, Trusting)


@pytest.mark.parametrize("write_class", [WriteClass.FILE, WriteClass.BOTH])
def test_hints_that_keep_every_value_are_never_wrong(write_class: WriteClass) -> None:
    cfg = bow_config(PASCAL, window_writes="hints", window_entries=6)
    trace = stress_trace(4, profile="mask", length=60)
    watch_bow(cfg, hinted(cfg, trace, [write_class] * trace.instructions))


def test_with_all_hints_set_to_both_nothing_differs_from_write_back() -> None:
    trace = stress_trace(9, profile="mixed", length=60)
    hints, back = (bow_config(PASCAL, window_writes=mode, window_entries=6) for mode in ("hints", "back"))
    everything = hinted(hints, trace, [WriteClass.BOTH] * trace.instructions)
    assert bow_run(hints, everything).fields == bow_run(back, trace).fields


def test_hints_of_a_smaller_window_hold_for_a_larger_one_only() -> None:
    trace = stress_trace(11, profile="chain", length=80)
    small, large = (bow_config(PASCAL, window_writes="hints", window=window) for window in (2, 7))
    bow_run(large, exactly_hinted(small, trace))
    with pytest.raises(StaleOperand):
        bow_run(small, exactly_hinted(large, trace))

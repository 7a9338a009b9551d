"""Where values are: the contract of the register cache, and what unsound dead bits do to it."""

from __future__ import annotations

import pytest

from tests.golden.machines import Baseline, Rfc
from tests.golden.rf.rfc.scenario import DEAD, exactly_hinted, hint, hinted, randomly_hinted, rfc_config, rfc_layout
from tests.golden.rf.rfc.scenario import one_warp as run_one
from tests.golden.rf.rfc.test_random import crowded_case, random_case, watch_rfc
from tests.golden.scenario import NOP, hand_trace, op
from warpfile.golden import StaleOperand
from warpfile.golden.run import simulate
from warpfile.schemes import SCHEMES
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.rfc import RfcConfig
from warpfile.spec.stress import stress_trace
from warpfile.spec.workload import prepare


def found(model: Rfc, warp: int, register: int) -> int:
    """The copy of a register that the next read would get, wherever it is."""
    file = model.file
    line = file.lines.find(file._places.place[warp], register)
    if line >= 0:
        return file.lines.copy[line]
    bank, row = file.location.place(warp, register)
    copy = file.banks.rows[bank][row]
    for write in file.queues._queues[bank]:
        if write.row == row:
            copy = write.copy
    return copy


@pytest.mark.parametrize("seed", range(16))
def test_the_latest_value_is_in_its_line_or_in_its_queue_or_in_its_bank(seed: int) -> None:
    cfg, trace = random_case(seed) if seed < 8 else crowded_case(seed)
    cfg = cfg.replace(dead_bits="ignored")  # type: ignore[assignment]
    layout = rfc_layout(cfg)
    model, environment = Rfc(cfg, layout), Environment(cfg, prepare(cfg, trace), layout)
    compared = 0
    while not environment.done:
        environment.observe(model.step(environment.stimulus()))
        for warp, values in enumerate(model.file.entrance._latest._values):
            if not model.frame.resident >> warp & 1 or environment.cycle % 7:
                continue
            for register, value in enumerate(values):
                if value >= 0:
                    assert found(model, warp, register) == value, f"R{register} of warp {warp} at {environment.cycle}"
                    compared += 1
    assert compared


def every_source_dead(cfg: RfcConfig, seed: int):  # type: ignore[no-untyped-def]
    trace = randomly_hinted(cfg, stress_trace(seed, profile="chain", length=60, registers=8), seed)
    return hinted(trace, trace.hints | (1 << cfg.source_slots) - 1 << DEAD)


def test_dead_bits_that_lie_are_found_out() -> None:
    cfg = rfc_config(warps=4, active_warps=2, cache_entries=2)
    for seed in range(4):
        with pytest.raises(StaleOperand):
            watch_rfc(cfg, every_source_dead(cfg, seed))


def test_ignored_dead_bits_may_lie() -> None:
    cfg = rfc_config(warps=4, active_warps=2, cache_entries=2, dead_bits="ignored")
    for seed in range(2):
        watch_rfc(cfg, every_source_dead(cfg, seed))


SMALL = rfc_config(warps=4, active_warps=2, cache_entries=1)


def test_a_lie_shows_through_a_write_of_some_lanes() -> None:
    # R4 is dropped, and half of it written again. Who reads the other half is told; who reads this half only is not.
    program = [op((), 4), op((4,)), op((), 5), NOP, (op((), 4), 0xFFFF)]
    hints = {1: hint(dead=1)}
    assert run_one(SMALL, [*program, (op((4,), 6), 0xFFFF)], hints).model.operands_checked == 2
    with pytest.raises(StaleOperand, match="in R4"):
        run_one(SMALL, [*program, op((4,), 6)], hints)


@pytest.mark.parametrize("seed", range(8))
def test_how_the_cache_is_built_does_not_change_what_is_computed(seed: int) -> None:
    trace = stress_trace(seed, profile="mixed", warps_per_cta=[4, 2], length=40)
    plain = rfc_config(warps=8, active_warps=8, suspend="never", cache_entries=0)
    baseline = plain.common().replace(scheduler="gto")
    layout = ProbeLayout(SCHEMES["baseline"].probes(baseline))
    reference = Baseline(baseline, layout)
    simulate(reference, Environment(baseline, prepare(baseline, trace), layout))
    expected = (reference.operands_checked, reference.counters["beats"], reference.counters["dispatches"])
    changes: list[dict[str, object]] = [
        {},
        {"cache_entries": 6},
        {"cache_entries": 6, "long_results": "allocate"},
        {"active_warps": 2, "suspend": "pending", "cache_entries": 6},
        {"active_warps": 2, "suspend": "always", "cache_entries": 2, "replacement": "evict_first"},
        {"active_warps": 3, "suspend": "pending", "cache_entries": 3, "replacement": "lru", "allocation": "hinted"},
    ]
    for change in changes:
        cfg = plain.replace(**change)
        assert isinstance(cfg, RfcConfig)
        model = watch_rfc(cfg, exactly_hinted(cfg, trace, seed))
        assert (model.operands_checked, model.counters["beats"], model.counters["dispatches"]) == expected
        if not change:
            # Without lines every source and every result is the banks' business, as in the baseline.
            assert model.counters["bank_reads"] == reference.counters["bank_reads"]
            results = ("bypasses_full", "bypasses_partial", "long_results")
            assert sum(model.counters[name] for name in results) == reference.counters["bank_writes"]


def test_without_lines_a_lone_beat_takes_one_cycle_more_to_its_dispatch() -> None:
    cfg = rfc_config(warps=4, active_warps=4, suspend="never", cache_entries=0)
    trace = hand_trace([op((2, 3), 4)])
    baseline = cfg.common().replace(scheduler="gto")
    layouts = (ProbeLayout(SCHEMES["baseline"].probes(baseline)), rfc_layout(cfg))
    runs = []
    for config, layout, model in ((baseline, layouts[0], Baseline), (cfg, layouts[1], Rfc)):
        workload = prepare(config, hinted(trace, [0, 0]))
        environment, machine = Environment(config, workload, layout), model(config, layout)  # type: ignore[operator]
        cycles = []
        while not environment.done:
            fields = layout.unpack(word := machine.step(environment.stimulus()))
            cycles += [environment.cycle] if fields["dispatch"] else []
            environment.observe(word)
        runs.append(cycles)
    assert runs[1] == [runs[0][0] + 1]

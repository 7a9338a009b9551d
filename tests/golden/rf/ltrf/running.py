"""Runs of the cache, and what must hold of the pace of any (docs/schemes/ltrf.md, section 5)."""

from __future__ import annotations

from itertools import pairwise

from tests.golden.machines import Ltrf, events_of, layout_of
from warpfile.sim.counters import ObservedCounters
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.ltrf import LtrfConfig
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare

Fields = list[dict[str, int]]


def observed(cfg: LtrfConfig, trace: Trace, model: type[Ltrf] = Ltrf) -> tuple[Ltrf, dict[str, int], Fields]:
    """Run to the end; the machine, what the probes sum up to, and the probes of all cycles."""
    layout, workload = layout_of("ltrf", cfg), prepare(cfg, trace)
    environment, machine = Environment(cfg, workload, layout), model(cfg, layout)
    sums, fields = ObservedCounters(layout, events_of("ltrf", cfg)), []
    while not environment.done:
        word = machine.step(environment.stimulus())
        sums.add(word)
        fields.append(layout.unpack(word))
        environment.observe(word)
        assert len(fields) < 60_000, "everything ends"
    return machine, sums.totals() | {"bank_writes": environment.writes}, fields


def checked(cfg: LtrfConfig, trace: Trace, model: type[Ltrf] = Ltrf) -> Ltrf:
    """Run to the end: every value is right, counters are those of the probes, and fills keep their pace."""
    machine, totals, fields = observed(cfg, trace, model)
    assert {name: machine.counters[name] for name in totals} == totals
    assert machine.operands_checked and not machine.counters["error_cycles"]
    check_pace(cfg, fields)
    check_arrays(cfg, fields)
    return machine


def check_pace(cfg: LtrfConfig, fields: Fields) -> None:
    """No cache bank has fills less than X cycles apart, and every fill has X beats and one write of its row.

    A write-back has X beats likewise, and no cache bank has two at once.
    """
    beats, banks = cfg.crossbar_beats, cfg.interval_registers
    for bank in range(banks):
        grants = [cycle for cycle, f in enumerate(fields) if f["fill_grant"] >> bank & 1]
        assert all(later - one >= beats for one, later in pairwise(grants))
        writes = [cycle for cycle, f in enumerate(fields) if f["channel_write"] >> bank & 1]
        assert writes == [cycle + cfg.bank_cycles + beats + 1 for cycle in grants]
        assert sum(f["main_beat"] >> bank & 1 for f in fields) == beats * len(grants)
        backs = [cycle for cycle, f in enumerate(fields) if f["back_grant"] >> bank & 1]
        passed = [cycle for cycle, f in enumerate(fields) if f["main_beat"] >> banks + bank & 1]
        assert passed == [cycle + beat for cycle in backs for beat in range(1, beats + 1)]


def check_arrays(cfg: LtrfConfig, fields: Fields) -> None:
    """Every access keeps the array of its main bank for L - 1 cycles more, which no other one shares."""
    if not cfg.latches or cfg.main_pipelined:
        return
    started = [f["fill_grant"].bit_count() + f["main_write"].bit_count() for f in fields]
    kept = sum(count * min(cfg.bank_cycles - 1, len(fields) - 1 - cycle) for cycle, count in enumerate(started))
    assert sum(f["main_busy"].bit_count() for f in fields) == kept

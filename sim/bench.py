"""The cocotb side of an interactive lockstep run: one read, one comparison and one write per cycle.

The harness takes its inputs at the rising edge. In the middle of cycle t, at the falling edge, the observation of
cycle t has settled; the bench compares it with the golden model and writes the inputs of cycle t + 1. It also writes
what has to leave the dispatch pins in cycle t, which the harness compares at its end.
A run without an observer is replayed instead (``sim.replay``); this one explains what the replay found.
"""

from __future__ import annotations

import os
import time
from collections import deque
from functools import partial
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from warpfile.schemes import find
from warpfile.sim.counters import ObservedCounters
from warpfile.sim.explain import HISTORY, differing_fields, fault_name, first_mismatch
from warpfile.sim.harness_pins import PIN_SLOT
from warpfile.sim.plan import PLAN_VARIABLE, Outcome, Plan
from warpfile.sim.records import Quiet
from warpfile.sim.replay import CLOCK_PERIOD, fault_of, number
from warpfile.sim.stimulus import RESET, DuePacker, StimulusPacker
from warpfile.sim.stream import with_observed, wrong_counters
from warpfile.spec.beat import Beat
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.trace import Trace
from warpfile.spec.workload import Workload, prepare

RESET_CYCLES = 3
PROGRESS_EVERY = 4096


class Lockstep:
    """RTL in the simulator and golden model, each with an environment of its own."""

    def __init__(self, dut, plan: Plan) -> None:
        self.scheme, cfg = find(plan.scheme), plan.config
        self.dut, self.plan = dut, plan
        self.layout = ProbeLayout(self.scheme.probes(cfg))
        self.workload: Workload = prepare(cfg, Trace.load(plan.trace))
        self.due = DuePacker(cfg, self.layout)
        self.outcome = Outcome()
        self.cycles_before = self.operands_before = 0
        self._begin()

    def _begin(self) -> None:
        cfg = self.plan.config
        self.packer = StimulusPacker(cfg)
        self.model = self.scheme.golden(cfg, self.layout)
        self.golden_side = Environment(cfg, self.workload, self.layout)
        self.rtl_side = Environment(cfg, self.workload, self.layout)
        self.counters = ObservedCounters(self.layout, partial(self.scheme.events, cfg))
        self.history: deque[int] = deque(maxlen=HISTORY)

    async def run(self) -> Outcome:
        """Run to the end, the first difference, or the plan's last cycle."""
        dut, falling = self.dut, FallingEdge(self.dut.clk)
        Clock(dut.clk, CLOCK_PERIOD, unit="ns", impl="gpi").start()
        dut.next.value = RESET
        for _ in range(RESET_CYCLES):
            await falling
        start = time.perf_counter()
        try:
            if self.plan.reset_after is not None:
                await self._interrupted(self.plan.reset_after, falling)
            if not self.outcome.mismatches and self.cycles_before <= self._stop:
                await self._cycles(falling, self._stop - self.cycles_before)
            if self.outcome.mismatches or self.rtl_side.done:
                await falling  # a wrong operand shows one cycle later
            self._finish()
        except AssertionError as error:
            self._fail(0, 0, {"golden": str(error)})
        self.outcome.seconds = time.perf_counter() - start
        return self.outcome

    @property
    def _stop(self) -> int:
        """The last cycle, from the first reset on."""
        return self.plan.stop_cycle if self.plan.stop_cycle is not None else 1 << 62

    async def _interrupted(self, cycles: int, falling) -> None:
        """A run that a cycle of reset ends, unless it finds a difference."""
        await self._cycles(falling, min(cycles - 1, self._stop))
        if not self.outcome.mismatches:
            self.dut.next.value = int(self.dut.next.value) | RESET
            await falling
            self.dut.due.value = 0
            self.cycles_before, self.operands_before = self.rtl_side.cycle, self.model.operands_checked
            self._begin()

    async def _cycles(self, falling, stop: int) -> None:
        """Run to the end, or through the cycle ``stop``."""
        inputs, observation = self.dut.next, self.dut.observation
        golden_side, rtl_side, step = self.golden_side, self.rtl_side, self.model.step
        pack, add, history = self.packer.pack, self.counters.add, self.history
        quiet, leaving = Quiet(self.layout, self.plan.hang_cycles), 0
        while not (rtl_side.done and golden_side.done):
            golden_inputs = golden_side.stimulus()
            inputs.value = pack(rtl_side.stimulus())
            await falling
            want = step(golden_inputs)
            got = number(observation.value, ~want)  # a bit that is unknown differs
            leaving = self._leave(want, leaving)
            if got != want:
                self._fail(got, want)
                return
            golden_side.observe(want)
            rtl_side.observe(got)
            add(got)
            history.append(got)
            cycle = rtl_side.cycle
            if quiet.hangs(cycle, got) and not rtl_side.awaits:
                self._fail(got, want, {"hang": f"nothing happened for {self.plan.hang_cycles} cycles"})
                return
            if cycle > stop:
                return
            if not cycle % PROGRESS_EVERY:
                self.plan.progress.write_text(f"{cycle} {rtl_side.instructions}")

    def _leave(self, want: int, before: int) -> int:
        """Tell the harness what has to leave in this cycle; ``before`` is what it knows of the last one."""
        due = self.due.pack(want, self.golden_side)
        if due != before:
            self.dut.due.value = due
        return due

    def _finish(self) -> None:
        dut, outcome = self.dut, self.outcome
        if int(dut.fault.value) and not outcome.mismatches:
            self._fail(1 << self.layout.width, 0)
        outcome.cycles, outcome.start_cycles = self.rtl_side.cycles, self.rtl_side.start_cycles
        outcome.cycles_before, outcome.instructions = self.cycles_before, self.rtl_side.instructions
        outcome.operands_checked = int(dut.operands_checked.value)
        outcome.lanes_checked = int(dut.lanes_checked.value)
        outcome.golden_operands_checked = self.operands_before + self.model.operands_checked
        outcome.golden_counters = dict(self.model.counters)
        outcome.counters = self.counters.totals()
        if not outcome.mismatches:
            self._compare_counters()

    def _compare_counters(self) -> None:
        outcome = self.outcome
        outcome.counters = with_observed(outcome.counters, self.rtl_side)
        if wrong := wrong_counters(outcome.counters, outcome.golden_counters):
            self._fail(0, 0, {"counters": wrong})

    def _fail(self, got: int, want: int, extra: dict[str, object] | None = None) -> None:
        width = self.layout.width
        rtl = got & ((1 << width) - 1)
        fields, extra = differing_fields(self.layout, rtl, want), dict(extra or {})
        warp, beat = self._suspect(fields)
        if got >> width:
            fault = fault_of(self.dut)
            if fault["slot"] != PIN_SLOT:
                warp, beat = fault["warp"], self.workload.beats[fault["payload"]]
            extra[fault_name(fault)] = fault
        for name, value in extra.items():
            fields[name] = value if isinstance(value, dict) else {"message": value}
        words = [word & ((1 << width) - 1) for word in self.history]
        self.outcome.mismatches = 1
        cycle = self.cycles_before + self.rtl_side.cycle
        self.outcome.first_mismatch = first_mismatch(self.layout, cycle, words, fields, warp, beat)

    def _suspect(self, fields: dict[str, dict[str, int]]) -> tuple[int | None, Beat | None]:
        """Warp and beat that a difference is about: the one that issues, or the one that is presented for dispatch."""
        for name, both in fields.items():
            for value in both.values():
                if name.startswith("dispatch_payload") and value < len(self.workload.beats):
                    return self.golden_side.owner(value), self.workload.beats[value]
                if name == "issue_warp" or (name == "clear" and value):
                    warp = value if name == "issue_warp" else value.bit_length() - 1
                    return warp, self.golden_side.head(warp)
        return None, None


@cocotb.test()
async def lockstep(dut) -> None:
    """Compare RTL and golden model in every cycle; the outcome goes to the plan's file."""
    plan = Plan.load(Path(os.environ[PLAN_VARIABLE]))
    outcome = await Lockstep(dut, plan).run()
    outcome.save(plan.outcome)
    assert not outcome.mismatches, outcome.first_mismatch

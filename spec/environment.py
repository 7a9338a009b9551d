"""The environment of the machine: CTA dispatch, decode, execution units and memory (docs/machine.md, section 9).

One instance per side. What it drives in a cycle depends on observations of earlier cycles only, so that golden model
and RTL see the same inputs exactly as long as they behave the same.
"""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.execution import Execution
from warpfile.spec.front_end import FrontEnd
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stimulus import Result, Stimulus
from warpfile.spec.workload import Workload


@mypyc_attr(allow_interpreted_subclasses=True)
class Environment:
    """Drives one side of a lockstep run: ``stimulus()``, then ``observe(word)``, once per cycle each.

    ``cycle`` (from reset on), ``start_cycles`` (of these, those in which the machine had not started), ``instructions``
    (issued last beats of what was not inserted) and ``writes`` (accepted results with a register) count as it goes.
    """

    def __init__(self, cfg: Config, workload: Workload, layout: ProbeLayout) -> None:
        self.cfg = cfg
        self.workload = workload
        self.cycle = 0
        self.start_cycles = 0
        self.instructions = 0
        self.writes = 0
        at = layout.offset
        self._at_started, self._started = at["started"], False
        self._at_launch = at["launch"]
        # Its events are looked at in every cycle: taken out of the long word at once, as a short one; payloads in some.
        names = ("issue", "issue_warp", "exit", "write", "dispatch")
        self._at_events = min(at[name] for name in names)
        self._at_issue, self._at_warp, self._at_exit, self._at_write, self._at_dispatch = (
            at[name] - self._at_events for name in names
        )
        self._events = sum(layout.mask(name) << at[name] - self._at_events for name in names)
        self._at_payload = [at[f"dispatch_payload{port}"] - self._at_events for port in range(cfg.ports)]
        self._at_kernel, self._at_quiet, self._at_retired = (at.get(name, 0) for name in ("kernel", "quiet", "retired"))
        self._payload_mask = (1 << cfg.payload_bits) - 1
        self._warp_mask = (1 << cfg.warp_bits) - 1
        self._port_mask = (1 << cfg.ports) - 1
        self._write_mask, self._write_ports = (1 << cfg.write_ports) - 1, cfg.write_ports
        self._all_warps = (1 << cfg.warps) - 1
        self._beats = workload.beats
        self._front = FrontEnd(cfg, workload)
        self._execution = Execution(cfg, workload.trace)
        results: list[Result | None] = [None] * cfg.write_ports
        self._stimulus = Stimulus(results=results)
        self._handshakes, self._sweeps = cfg.gives.kernel, cfg.gives.sweeps
        self._quiet = not cfg.gives.kernel

    @property
    def done(self) -> bool:
        """Nothing resident, nothing left to launch, nothing under way in the machine or behind it."""
        return self._execution.finished(self.cycle) and self._quiet and self._front.finished

    @property
    def cycles(self) -> int:
        """The counter: cycles since the machine started."""
        return self.cycle - self.start_cycles

    @property
    def awaits(self) -> bool:
        """Whether results or stores are under way behind the machine: one that waits for them does not hang."""
        return self._execution.awaits(self.cycle)

    def head(self, warp: int) -> Beat | None:
        """The oldest beat that was sent to a warp slot and has not issued."""
        return self._front.head(warp)

    def owner(self, payload: int) -> int | None:
        """Warp slot of a beat that was issued to the operand stage and has not been dispatched."""
        return self._execution.owner(payload)

    def stimulus(self) -> Stimulus:
        """Inputs of the current cycle. The object is reused in the next one."""
        stimulus, cycle = self._stimulus, self.cycle
        self._front.drive(cycle, stimulus)
        self._execution.drive(cycle, stimulus)
        return stimulus

    def observe(self, word: int) -> None:
        """End the cycle with what the side did in it, as its packed observation."""
        front, execution, cycle = self._front, self._execution, self.cycle
        if not self._started:
            self._started = word >> self._at_started & 1 != 0
            self.start_cycles += not self._started
        if self._handshakes:
            self._handshake(word)
        if self._stimulus.launch is not None and word >> self._at_launch & 1:
            front.launched(cycle)
        seen = word >> self._at_events
        events = seen & self._events
        if events >> self._at_issue & 1:
            self._issued(events >> self._at_warp & self._warp_mask, bool(events >> self._at_exit & 1))
        dispatched = events >> self._at_dispatch & self._port_mask
        if dispatched:
            for number, at in enumerate(self._at_payload):
                if dispatched >> number & 1:
                    beat = self._beats[seen >> at & self._payload_mask]
                    front.dispatched(execution.dispatched(number, beat, cycle), beat, cycle)
        written = events >> self._at_write & self._write_mask
        if written:
            for number in range(self._write_ports):
                if written >> number & 1:
                    self.writes += execution.accepted(number).writes
        if self._sweeps:
            retired = word >> self._at_retired & self._all_warps
            if retired:
                front.retired(retired)
        self.cycle = cycle + 1

    def _handshake(self, word: int) -> None:
        """The kernel is taken, or the machine comes to rest after everything else has."""
        if self._stimulus.kernel is not None and word >> self._at_kernel & 1:
            self._front.kernel_taken()
        finished = self._execution.finished(self.cycle) and self._front.finished
        self._quiet = finished and bool(word >> self._at_quiet & 1)

    def _issued(self, warp: int, exits: bool) -> None:
        beat = self._front.issued(warp, exits, self.cycle)
        if beat.last and not beat.inserted:
            self.instructions += 1
        self._execution.issued(warp, beat, self.cycle)

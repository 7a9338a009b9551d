"""A golden run that is observed, cycle after cycle (docs/profile.md)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import cast

from warpfile.compiler.passes.trace_listing import listed_function
from warpfile.golden.entry import Entry
from warpfile.golden.machine import Machine
from warpfile.golden.scheduler.contract import PlacingScheduler
from warpfile.output.difference import Difference
from warpfile.output.display import Report
from warpfile.results.designs import Design
from warpfile.results.profiles.in_flight import Flights, Listener
from warpfile.results.profiles.operands import NOBODY, Cycle, bits, operands_of
from warpfile.results.profiles.profile import BEHIND, FRAME, Lines, Profile
from warpfile.results.run import golden_run
from warpfile.schemes import GoldenModel
from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stimulus import Stimulus
from warpfile.spec.trace import Kind, Port, Trace
from warpfile.spec.workload import Workload, prepare

_BARRIER, _BRANCH, _LSU = int(Kind.BARRIER), int(Kind.BRANCH), int(Port.LSU)
_PROBES = (
    *("started", "launch", "resident", "buffered", "clear", "waiting", "room"),
    *("issue", "issue_warp", "write", "write_wait", "offer", "dispatch"),
)
_CODES = ("stalled", "resting", "awaits")
State = tuple[str, int]  #: what a warp does, and the beat that is charged


class Warp:
    """The warp in a slot: its beats from ``sent`` + 1 on are yet to be decoded, those in ``buffer`` to be issued.

    ``memory`` and ``memory_tokens``: registers and tokens that the LSU will return or has returned last; ``reserved``:
    registers of each beat that took an entry of the scoreboard. ``age``: how many warps were launched before.
    """

    def __init__(self, beats: Sequence[Beat], age: int) -> None:
        self.sent, self.last, self.age = beats[0].payload - 1, beats[-1].payload, age
        self.branched, self.barrier = False, NOBODY
        self.buffer: deque[Entry] = deque()
        self.memory = self.memory_tokens = 0
        self.reserved: list[int] = []

    @property
    def next(self) -> int:
        """The beat that it issues next; behind the EXIT that one."""
        return self.buffer[0].beat.payload if self.buffer else min(self.sent + 1, self.last)

    def reserves(self, entry: Entry) -> None:
        """An issued beat reserves what it will write."""
        beat, dests, tokens = entry.beat, entry.dests, entry.beat.token_writes
        by_memory = beat.port == _LSU
        self.memory = self.memory | dests if by_memory else self.memory & ~dests
        self.memory_tokens = self.memory_tokens | tokens if by_memory else self.memory_tokens & ~tokens
        if dests:
            self.reserved.append(dests)


class Profiler:
    """Charges what happens in a machine to instructions. ``attach`` it to its model, then per cycle ``before`` the
    machine's step and ``note`` behind it."""

    def __init__(
        self,
        cfg: Config,
        workload: Workload,
        layout: ProbeLayout,
        collectors: str,
        lines: Lines,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self._cfg, self._beats, self._streams = cfg, workload.beats, workload.warps
        self._line_of = [lines.of[index] for index in workload.trace.instruction.tolist()]
        self._none, self._listeners = len(lines.lines) - 1, listeners
        self.operands = operands_of(collectors, cfg, layout, self._beats, self._count)
        self.counts = {name: [0] * len(lines.lines) for name in (*FRAME, *self.operands.columns, *BEHIND)}
        self._flights = Flights(self._beats, cfg.warps, self._line, self._count, listeners)
        for one in listeners:
            one.begin(lines.lines)
        self._warps: list[Warp | None] = [None] * cfg.warps
        self._launched = 0
        payloads = tuple(f"dispatch_payload{port}" for port in range(cfg.ports))
        codes = tuple(name for name in _CODES if name in layout.offset) if cfg.asks.guards else ()
        names = dict.fromkeys((*_PROBES, *payloads, *codes, *self.operands.probes))
        self._read = [(name, layout.offset[name], layout.mask(name)) for name in names]
        self._payloads = payloads

    def attach(self, model: GoldenModel) -> None:
        """The model whose registered state explains why a beat is not clear, and who is held."""
        self._machine = cast(Machine, model)

    def _count(self, column: str, payload: int, number: int) -> None:
        if number:
            self.counts[column][self._line(payload)] += number

    def _line(self, payload: int) -> int:
        return self._none if payload == NOBODY else self._line_of[self._beats[payload].record]

    def before(self) -> None:
        """Keep the registered state over which this cycle's decisions are made."""
        frame = self._machine.frame
        self._registers, self._tokens = list(frame.registers), list(frame.tokens)
        self._hold = self._machine.file.hold

    def note(self, cycle: int, stimulus: Stimulus, word: int) -> None:
        """One cycle: its inputs, and what was observed in it."""
        fields = {name: word >> low & mask for name, low, mask in self._read}
        self._results(cycle, stimulus, fields)
        dispatched = self._ports(cycle, fields)
        issued = fields["issue_warp"] if fields["issue"] else NOBODY
        heads = [NOBODY if warp is None else warp.next for warp in self._warps]
        if fields["started"]:
            self._states(cycle, fields, issued)
        beat = NOBODY if issued == NOBODY else heads[issued]
        self.operands.note(fields, Cycle(beat, issued, dispatched, heads))
        if beat != NOBODY:
            self._issue(cycle, issued)
        if stimulus.beat is not None:
            self._decode(cycle, stimulus.beat_warp, stimulus.beat)
        if stimulus.launch is not None and fields["launch"]:
            self._launch(cycle, stimulus.launch.warp, stimulus.launch.stream)

    def close(self, cycle: int) -> None:
        """The run ended in the cycle before."""
        for warp in range(self._cfg.warps):
            self._flights.left(cycle - 1, warp)
        for one in self._listeners:
            one.close(cycle)

    def _results(self, cycle: int, stimulus: Stimulus, fields: Mapping[str, int]) -> None:
        for port, result in enumerate(stimulus.results):
            if result is not None and (fields["write"] | fields["write_wait"]) >> port & 1:
                self._flights.result(cycle, result, bool(fields["write"] >> port & 1))

    def _ports(self, cycle: int, fields: Mapping[str, int]) -> list[int]:
        """Beats that the ports take."""
        taken = [NOBODY] * self._cfg.ports
        for port in bits(fields["offer"]):
            payload = fields[self._payloads[port]]
            if fields["dispatch"] >> port & 1:
                taken[port] = payload
                self._flights.dispatched(cycle, payload)
            else:
                self._count("dispatch_waits", payload, 1)
        return taken

    def _states(self, cycle: int, fields: Mapping[str, int], issued: int) -> None:
        """What every resident warp does, and which warp the slot is charged to if nothing issues."""
        eligible = self._eligible(fields)
        idle = {"wait_turn": "wait_refused"} if issued == NOBODY else {}
        states: dict[int, State] = {}
        for number in bits(fields["resident"]):
            reason, payload = self._state(number, fields, eligible, number == issued)
            reason = idle.get(reason, reason)
            states[number] = reason, payload
            self._count(reason, payload, 1)
            for one in self._listeners:
                one.state(cycle, number, reason, self._line(payload))
        if issued == NOBODY:
            self._lost(fields, states)

    def _eligible(self, fields: Mapping[str, int]) -> int:
        """Warps of which one could be chosen; ``_places``: those that the scheduler lets issue."""
        machine, every = self._machine, (1 << self._cfg.warps) - 1
        if self._cfg.gives.gates:
            self._hold = machine.file.hold  # of this cycle: gates decide at its beginning
        placing = machine.scheduler.places is not None
        self._places = cast(PlacingScheduler, machine.scheduler).may_issue if placing else every
        return fields["clear"] & ~fields["waiting"] & fields["room"] & ~self._hold & self._places

    def _state(self, number: int, fields: Mapping[str, int], eligible: int, issues: bool) -> State:
        warp, bit = self._warps[number], 1 << number
        assert warp is not None, f"slot {number} is resident, but nothing was launched there"
        if issues:
            assert eligible & bit, f"warp {number} issues, but is not eligible"
            return "issued", warp.next
        if fields["waiting"] & bit:
            return "wait_barrier", warp.barrier
        if not warp.buffer:
            return ("wait_branch", warp.sent) if warp.branched else ("wait_fetch", warp.next)
        if not fields["clear"] & bit:
            return self._hazard(number, warp, fields), warp.next
        if not fields["room"] & bit:
            return "wait_unit", warp.next
        if not self._places & bit:
            return "wait_place", warp.next
        return "wait_held" if self._hold & bit else "wait_turn", warp.next

    def _hazard(self, number: int, warp: Warp, fields: Mapping[str, int]) -> str:
        """Why the next beat is not clear."""
        if self._cfg.asks.guards:
            if (fields.get("stalled", 0) | fields.get("resting", 0)) >> number & 1:
                return "wait_stall"
            return "wait_counter" if fields.get("awaits", 0) >> number & 1 else "wait_guard"
        head, pending = warp.buffer[0], self._registers[number]
        registers, tokens = head.touched & pending, head.tokens & self._tokens[number]
        if registers or tokens:
            by_memory = registers & warp.memory or tokens & warp.memory_tokens
            return "wait_memory" if by_memory else "wait_result"
        if not head.dests:
            return "wait_drain"
        warp.reserved = [dests for dests in warp.reserved if dests & pending]
        full = self._cfg.pending_entries and len(warp.reserved) >= self._cfg.pending_entries
        return "wait_entry" if full else "wait_reader"

    def _lost(self, fields: Mapping[str, int], states: Mapping[int, State]) -> None:
        """Charge a cycle without issue (docs/machine.md, section 10)."""
        running = fields["buffered"] & ~fields["waiting"]
        clear = fields["clear"] & running
        if not fields["buffered"]:
            self._charge("issue_idle", fields["resident"], states)
        elif not running:
            self._charge("issue_barrier", fields["buffered"], states)
        elif clear:
            self._charge("issue_room", clear, states)
            if not clear & fields["room"]:
                self._charge("issue_full", clear, states)
        else:
            self._charge("issue_hazard", running, states)

    def _charge(self, column: str, warps: int, states: Mapping[int, State]) -> None:
        """Of these warps the one that was launched first pays."""
        oldest = min(bits(warps), key=self._age, default=NOBODY)
        self._count(column, states[oldest][1] if oldest != NOBODY else NOBODY, 1)

    def _age(self, number: int) -> int:
        warp = self._warps[number]
        return warp.age if warp else 0

    def _issue(self, cycle: int, number: int) -> None:
        warp = self._warps[number]
        assert warp is not None
        entry = warp.buffer.popleft()
        payload = entry.beat.payload
        self._count("instructions", payload, int(entry.counts))
        if entry.executes:
            warp.reserves(entry)
        if entry.beat.kind == _BARRIER:
            warp.barrier = payload
        self._flights.issued(cycle, payload)

    def _decode(self, cycle: int, number: int, beat: Beat) -> None:
        warp = self._warps[number]
        assert warp is not None and beat.payload == warp.sent + 1, f"beats of warp {number} come out of order"
        warp.sent, warp.branched = beat.payload, beat.kind == _BRANCH and beat.last
        warp.buffer.append(Entry(beat, self._cfg.port_of))
        self._flights.decoded(cycle, number, beat)

    def _launch(self, cycle: int, number: int, stream: int) -> None:
        self._flights.left(cycle, number)
        self._warps[number] = Warp(self._streams[stream], self._launched)
        self._launched += 1


def _watched(profiler: Profiler) -> type[Environment]:
    """The environment of a machine, which shows the profiler every cycle before it acts on it."""

    class Watched(Environment):
        """The environment as it is, which shows the profiler what it gives the machine and what it observes."""

        def stimulus(self) -> Stimulus:
            """See :class:`Environment`."""
            self._shown = super().stimulus()
            profiler.before()
            return self._shown

        def observe(self, word: int) -> None:
            """See :class:`Environment`."""
            profiler.note(self.cycles, self._shown, word)
            super().observe(word)

    return Watched


def _labels(trace: Trace) -> dict[int, list[str]]:
    """Labels of a trace's listing by offset."""
    function, found = listed_function(trace), dict[int, list[str]]()
    for label, offset in function.labels.items() if function else ():
        found.setdefault(offset, []).append(label)
    return found


def operand_columns(design: Design) -> tuple[str, ...]:
    """The columns of operands that a design's collectors have."""
    layout = ProbeLayout(design.scheme.probes(design.config))
    return operands_of(design.scheme.collectors.name, design.config, layout, (), lambda *_: None).columns


def profiled(design: Design, trace: Trace, report: Report, listeners: Sequence[Listener] = ()) -> Profile:
    """Run a design's golden model over a trace and charge every cycle.

    Raises ``ValueError`` for a trace that does not fit, and :class:`Difference` where a run goes wrong or a sum is not
    what the machine counted.
    """
    scheme, cfg = design.scheme, design.config
    workload, layout = prepare(cfg, scheme.annotated(cfg, trace)), ProbeLayout(scheme.probes(cfg))
    lines = Lines.in_order(workload.trace.program)
    profiler = Profiler(cfg, workload, layout, scheme.collectors.name, lines, listeners)

    def make(config: Config, probes: ProbeLayout) -> GoldenModel:
        model = scheme.golden(config, probes)
        profiler.attach(model)
        return model

    run = golden_run(scheme, cfg, design.preset, trace, report, make, workload, _watched(profiler))
    profiler.close(run.cycles)
    profile = Profile(run, lines.lines, profiler.counts, profiler.operands.columns, _labels(trace))
    if wrong := profile.differences():
        raise Difference(f"{scheme.name} on {trace.kernel}: {wrong[0]}")
    return profile

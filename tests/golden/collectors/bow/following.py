"""Beats, operands and results of operand windows, followed from probes and stimulus: banks, results and dispatch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.golden.collectors.bow.inside import Lanes, check_window, entry_states
from tests.golden.collectors.bow.table import fate
from tests.golden.invariants import NEVER, Watcher, bits, require, takes_unit
from tests.golden.machines import Bow
from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.bow.window import Window
from warpfile.spec.beat import Beat
from warpfile.spec.environment import Result, Stimulus
from warpfile.spec.schemes.bow import BowConfig
from warpfile.spec.trace import Kind


@dataclass
class SharedState:
    """A beat in its window. ``undone``: destinations without their result; ``left``: the cycle of its dispatch."""

    number: int
    beat: Beat
    entered: int
    undone: set[int]
    left: int = NEVER


@dataclass
class BowFollower(Watcher):
    """Follows a model of operand windows. ``look`` before its step, ``check`` after it.

    Per warp slot: ``inside`` the beats of its window, ``wanted`` the registers that it has yet to ask a bank for, in
    order. Per warp and register: ``last`` the beat that used it last, ``filled`` the cycle at whose end its data are
    there. ``forgotten`` counts values that were owed when their warp ended.
    """

    model: Bow = None  # type: ignore[assignment]
    inside: dict[int, list[SharedState]] = field(default_factory=dict)
    next: dict[int, int] = field(default_factory=dict)
    wanted: dict[int, list[int]] = field(default_factory=dict)
    last: dict[tuple[int, int], int] = field(default_factory=dict)
    filled: dict[tuple[int, int], int] = field(default_factory=dict)
    states: dict[int, dict[int, tuple[str, int]]] = field(default_factory=dict)
    first: dict[int, int] = field(default_factory=dict)  #: the register that a window wants to evict, -1 for none
    denied: list[tuple[int, str]] = field(default_factory=list)  #: ports of banks that have not served who asked
    seen: dict[int, tuple[int, ...]] = field(default_factory=dict)
    met: set[int] = field(default_factory=set)
    fates: dict[int, tuple[str, bool]] = field(default_factory=dict)  #: of the results that are considered, by port
    leaving: list[tuple[int, int, str]] = field(default_factory=list)
    forgotten: int = 0
    forwarded: int = 0
    results: int = 0

    def __post_init__(self) -> None:
        assert isinstance(self.cfg, BowConfig)
        self.windows: BowConfig = self.cfg
        self.lanes = Lanes(self.model)

    def look(self) -> None:
        """The state at the beginning of a cycle."""
        for warp, window in enumerate(self.model.collectors.windows):
            entries = window.entries
            masks = entries.fill, entries.clean, entries.dirty, entries.owed, entries.evicting
            now = (*masks, window.next, window.undispatched, *entries.register, *entries.copy)
            if now != self.seen.get(warp):
                self.seen[warp] = now
                self._look_inside(warp, window)
            if self.buffers.get(warp) and self.buffers[warp][0].kind == Kind.EXIT:
                for register in range(self.workload.registers):
                    self.lanes.check(self.windows, (warp, register))
        for warp, entry, state in self.leaving:
            now = self.entry_state(warp, entry)
            allowed = ("evicting",) if state in ("dirty", "owed") else ("free", "evicting")
            require(now in allowed, "whoever has to leave is written first, whatever its class")
        self.leaving.clear()

    def _look_inside(self, warp: int, window: Window) -> None:
        check_window(self.windows, window)
        self.states[warp] = entry_states(window)
        for register in self.states[warp]:
            self.lanes.check(self.windows, (warp, register))
        entries = window.entries
        self.first[warp] = entries.register[entries.oldest(entries.evicting)] if entries.evicting else -1

    def entry_state(self, warp: int, entry: int) -> str:
        """State of an entry at the beginning of the cycle."""
        return next((state for state, number in self.states[warp].values() if number == entry), "free")

    def is_stale(self, warp: int, register: int) -> bool:
        """Whether the next beat of the warp comes too late for the register."""
        return self.next[warp] - self.last.get((warp, register), -NEVER) >= self.windows.window

    def entries_of(self, mask: int, warp: int) -> Iterator[int]:
        """The bits of one window in a mask over all entries."""
        count = self.windows.window_entries
        return indices(mask >> warp * count & ((1 << count) - 1))

    def undispatched(self, warp: int) -> list[SharedState]:
        """Beats of a window that have not left before this cycle, oldest first."""
        return [one for one in self.inside[warp] if one.left >= self.cycle and takes_unit(one.beat)]

    def _check_banks(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        self.met.clear()
        self._check_results(stimulus, f)
        for warp, register in self.first.items():
            require(bool(f["evict"] >> warp & 1) == (register >= 0), "a window presents what has to leave")
            if register >= 0:
                self._serve(f["evicted"], warp, register, "write")
        for warp, wanted in self.wanted.items():
            require(bool(f["request"] >> warp & 1) == bool(wanted), "a window asks for its misses")
            if wanted and self._serve(f["grant"], warp, wanted[0], "read"):
                self.reads += 1
                self.filled[warp, wanted.pop(0)] = self.cycle + self.cfg.bank_cycles

    def _serve(self, served: int, warp: int, register: int, kind: str) -> bool:
        """A bank serves a window, or has a reason not to. (Reads come last, so all other accesses are known.)"""
        bank = self._bank(warp, register)
        if served >> warp & 1:
            self._access(bank, kind)
            return True
        self.denied.append((bank, self._bank_port(kind)))
        return False

    def _check_results(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        seen: set[int] = set()
        self.fates.clear()
        for port in reversed(range(self.cfg.write_ports)):
            result = stimulus.results[port]
            accepted = bool(f["write"] >> port & 1)
            if result is None:
                require(not accepted, "only a valid result is accepted")
                continue
            if not result.writes:
                require(accepted, "a result without a register is accepted at once")
            elif result.warp in seen:
                require(not accepted, "a window takes one result per cycle")
            else:
                seen.add(result.warp)
                self._check_result(result, port, f)
            if accepted:
                self._accept(result)

    def _accept(self, result: Result) -> None:
        for key in bits(result.warp, 1 << result.register if result.writes else 0, result.tokens):
            require(self.pending[key] == NEVER, "a result is pending until it completes")
            self.pending[key] = self.cycle + self.cfg.bank_cycles

    def _check_result(self, result: Result, port: int, f: dict[str, int]) -> None:
        warp, register = result.warp, result.register
        state = self.states[warp].get(register, ("none", -1))[0]
        owner = next((one for one in self.inside[warp] if register in one.undone), None)
        late = owner is None or self.next[warp] - owner.number > self.windows.window
        free = len(self.states[warp]) < self.windows.window_entries
        pinned = {r for one in self.undispatched(warp) for r in one.beat.sources}
        room = free or any(s == "clean" and r not in pinned for r, (s, _) in self.states[warp].items())
        require(state != "fill" and register not in pinned, "a result meets nothing that is still read")
        write_class = result.hints if self.windows.window_writes == "hints" else 3
        window, bank = fate(self.windows.window_writes, result.full, write_class, late, state, room)
        self.fates[port] = window, bank
        if not f["write"] >> port & 1:
            require(bank, "only a bank lets a result wait")
            self.denied.append((self._bank(warp, register), "write" if self.cfg.bank_ports == "1R1W" else "access"))
            return
        self.met.add(warp)
        self.results += 1
        if bank:
            self._access(self._bank(warp, register), "write")
        shown = {name: bool(f[name] >> port & 1) for name in ("accepted", "store", "bank_write", "drop", "late")}
        stored = window in ("store", "merge")
        expected = {"accepted": True, "store": stored, "bank_write": bank, "drop": not (stored or bank), "late": late}
        require(shown == expected, f"a result goes where the table says: {shown}, not {expected}")
        require(f[f"class{port}"] == write_class, "the class of a result is shown")
        if owner is not None:
            owner.undone.discard(register)
        if window == "store":
            assert owner is not None
            self.last[warp, register] = owner.number
        self.lanes.written(result)

    def _follow_dispatch(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        offers = {warp: one for warp in self.inside if (one := self._offered(warp)) is not None}
        for port in range(self.cfg.ports):
            windows = {warp for warp, one in offers.items() if self._port(one.beat) == port}
            require(bool(f["offer"] >> port & 1) == bool(windows), "a port is offered the oldest ready beats")
            if windows:
                unit = f[f"dispatch_unit{port}"]
                require(unit in windows, "a port takes what a window offers")
                require(f[f"dispatch_payload{port}"] == offers[unit].beat.payload, "a window presents its beat")
                taken = bool(f["dispatch"] >> port & 1)
                require(taken == bool(stimulus.ready >> port & 1), "a ready port takes the beat")
                if taken:
                    offers[unit].left = self.cycle

    def _port(self, beat: Beat) -> int:
        return self.cfg.port_of[beat.port]

    def _offered(self, warp: int) -> SharedState | None:
        """The oldest beat of a window that is ready."""
        ports: set[int] = set()
        for one in self.undispatched(warp):
            arrived = all(self.filled.get((warp, register), -1) < self.cycle for register in one.beat.sources)
            if arrived and one.entered < self.cycle and self._port(one.beat) not in ports:
                return one
            ports.add(self._port(one.beat))
        return None

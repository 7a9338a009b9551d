"""Malekeh: collector units that keep what they collected (docs/schemes/malekeh.md)."""

from __future__ import annotations

from collections.abc import Sequence

from warpfile.golden.collectors.contract import Heads, Offer
from warpfile.golden.collectors.malekeh.choice import UnitChoice
from warpfile.golden.collectors.malekeh.results import ResultEntrance
from warpfile.golden.collectors.malekeh.state import RegisteredState
from warpfile.golden.collectors.malekeh.threshold import WaitThreshold
from warpfile.golden.collectors.malekeh.units import CachingUnits
from warpfile.golden.completion import Completion
from warpfile.golden.entry import Entry
from warpfile.golden.machine import Machine
from warpfile.golden.rf.banks import Banks
from warpfile.golden.rf.location import Location
from warpfile.golden.scheduler.policy import make_scheduler
from warpfile.spec.ctas import Launch
from warpfile.spec.environment import Result
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.malekeh import MalekehConfig

STAGE_COUNTERS = (
    *("bank_reads", "bank_writes", "bank_conflicts", "unit_cycles", "sources", "source_hits"),
    *("replaced_empty", "replaced_far", "replaced_near", "taken_own", "taken_empty", "taken_far", "taken_near"),
    *("near_lost", "wait_bubbles", "busy_bubbles", "issued_preferred", "issued_others", "intervals"),
)
_STATE_PROBES = ("request", "wait_count", "threshold", "threshold_state")
_MISSES = ("empty", "far", "near")


class MalekehStage:
    """Operand stage (:class:`golden.collectors.contract`) of caching units over banks that are always written.

    It holds nobody, prefers owners of a unit with registers, and refuses beats that find no unit or should wait.
    """

    def __init__(self, cfg: MalekehConfig, layout: ProbeLayout) -> None:
        self.hold = self.prefer = self.changed = 0
        self.counters = dict.fromkeys(STAGE_COUNTERS, 0)
        self.completion = Completion()
        self.location = Location(cfg)
        self.units = CachingUnits(cfg, self.location)
        self.banks = Banks(cfg, self.location)
        self.choice = UnitChoice(cfg.collectors)
        self.threshold = WaitThreshold(cfg)
        self.state = RegisteredState(cfg, layout, self.units)
        self.entrance = ResultEntrance(cfg, layout, self.units, self.banks, self.location, self.counters)
        self.collecting = self.units.collecting
        self._write_cycles = cfg.bank_cycles
        self._entries = cfg.unit_entries
        self._offered: dict[int, int] = {}
        self._issued = False
        self._word = 0
        self._at = layout.offset
        self._at_state = tuple(layout.offset[name] for name in _STATE_PROBES)
        self._at_unit = [layout.offset[f"dispatch_unit{port}"] for port in range(cfg.ports)]

    def unread(self, warp: int) -> int:
        """A warp has one undispatched beat at most, so nothing younger can write what it reads."""
        return 0

    def room(self, heads: Heads) -> int:
        """Warps whose own unit is not busy, whatever their head beat is."""
        return heads.buffered & ~self.state.occupied

    def offer(self) -> Sequence[Offer]:
        """See the contract. The probes of registered state are taken here."""
        at_request, at_waits, at_threshold, at_threshold_state = self._at_state
        word = self.state.word | self.units.requested << at_request | self.choice.waits << at_waits
        word |= self.threshold.value << at_threshold | self.threshold.state << at_threshold_state
        self.counters["unit_cycles"] += self.state.busy.bit_count()
        offers: list[Offer] = []
        if any(self.units.ready):
            for port, number in self.units.offer():
                unit = self.units.units[number]
                assert unit.entry is not None, f"unit {number} is offered without a beat"
                offers.append((port, unit.owner, unit.entry))
                self._offered[port] = number
                word |= number << self._at_unit[port]
        self._word = word
        return offers

    def take(self, cycle: int, results: Sequence[Result | None]) -> int:
        """Writes go before reads, but a read sees its row as it was at the beginning of the cycle."""
        accepted = self.banks.accept(cycle, results) if any(results) else 0
        if self.units.requested:
            self._read(cycle)
        if accepted:
            self._word |= self.entrance.enter(results, accepted)
            for port, result in enumerate(results):
                if result is not None and accepted >> port & 1:
                    self._store(cycle, result)
        return accepted

    def _read(self, cycle: int) -> None:
        units, rows, counters, word = self.units, self.banks.rows, self.counters, 0
        grants = self.banks.grant(cycle, units.requests, units.order)
        counters["bank_reads"] += len(grants)
        counters["bank_conflicts"] += units.requested.bit_count() - len(grants)
        for index in grants:
            units.granted(cycle, index, rows[units.banks[index]][units.rows[index]])
            word |= 1 << index
        self._word |= word << self._at["grant"]

    def _store(self, cycle: int, result: Result) -> None:
        self.completion.add(cycle + self._write_cycles - 1, result)
        if result.writes:
            self.counters["bank_writes"] += 1
            self.banks.store(result)

    def dispatch(self, port: int) -> Sequence[int]:
        """See the contract. The unit counts as busy until the end of the cycle."""
        number = self._offered[port]
        self.changed |= 1 << self.units.units[number].owner
        self.choice.dispatches(number)
        return self.units.dispatch(number)

    def accept(self, warp: int, entry: Entry) -> bool:
        """See the contract. The unit is chosen on the state at the beginning of the cycle."""
        if entry.needs_unit:
            if not self._allocate(warp, entry):
                return False
        elif entry.exits:
            self.units.release(warp)
        self._issued = True
        self.counters["issued_preferred" if self.prefer >> warp & 1 else "issued_others"] += 1
        return True

    def _allocate(self, warp: int, entry: Entry) -> bool:
        state, counters = self.state, self.counters
        number, reason = self.choice.choose(
            self.units.of_warp[warp], state.busy, state.empty, state.near, self.threshold.value
        )
        if number < 0:
            counters[f"{reason}_bubbles"] += 1
            self._word |= 1 << self._at[f"refuse_{reason}"]
            return False
        taken = self.units.take(number, warp, entry)
        counters[f"taken_{reason}"] += 1
        counters["sources"] += len(entry.beat.sources)
        counters["source_hits"] += taken.hit.bit_count()
        counters["near_lost"] += taken.lost.bit_count()
        at = self._at
        word = 1 << at[f"take_{reason}"] | 1 << at["allocate"] + number
        word |= taken.hit << at["hit"] | taken.miss << at["miss"] | taken.lost << at["lost"] + number * self._entries
        if taken.miss:
            for kind in _MISSES:
                counters[f"replaced_{kind}"] += taken.kinds[kind].bit_count()
                word |= taken.kinds[kind] << at[f"miss_{kind}"]
        self._word |= word
        return True

    def launched(self, launch: Launch) -> None:
        """See the contract."""
        self.location.launched(launch.warp, launch.base)

    def edge(self, cycle: int) -> int:
        """Data of earlier grants arrive, and everything that changed becomes registered state."""
        self.units.edge(cycle)
        self.state.refresh()
        self.prefer = self.state.prefer
        if self.threshold.edge(self._issued):
            self.counters["intervals"] += 1
            self._word |= 1 << self._at["interval_end"]
        self._issued = False
        return self._word


class Malekeh(Machine[MalekehStage]):
    """Golden model of the caching collector units.

    ``intervals`` has beats, state of the threshold machine and threshold of every finished interval.
    """

    def __init__(self, cfg: MalekehConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout, MalekehStage(cfg, layout), make_scheduler(cfg))

    @property
    def intervals(self) -> list[tuple[int, int, int]]:
        """Of every finished interval: its beats, and the state and threshold that held in it."""
        return self.stage.threshold.intervals

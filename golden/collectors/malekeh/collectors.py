"""Malekeh: collector units that keep what they collected (docs/schemes/malekeh.md)."""

from __future__ import annotations

from collections.abc import Sequence

from mypy_extensions import mypyc_attr

from warpfile.golden.collectors.contract import Heads, Offer, store_all
from warpfile.golden.collectors.malekeh.choice import UnitChoice
from warpfile.golden.collectors.malekeh.results import ResultEntrance
from warpfile.golden.collectors.malekeh.state import RegisteredState
from warpfile.golden.collectors.malekeh.threshold import WaitThreshold
from warpfile.golden.collectors.malekeh.units import CachingUnits
from warpfile.golden.entry import Entry
from warpfile.golden.rf.contract import RegisterFile
from warpfile.spec.ctas import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.malekeh import MalekehConfig
from warpfile.spec.stimulus import Result

COUNTERS = (
    *("bank_reads", "bank_conflicts", "unit_cycles", "operand_waits", "sources", "source_hits"),
    *("replaced_empty", "replaced_far", "replaced_near", "taken_own", "taken_empty", "taken_far", "taken_near"),
    *("near_lost", "wait_bubbles", "busy_bubbles", "issued_preferred", "issued_others", "intervals"),
)
_STATE_PROBES = ("request", "wait_count", "threshold", "threshold_state")


@mypyc_attr(allow_interpreted_subclasses=True)
class CachingCollectors:
    """Collectors (:class:`golden.collectors.contract.Collectors`) that keep operands; every result is stored too.

    They prefer owners of a unit with registers, and refuse beats that find no unit or should wait.
    """

    def __init__(self, cfg: MalekehConfig, layout: ProbeLayout, file: RegisterFile) -> None:
        self.prefer = self.changed = 0
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.units = CachingUnits(cfg, file)
        self.choice = UnitChoice(cfg.collectors)
        self.threshold = WaitThreshold(cfg)
        self.state = RegisteredState(cfg, layout, self.units)
        self.entrance = ResultEntrance(cfg, layout, self.units, file, self.counters)
        self.collecting = self.units.collecting
        self.rule = store_all
        self._file = file
        self._requests = self.units.requests
        self._entries = cfg.unit_entries
        self._offered: dict[int, int] = {}
        self._issued = False
        self._word = 0
        self._at = layout.offset
        self._at_state = tuple(layout.offset[name] for name in _STATE_PROBES)
        self._at_unit = [layout.offset[f"dispatch_unit{port}"] for port in range(cfg.ports)]

    @property
    def trail(self) -> Sequence[tuple[int, ...]]:
        """Of every finished interval: its beats, and the state and threshold that held in it."""
        return self.threshold.intervals

    def unread(self, warp: int) -> int:
        """A warp has one undispatched beat at most, so nothing younger can write what it reads."""
        return 0

    def room(self, heads: Heads) -> int:
        """Warps whose own unit is not busy, whatever their head beat is."""
        return heads.buffered & ~self.state.occupied

    def offer(self) -> Sequence[Offer]:
        """See the contract. The probes of registered state are taken here."""
        at_request, at_waits, at_threshold, at_threshold_state = self._at_state
        word = self.state.word | self._requests.asking << at_request | self.choice.waits << at_waits
        word |= self.threshold.value << at_threshold | self.threshold.state << at_threshold_state
        self.counters["unit_cycles"] += self.state.busy.bit_count()
        self.counters["operand_waits"] += self.state.lacking.bit_count()
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

    def read(self, cycle: int) -> None:
        """See the contract."""
        requests, counters, word = self._requests, self.counters, 0
        if not requests.asking:
            return
        grants = self._file.read(cycle, requests.of_bank, requests.rows, self.units.order)
        counters["bank_reads"] += len(grants)
        counters["bank_conflicts"] += requests.asking.bit_count() - len(grants)
        for index, copy, arrival in grants:
            self.units.granted(index, copy, arrival)
            word |= 1 << index
        self._word |= word << self._at["grant"]

    def settle(self, results: Sequence[Result | None], accepted: int) -> None:
        """Near results enter their units, others make entries stale."""
        self._word |= self.entrance.enter(results, accepted)

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
            for kind, slots in taken.kinds.items():
                if slots:
                    counters[f"replaced_{kind}"] += slots.bit_count()
                    word |= slots << at[f"miss_{kind}"]
        self._word |= word
        return True

    def launched(self, launch: Launch) -> None:
        """See the contract."""
        self.entrance.launched(launch.warp)

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

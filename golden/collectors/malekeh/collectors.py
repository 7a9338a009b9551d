"""Malekeh: collector units that keep what they collected (docs/schemes/malekeh.md)."""

from __future__ import annotations

from collections.abc import Sequence

from mypy_extensions import mypyc_attr

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.contract import Collectors, Heads, Offer
from warpfile.golden.collectors.malekeh.choice import UnitChoice
from warpfile.golden.collectors.malekeh.results import ResultEntrance
from warpfile.golden.collectors.malekeh.state import RegisteredState
from warpfile.golden.collectors.malekeh.threshold import WaitThreshold
from warpfile.golden.collectors.malekeh.units import CachingUnits
from warpfile.golden.entry import Entry
from warpfile.golden.rf.contract import RegisterFile
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.malekeh import MalekehConfig
from warpfile.spec.stimulus import Result

COUNTERS = (
    *("bank_reads", "bank_conflicts", "unit_cycles", "operand_waits", "sources", "source_hits"),
    *("replaced_empty", "replaced_far", "replaced_near", "taken_own", "taken_empty", "taken_far", "taken_near"),
    *("near_lost", "wait_bubbles", "busy_bubbles", "issued_preferred", "issued_others", "intervals"),
)


@mypyc_attr(allow_interpreted_subclasses=True)
class CachingCollectors(Collectors):
    """Collectors (:class:`golden.collectors.contract.Collectors`) that keep operands; every result is stored too.

    They prefer owners of a unit with registers, and refuse beats that find no unit or should wait.
    """

    def __init__(self, cfg: MalekehConfig, layout: ProbeLayout, file: RegisterFile) -> None:
        self.prefer = self.changed = 0
        self._counters = dict.fromkeys(COUNTERS, 0)
        # Those that most cycles change, by names of their own.
        self._reads = self._asked = self._unit_cycles = self._waits = self._preferred = self._others = 0
        self._sources = self._hits = self._lost = 0
        self.units = CachingUnits(cfg, file)
        self.choice = UnitChoice(cfg.collectors)
        self.threshold = WaitThreshold(cfg)
        self.state = RegisteredState(cfg, layout, self.units)
        self.entrance = ResultEntrance(cfg, layout, self.units, file, self._counters)
        self._file = file
        self._requests = self.units.requests
        self._entries = cfg.unit_entries
        self._offered: dict[int, int] = {}
        self._retakes = cfg.retake == "same"
        self._busy = 0  # units that take no beat in this cycle
        self._issued = False
        self._taken = -1  # the unit that took a beat in this cycle
        # Events are short words by themselves, and go into the long one, with what lies far from them, at once.
        self._word = self._far = 0
        self._first = first = layout.offset["allocate"]
        self._at = {name: at - first for name, at in layout.offset.items()}
        self._at_request, self._at_grant, self._at_lost = (self._at[name] for name in ("request", "grant", "lost"))
        self._at_hit, self._at_miss, self._at_waits = self._at["hit"], self._at["miss"], layout.offset["wait_count"]
        self._at_threshold = layout.offset["threshold"] - self._at_waits
        self._at_threshold_state = layout.offset["threshold_state"] - self._at_waits
        self._at_unit = [layout.offset[f"dispatch_unit{port}"] for port in range(cfg.ports)]

    @property
    def counters(self) -> dict[str, int]:
        """See the contract."""
        return self._counters | {
            "bank_reads": self._reads,
            "bank_conflicts": self._asked - self._reads,
            "unit_cycles": self._unit_cycles,
            "operand_waits": self._waits,
            "sources": self._sources,
            "source_hits": self._hits,
            "near_lost": self._lost,
            "issued_preferred": self._preferred,
            "issued_others": self._others,
        }

    @property
    def trail(self) -> Sequence[tuple[int, ...]]:
        """Of every finished interval: its beats, and the state and threshold that held in it."""
        return self.threshold.intervals

    def collecting(self, warp: int) -> bool:
        """See the contract."""
        return self.units.collecting(warp)

    def unread(self, warp: int) -> int:
        """A warp has one undispatched beat at most, so nothing younger can write what it reads."""
        return 0

    def room(self, heads: Heads, ready: int) -> int:
        """Warps whose own unit is not busy, whatever their head beat is."""
        busy, occupied = self.state.busy, self.state.occupied
        if self._retakes and busy:
            leaving = self.units.leaving(ready)
            busy &= ~leaving
            self.choice.hold()
            for number in indices(leaving):
                occupied &= ~(1 << self.units.units[number].owner)
        self._busy = busy
        return heads.buffered & ~occupied

    def offer(self) -> list[Offer]:
        """See the contract. The probes of registered state are taken here."""
        threshold = self.threshold.value << self._at_threshold | self.threshold.state << self._at_threshold_state
        self._far = self.state.word | (self.choice.waits | threshold) << self._at_waits
        self._word = self._requests.asking << self._at_request
        self._unit_cycles += len(self.units.order)
        self._waits += self.state.lacking.bit_count()
        offers: list[Offer] = []
        if any(ready != 0 for ready in self.units.ready):
            for port, number in self.units.offer():
                unit = self.units.units[number]
                assert unit.entry is not None, f"unit {number} is offered without a beat"
                offers.append((port, unit.owner, unit.entry))
                self._offered[port] = number
                self._far |= number << self._at_unit[port]
        return offers

    def read(self, cycle: int) -> None:
        """See the contract."""
        requests, word = self._requests, 0
        if not requests.asking:
            return
        grants = self._file.read(cycle, requests.of_bank, requests.rows, self.units.order)
        self._reads += len(grants)
        self._asked += requests.asking.bit_count()
        for index, copy, arrival in grants:
            self.units.granted(index, copy, arrival)
            word |= 1 << index
        self._word |= word << self._at_grant

    def settle(self, results: list[Result | None], accepted: int) -> None:
        """See the contract. Entries change at the end of the cycle: the beat of ``accept`` sees them as they are."""
        self.entrance.look(results, accepted)

    def dispatch(self, port: int) -> list[int]:
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
        if self.prefer >> warp & 1:
            self._preferred += 1
        else:
            self._others += 1
        return True

    def _allocate(self, warp: int, entry: Entry) -> bool:
        state, counters, at = self.state, self._counters, self._at
        number, reason = self.choice.choose(
            self.units.of_warp[warp], self._busy, state.empty, state.near, self.threshold.value
        )
        if number < 0:
            counters[f"{reason}_bubbles"] += 1
            self._word |= 1 << at[f"refuse_{reason}"]
            return False
        self._taken = number
        taken = self.units.take(number, warp, entry)
        counters[f"taken_{reason}"] += 1
        self._sources += len(entry.beat.sources)
        self._hits += taken.hit.bit_count()
        self._lost += taken.lost.bit_count()
        word = 1 << at[f"take_{reason}"] | 1 << at["allocate"] + number
        word |= taken.hit << self._at_hit | taken.miss << self._at_miss
        word |= taken.lost << self._at_lost + number * self._entries
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
        """Results enter, data of earlier grants arrive, and everything that changed becomes registered state."""
        self._far |= self.entrance.enter(self._taken)
        self._taken = -1
        self.units.edge(cycle)
        self.state.refresh()
        self.choice.edge()
        self.prefer = self.state.prefer
        if self.threshold.edge(self._issued):
            self._counters["intervals"] += 1
            self._word |= 1 << self._at["interval_end"]
        self._issued = False
        return self._far | self._word << self._first if self._word else self._far

"""What every engine's register file has in common: units read a cache of intervals (docs/schemes/ltrf.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mypy_extensions import mypyc_attr

from warpfile.golden.collectors.contract import Heads
from warpfile.golden.rf.banks import Access, Banks
from warpfile.golden.rf.contract import Place
from warpfile.golden.rf.engine import EnginePort
from warpfile.golden.rf.location import Location
from warpfile.golden.rf.ltrf.main import MainBanks
from warpfile.golden.rf.ltrf.partitions import Partitions
from warpfile.golden.rf.ltrf.results import ResultEntrance
from warpfile.golden.rf.ltrf.seen import Seen
from warpfile.golden.scheduler.places import Places
from warpfile.spec.beat import Beat
from warpfile.spec.ctas import Launch


@mypyc_attr(allow_interpreted_subclasses=True)
class IntervalFile:
    """Register file (:class:`golden.rf.contract.LateFile`) with nothing near: units read the banks of the cache.

    It takes the operands of pseudo-instructions. A subclass says how registers move.
    """

    launch_ready = True
    drives_itself = True
    refuses = 0
    yields = 0

    def __init__(
        self,
        places: Places,
        seen: Seen,
        location: Location,
        storage: tuple[Banks, MainBanks],
        partitions: Partitions,
        entrance: ResultEntrance,
    ) -> None:
        self.engines: Mapping[str, EnginePort] = {}
        self.seen, self.location, self.partitions, self.entrance = seen, location, partitions, entrance
        self.counters = seen.counters
        self.cache, self.main = storage
        self.completion = entrance.completion
        self.release = partitions.release
        self.issued = partitions.issued
        self.hold = partitions.hold
        self._places = places

    def operand(self, operand: int) -> None:
        """See the contract."""
        self.partitions.operand = operand

    def gate(self, heads: Heads) -> None:
        """See the contract: it only looks at the head beat of a warp that comes back."""
        self.partitions.gate(heads)

    def refused(self, warp: int) -> None:
        """No beat is refused."""

    def note(self, beat: Beat) -> int:
        """Nothing is near."""
        return 0

    def unwritten(self, slots: int, banks: Sequence[int], rows: Sequence[int]) -> int:
        """A result is in its row when it is complete."""
        return 0

    def deferred(self, warp: int, sources: Sequence[int], lanes: int) -> bool:
        """No look-up is put off."""
        return False

    def near(self, copies: Sequence[int]) -> None:
        """Nothing is near."""

    def near_data(self, copies: Sequence[int], slots: Sequence[int], note: int) -> list[int]:
        """Nothing is near."""
        return []

    def read(self, cycle: int, asking: Sequence[int], rows: Sequence[int], order: Sequence[int]) -> list[Access]:
        """See the contract."""
        grants = self.cache.read(cycle, asking, rows, order)
        self.counters["cache_reads"] += len(grants)
        return grants

    def look_up(self, warp: int, sources: Sequence[int]) -> list[int]:
        """See the contract. A source that is not there sets the error flag."""
        self.counters["look_ups"] += 1
        part = self.partitions.parts[self._places.place[warp]]
        for slot, register in enumerate(sources):
            self.seen.looked_up(slot, part.bank[register])
            if not part.cached >> register & 1:
                self.seen.fails = True
        return [-1] * len(sources)

    def place(self, warp: int, register: int) -> Place:
        """Bank and row of the cache."""
        place = self._places.place[warp]
        return self.partitions.parts[place].bank[register], place

    def launched(self, launch: Launch) -> None:
        """See the contract."""
        self.location.launched(launch.warp, launch.base)
        self.partitions.launched(launch.warp)
        self.entrance.launched(launch.warp)

"""Golden model of the file that moves rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.movers.scheme import MoversConfig
from warpfile.golden.entry import Entry
from warpfile.golden.rf.banks import Write
from warpfile.golden.rf.engine import Ask, Served
from warpfile.golden.rf.location import Location
from warpfile.golden.rf.plain import PlainFile
from warpfile.golden.scheduler.places import Places
from warpfile.spec.config import Config
from warpfile.spec.probe import ProbeLayout

NOWHERE = -2  #: a value that no register holds, so that a write of some lanes says nothing of the others


class SwappedLocation(Location):
    """As in the baseline, but some pairs of a warp's registers live in each other's place."""

    def __init__(self, cfg: Config) -> None:
        super().__init__(cfg)
        self.swapped = [0] * cfg.warps

    def launched(self, warp: int, base: int) -> None:
        """Every register is at home."""
        super().launched(warp, base)
        self.swapped[warp] = 0

    def place(self, warp: int, register: int) -> tuple[int, int]:
        """Bank and row."""
        return super().place(warp, register ^ (self.swapped[warp] >> register // 2 & 1))


@dataclass
class Swap:
    """What a warp is held for; ``ready``: the first cycle in which the next access may start."""

    pair: int
    ready: int
    copies: list[int] = field(default_factory=list)
    todo: list[Ask] = field(default_factory=list)


class MoversFile(PlainFile):
    """A plain file with two engines of its own."""

    location: SwappedLocation

    def __init__(self, cfg: MoversConfig, layout: ProbeLayout, places: Places | None) -> None:
        super().__init__(cfg, SwappedLocation(cfg))
        self.hold = 0
        self.counters["moves"] = 0
        self._at = layout.offset["moving"]
        self._rest, self._writer = cfg.rest, "fetch" if cfg.store == "fetch" else "store"
        low = (1 << (cfg.lanes + 1) // 2) - 1
        self._halves = (low, (1 << 32) - 1 & ~low) if cfg.halves else (0,)
        self._issued: int | None = None  # whose pseudo-instruction issues in this cycle
        self._asked: int | None = None  # whose operand comes in this cycle
        self._swaps: dict[int, Swap] = {}
        self._pair: int | None = None

    def operand(self, operand: int) -> None:
        """The pair to be swapped."""
        self._pair = operand

    def issued(self, warp: int, entry: Entry) -> None:
        """A swap holds its warp from the next cycle on."""
        if entry.beat.pseudo:
            self.hold |= 1 << warp
            self._issued = warp

    def edge(self, cycle: int) -> int:
        """What was served, then what is asked for in the next cycle."""
        word = super().edge(cycle)
        assert self.own is not None
        for served in self.own.served:
            self._step(served)
            word |= 1 << self._at + served.client
        self.counters["moves"] += len(self.own.served)
        if self._pair is not None:
            assert self._asked is not None
            self._swaps[self._asked] = Swap(self._pair, cycle + 1 + self._rest)
            self._pair = None
        self._asked, self._issued = self._issued, None
        self.own.asks = {"fetch": {}, "store": {}}
        for warp, swap in self._swaps.items():
            if cycle + 1 >= swap.ready:
                engine, ask = self._next(warp, swap)
                self.own.asks[engine][warp] = ask
        return word

    def _next(self, warp: int, swap: Swap) -> tuple[str, Ask]:
        if len(swap.copies) < 2:
            return "fetch", Ask(*self.place(warp, 2 * swap.pair + len(swap.copies)))
        if not swap.todo:
            swap.todo = list(self._writes(warp, swap))
        return self._writer, swap.todo[0]

    def _writes(self, warp: int, swap: Swap) -> Iterator[Ask]:
        """Each of the two rows gets what the other one held."""
        for number, copy in enumerate(reversed(swap.copies)):
            bank, row = self.place(warp, 2 * swap.pair + number)
            before = NOWHERE
            for lanes in self._halves:
                yield Ask(bank, row, Write(row, copy, before, lanes))
                before = copy

    def _step(self, served: Served) -> None:
        swap = self._swaps[served.client]
        if len(swap.copies) < 2:
            swap.copies.append(served.copy)
            swap.ready = served.arrival + 1
            return
        swap.todo.pop(0)
        if not swap.todo:
            self.location.swapped[served.client] ^= 1 << swap.pair
            self.hold &= ~(1 << served.client)
            del self._swaps[served.client]

"""What becomes of a result behind X: T, W0 and W1 (docs/schemes/corf.md, section 5)."""

from __future__ import annotations

from typing import Final

from warpfile.golden.copies import NEVER_WRITTEN, POISON, Latest, passed_by, written
from warpfile.golden.rf.banks import Banks
from warpfile.golden.rf.completions import Completions
from warpfile.golden.rf.packed.cells import Cells
from warpfile.golden.rf.packed.evictions import NOBODY, Leaving, UnderWay
from warpfile.golden.rf.packed.placement import Placement, Wanted, shrunk
from warpfile.golden.rf.packed.probes import Probes
from warpfile.golden.rf.renaming import Mapped, RenamingTable
from warpfile.golden.rf.slices import FreeSlices
from warpfile.spec.schemes.packed import ALLOCATE, IN_PLACE, RESIZE, SHRINK, PackedConfig
from warpfile.spec.stimulus import Result

_NEVER: Final = 1 << 62


class Reading:
    """A result or an eviction in T: what is known of its value, and the number of its register's partner, or -1."""

    __slots__ = ("partner", "result", "wanted")

    def __init__(self, result: Result | Leaving, wanted: Wanted, partner: int) -> None:
        self.result, self.wanted, self.partner = result, wanted, partner


class Deciding:
    """A result or an eviction in W0: its size, the mapping of its register as it was read, what is to be done.

    ``start`` is the first cycle in which it may go on; ``held`` the copy that lanes outside its mask keep. It is
    ``fresh`` in its first cycle.
    """

    __slots__ = ("code", "fresh", "held", "merges", "old", "result", "start", "wanted")

    def __init__(self, result: Result | Leaving, wanted: Wanted, old: Mapped) -> None:
        self.result, self.wanted, self.old = result, wanted, old
        self.code = decision(result.full, wanted.size, old.mask.bit_count())
        self.merges = self.code == RESIZE and not result.full
        self.start = _NEVER if self.merges else 0
        self.held, self.fresh = POISON, True


class Storing:
    """A result or an eviction in W1, and its slices. With ``held`` all lanes are written, without those of its mask."""

    __slots__ = ("held", "in_place", "result", "target")

    def __init__(self, deciding: Deciding, target: Mapped) -> None:
        self.result, self.held, self.target = deciding.result, deciding.held, target
        self.in_place = deciding.code == IN_PLACE


def decision(full: bool, size: int, old: int) -> int:
    """What is done with a value of this size whose register has ``old`` slices."""
    if not old:
        return ALLOCATE
    if size == old or (size < old and not full):
        return IN_PLACE
    return SHRINK if size < old else RESIZE


class Stages:
    """Per write-back port what is in T, W0 and W1; ``store``, ``decide``, then ``advance``, once per cycle each.

    ``asking``: entries, as warp and register, that results in W0 ask to write in this cycle. ``fails``: a search found
    nothing. ``underway``: evictions as they were when the cycle began.
    """

    def __init__(
        self,
        cfg: PackedConfig,
        banks: Banks,
        table: RenamingTable,
        free: FreeSlices,
        completions: Completions,
        probes: Probes,
    ) -> None:
        self._ports = range(cfg.write_ports - 1, -1, -1)
        self.reading: list[Reading | None] = [None] * cfg.write_ports
        self.deciding: list[Deciding | None] = [None] * cfg.write_ports
        self.storing: list[Storing | None] = [None] * cfg.write_ports
        self.asking: list[tuple[int, int]] = []
        self.fails = False
        self.underway = UnderWay()
        self.cells = Cells(cfg)
        self.latest = Latest(cfg)
        self._unmapped = [dict[int, int]() for _ in range(cfg.warps)]  # copies that registers without slices are
        self._placement = Placement(cfg, free)
        self._banks, self._table, self._free = banks, table, free
        self._completions, self._probes = completions, probes
        self._evicts = cfg.asks.evicts

    @property
    def empty(self) -> bool:
        """Whether there is nothing in T, W0 and W1."""
        return not (any(self.reading) or any(self.deciding) or any(self.storing))

    def observe(self) -> None:
        """Probes of what is in T, W0 and W1 at the beginning of the cycle."""
        reading = deciding = storing = 0
        for port in self._ports:
            reading |= (self.reading[port] is not None) << port
            deciding |= (self.deciding[port] is not None) << port
            storing |= (self.storing[port] is not None) << port
        self._probes.level("reading", reading)
        self._probes.level("deciding", deciding)
        self._probes.level("storing", storing)
        if self._evicts:
            underway = self.underway
            underway.reading, underway.deciding, underway.storing = map(_leaving, self._of_evictions())
            held = (underway.reading, underway.deciding, underway.storing)
            self._probes.level("underway", sum((one != NOBODY) << at for at, one in enumerate(held)))

    def _of_evictions(self) -> tuple[Reading | None, Deciding | None, Storing | None]:
        """What is in the stages that evictions pass."""
        return self.reading[0], self.deciding[0], self.storing[0]

    def store(self, cycle: int) -> None:
        """The banks serve the results in W1, and those in W0 that want to merge."""
        merging = 0
        for port in self._ports:
            storing, deciding = self.storing[port], self.deciding[port]
            if storing is not None and self._banks.claim(cycle, storing.target.bank):
                self._store(storing)
                self._probes.show("stored", 1 << port)
                if isinstance(storing.result, Result):
                    self._completions.stored(cycle, port, storing.result)
                self.storing[port] = None
            if deciding is not None:
                merging |= (deciding.merges and not deciding.fresh) << port
                deciding.fresh = False
        while merging:
            port = merging.bit_length() - 1
            merging ^= 1 << port
            self._merge(cycle, port)

    def _merge(self, cycle: int, port: int) -> None:
        """M0."""
        deciding = self.deciding[port]
        assert deciding is not None, f"W0 of port {port} is empty"
        if self._banks.claim(cycle, deciding.old.bank):
            deciding.held, deciding.merges, deciding.start = self.cells.read(deciding.old), False, cycle + 2
            self._probes.show("merge", 1 << port)

    def _store(self, storing: Storing) -> None:
        self._probes.sums["bank_writes"] += 1
        result, target = storing.result, storing.target
        if isinstance(result, Leaving):
            self.cells.write(target, result.copy)
            return
        held = self.cells.read(target) if storing.in_place else storing.held
        self.cells.write(target, written(held, self.latest.change(result), result))

    def decide(self, cycle: int) -> None:
        """Results move from W0 to W1."""
        self.asking.clear()
        changes = False
        for port in self._ports:
            deciding = self.deciding[port]
            if deciding is None or deciding.start > cycle or self.storing[port] is not None:
                continue
            if deciding.code == IN_PLACE:
                self._move(port, deciding, deciding.old)
            elif changes:
                self._probes.show("search_wait", 1 << port)
            else:
                changes = True
                self._probes.level("search", 1 << port)
                self._change(port, deciding)

    def advance(self) -> None:
        """Results move from T to W0."""
        for port in self._ports:
            reading = self.reading[port]
            if reading is not None and self.deciding[port] is None:
                self.reading[port] = None
                self.deciding[port] = Deciding(reading.result, reading.wanted, reading.wanted.own)

    def _follow(self, warp: int, register: int, target: Mapped) -> None:
        """T learns where the partner of its register is from now on."""
        for reading in self.reading:
            if reading is not None and (reading.result.warp, reading.partner) == (warp, register):
                reading.wanted.partner = target

    def _change(self, port: int, deciding: Deciding) -> None:
        """The one result of a cycle that writes the table."""
        result, old, wanted = deciding.result, deciding.old, deciding.wanted
        self.asking.append((result.warp, result.register))
        if deciding.code == SHRINK:
            target = shrunk(old, wanted.size, wanted.side)
            self._give_up(Mapped(old.bank, old.row, old.mask ^ target.mask))
            self._map(port, deciding, target)
            return
        target = self._placement.find(wanted)
        if not target.mask:
            self.fails = True
            return
        self._placement.settle(wanted, target)
        self.cells.give_up(old)
        if deciding.code == ALLOCATE:
            deciding.held = self._unmapped[result.warp].pop(result.register, NEVER_WRITTEN)
        self._map(port, deciding, target)

    def pass_by(self, result: Result) -> None:
        """What the file has of a register, or will have, is out of date where a result passes it by."""
        before = self.latest.change(result)
        for one in self._of_evictions():
            if one is not None and _leaving(one) == (result.warp, result.register):
                leaving = one.result
                assert isinstance(leaving, Leaving), "only an eviction is under way"
                leaving.copy = passed_by(leaving.copy, before, result.row, result.mask)
                return
        mapped = self._table.entry(result.warp, result.register)
        copy = self.cells.read(mapped) if mapped.mask else self.unmapped(result.warp, result.register)
        copy = passed_by(copy, before, result.row, result.mask)
        if mapped.mask:
            self.cells.write(mapped, copy)
        else:
            self._unmapped[result.warp][result.register] = copy

    def unmapped(self, warp: int, register: int) -> int:
        """The copy that a register is which is nowhere."""
        return self._unmapped[warp].get(register, NEVER_WRITTEN)

    def launched(self, warp: int) -> None:
        """A new warp has written nothing."""
        self.latest.launched(warp)
        self._unmapped[warp].clear()

    def release(self, mapped: Mapped) -> None:
        """A register is nowhere any more."""
        self._give_up(mapped)

    def _give_up(self, mapped: Mapped) -> None:
        self._free.release(mapped)
        self.cells.give_up(mapped)

    def _map(self, port: int, deciding: Deciding, target: Mapped) -> None:
        result = deciding.result
        self._table.write(result.warp, result.register, target)
        self._follow(result.warp, result.register, target)
        self._move(port, deciding, target)

    def _move(self, port: int, deciding: Deciding, target: Mapped) -> None:
        self.deciding[port] = None
        self.storing[port] = Storing(deciding, target)
        self._probes.decision(port, deciding.code, target)
        partner = deciding.wanted.partner
        if partner is not None and partner.mask:
            beside = partner.bank == target.bank and partner.row == target.row
            self._probes.show("with_partner" if beside else "without_partner", 1 << port)


def _leaving(held: Reading | Deciding | Storing | None) -> tuple[int, int]:
    """Warp and register of what a stage holds, if that is an eviction."""
    result = None if held is None else held.result
    return (result.warp, result.register) if isinstance(result, Leaving) else NOBODY

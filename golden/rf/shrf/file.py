"""Register file with entries near the execution units that the compiler allocates (docs/schemes/shrf.md)."""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.contract import Heads
from warpfile.golden.copies import Latest, passed_by, written_lanes
from warpfile.golden.entry import Entry
from warpfile.golden.rf.banks import RESULTS, Access
from warpfile.golden.rf.contract import Bring
from warpfile.golden.rf.location import Location
from warpfile.golden.rf.plain import PlainFile
from warpfile.golden.rf.shrf.entries import Entries
from warpfile.golden.rf.shrf.events import Events
from warpfile.golden.rf.shrf.hints import BeatHints
from warpfile.golden.scheduler.places import Places
from warpfile.spec.beat import Beat
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.shrf import ShrfConfig
from warpfile.spec.stimulus import Result


class Incoming:
    """A row on its way from a bank, that an entry gets in ``cycle``."""

    __slots__ = ("copy", "cycle", "entry", "lanes", "register", "warp")

    def __init__(self, cycle: int, entry: int, warp: int, register: int, copy: int, lanes: int) -> None:
        self.cycle, self.entry, self.warp = cycle, entry, warp
        self.register, self.copy, self.lanes = register, copy, lanes


@mypyc_attr(allow_interpreted_subclasses=True)
class LeveledFile(PlainFile):
    """Register file (:class:`golden.rf.contract.LeveledFile`, and ``GatedFile``) with entries per place.

    The name of a copy is entry * register_names + register. Without entries it is a plain file.
    """

    def __init__(self, cfg: ShrfConfig, layout: ProbeLayout, places: Places | None) -> None:
        super().__init__(cfg, Location(cfg))
        self.refuses = self.yields = self.hold = 0
        self._off = cfg.is_off
        self._places = places or Places.of_all(cfg)
        self._size = cfg.place_entries
        self._names = cfg.register_names
        self._orf = cfg.orf_entries
        self._entries = Entries(cfg.entry_places * self._size)
        self._hints = BeatHints(cfg)
        self._levels = Latest(cfg)
        self._cycles = cfg.bank_cycles
        self._due: list[set[int]] = [set() for _ in range(cfg.write_ports)]
        self._bring: Bring | None = None
        self._incoming: list[Incoming] = []
        self._taken: list[tuple[Result, int]] = []  # accepted in this cycle with a register, and the entry or -1
        self._issuing: tuple[int, Entry] | None = None
        self._events = None if self._off else Events(cfg, layout, self.counters)

    # -- over registered state

    def gate(self, heads: Heads) -> None:
        """Warps whose head beat uses an entry that is to be written."""
        self.hold, written = 0, self._entries.written
        if written:
            for warp in indices(self._places.holders & heads.buffered):
                head, base = heads.buffers[warp][0], self._places.place[warp] * self._size
                if head.executes and self._hints.uses(head) & written >> base:
                    self.hold |= 1 << warp

    def refused(self, warp: int) -> None:
        """Nothing is refused."""
        raise AssertionError(f"warp {warp} is refused by a file that refuses nothing")

    def release(self, places: int) -> int:
        """Nothing is moved; what the entries hold is lost."""
        if not self._off:
            for place in indices(places):
                self._entries.forget(self._of(place))
        return places

    def _of(self, place: int) -> range:
        return range(place * self._size, (place + 1) * self._size)

    def named(self, warp: int, beat: Beat) -> tuple[list[int], int]:
        """See the contract."""
        entries, bring = self._hints.sources(beat)
        base = self._places.place[warp] * self._size
        copies = [
            -1 if entry < 0 else (base + entry) * self._names + register
            for entry, register in zip(entries, beat.sources, strict=False)
        ]
        return copies, bring

    def near(self, copies: list[int]) -> None:
        """Reads of entries conflict with no other access."""

    def brings(self, bring: Bring) -> None:
        """See the contract."""
        self._bring = bring

    # -- ports

    def read(self, cycle: int, asking: list[int], rows: list[int], order: list[int]) -> list[Access]:
        """See the contract. What the slot that brings is granted is on its way to its entry."""
        grants, bring = super().read(cycle, asking, rows, order), self._bring
        if bring is not None:
            for slot, copy, arrival in grants:
                if slot == bring.slot:
                    entry, register = divmod(bring.copy, self._names)
                    warp = self._places.warp[entry // self._size]
                    self._incoming.append(Incoming(arrival, entry, warp, register, copy, bring.lanes))
        return grants

    def accept(self, cycle: int, results: list[Result | None], valid: int, store: int) -> int:
        """See the contract: every bank, and every write port of the entries, chooses the highest port by itself."""
        if self._off:
            return super().accept(cycle, results, valid, store)
        if not valid:
            return 0
        if self.banks.shared:
            self.banks.turn(cycle, RESULTS)
        accepted, chosen = 0, set[str]()
        filling = any(incoming.cycle == cycle for incoming in self._incoming)
        for port in range(len(results) - 1, -1, -1):
            result = results[port]
            if result is None or not valid >> port & 1:
                continue
            if not store >> port & 1:
                accepted |= 1 << port
                self._complete(cycle, port, result, self._cycles)
            elif self._takes(cycle, port, result, chosen, filling):
                accepted |= 1 << port
        return accepted

    def _takes(self, cycle: int, port: int, result: Result, chosen: set[str], filling: bool) -> bool:
        """Whether all that the result asks is free and has chosen it; then it is taken."""
        entry, to_bank = self._hints.result(result), not self._hints.skips(result)
        bank, row = self.place(result.warp, result.register)
        asked = {f"bank {bank}"} if to_bank else set()
        if entry >= 0:
            asked.add("orf" if entry < self._orf else f"entry {entry}")
        lost = asked & chosen
        chosen |= asked
        if lost or (filling and "orf" in asked) or (to_bank and not self.banks.claim(cycle, bank, row)):
            return False
        events = self._events
        assert events is not None
        if to_bank:
            events.note("bank_write", port)
        at = -1
        if entry >= 0:
            place = self._places.place[result.warp]
            assert place >= 0, f"a result for an entry arrives for warp {result.warp}, which has no place"
            at = place * self._size + entry
            events.note("orf_write" if entry < self._orf else "lrf_write", port)
        self._taken.append((result, at))
        self._complete(cycle, port, result, 1 if entry >= 0 else self._cycles)
        return True

    def _complete(self, cycle: int, port: int, result: Result, length: int) -> None:
        """A port completes one result per cycle."""
        due = {other for other in self._due[port] if other >= cycle}
        last = cycle + length - 1
        while last in due:
            last += 1
        self._due[port] = due | {last}
        self.completion.add(last, result)

    def near_data(self, copies: list[int], slots: list[int], note: int) -> list[int]:
        """See the contract."""
        events = self._events
        assert events is not None
        data = []
        for slot, copy in zip(slots, copies, strict=True):
            entry, register = divmod(copy, self._names)
            events.note("orf_read" if entry % self._size < self._orf else "lrf_read", slot)
            data.append(self._entries.held(entry, register))
        return data

    # -- clock edge

    def issued(self, warp: int, entry: Entry) -> None:
        """From the next cycle on the beat's entries are to be written."""
        if not self._off:
            self._issuing = warp, entry

    def launched(self, launch: Launch) -> None:
        """See the contract."""
        super().launched(launch)
        self._levels.launched(launch.warp)

    def edge(self, cycle: int) -> int:
        """What results and banks bring, what issues."""
        if self._off:
            return super().edge(cycle)
        events, entries = self._events, self._entries
        assert events is not None
        word = events.state(entries.written, self.hold)
        self._bring = None
        for result, at in self._taken:
            self._change(result, at)
        self._taken.clear()
        for incoming in [one for one in self._incoming if one.cycle == cycle]:
            self._incoming.remove(incoming)
            entries.bring(incoming.entry, incoming.register, incoming.copy, incoming.lanes)
            place, own = divmod(incoming.entry, self._size)
            events.note("bring", place * self._orf + own)
        if self._issuing is not None:
            self._start(*self._issuing)
            self._issuing = None
        return word | events.take()

    def _change(self, result: Result, at: int) -> None:
        """A result is written to its bank, to an entry, or to both; what it does not reach is out of date."""
        before, row, lanes = self._levels.change(result), result.row, result.mask
        bank, of_bank = self.place(result.warp, result.register)
        rows = self.banks.rows[bank]
        if self._hints.skips(result):
            rows[of_bank] = passed_by(rows[of_bank], before, row, lanes)
        else:
            rows[of_bank] = written_lanes(rows[of_bank], before, row, lanes)
        for incoming in self._incoming:
            if incoming.warp == result.warp and incoming.register == result.register:
                incoming.copy = passed_by(incoming.copy, before, row, lanes)
        place = self._places.place[result.warp]
        if place >= 0:
            self._entries.pass_by(self._of(place), at, result.register, before, row, lanes)
            if at >= 0:
                self._entries.write(at, result.register, before, row, lanes)

    def _start(self, warp: int, entry: Entry) -> None:
        base = self._places.place[warp] * self._size
        if entry.executes:
            for own in indices(self._hints.writes(entry)):
                self._entries.expects(base + own)
        if entry.exits:
            self._entries.forget(self._of(self._places.place[warp]))

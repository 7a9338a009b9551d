"""A second reading of file and units, from probes, results and beats alone (docs/schemes/corf.md)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tests.golden.collectors.coalescing.slots import Entry, SlotWatcher
from tests.golden.invariants import bits, require
from tests.golden.rf.packed.reading import NOWHERE, Place, Rows, bytes_of, kept, sized
from warpfile.spec.schemes.packed import ALLOCATE, CHUNK, IN_PLACE, RESIZE, SHRINK, PackedConfig
from warpfile.spec.stimulus import Result, Stimulus


@dataclass
class InW0:
    """A result in T or in W0, as it left X; in T it follows where its partner, ``beside``, is."""

    result: Result
    size: int
    old: Place
    partner: Place | None
    beside: Entry | None
    side: int
    since: int = -1  #: its first cycle in W0
    merged: int | None = None  #: first cycle behind M1

    @property
    def code(self) -> int:
        """What is to be done."""
        had, full = sized(self.old[2]), self.result.full
        if not had:
            return ALLOCATE
        if self.size == had or (self.size < had and not full):
            return IN_PLACE
        return SHRINK if self.size < had else RESIZE

    @property
    def merges(self) -> bool:
        """Whether it has to read its old row first."""
        return self.code == RESIZE and not self.result.full


@dataclass
class PackedWatcher(SlotWatcher):
    """Says of every cycle what exactly has to happen in it.

    ``where`` is the renaming table, ``space`` the owners of all slices, ``t``, ``w0`` and ``w1`` what each port holds.
    """

    space: Rows = field(init=False)
    t: dict[int, InW0] = field(default_factory=dict)
    w0: dict[int, InW0] = field(default_factory=dict)
    w1: dict[int, tuple[Result, Place]] = field(default_factory=dict)
    done: dict[int, Result] = field(default_factory=dict)
    late: dict[int, list[tuple[int, Result]]] = field(default_factory=dict)
    swept: set[int] = field(default_factory=set)
    sweeping: int | None = None
    left: set[int] = field(default_factory=set)
    held: Entry | None = None
    waited: bool = False
    partners: dict[int, int] = field(default_factory=dict)
    sides: dict[int, int] = field(default_factory=dict)
    freed: list[Place] = field(default_factory=list)
    taken: list[tuple[object, Place]] = field(default_factory=list)
    reserve: Place | None = None
    opened: Place | None = None
    ports_used: Counter[int] = field(default_factory=Counter)
    asking: set[Entry] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.space = Rows(self.cfg.banks, self.cfg.rows)

    @property
    def packed(self) -> PackedConfig:
        """The configuration of the scheme."""
        assert isinstance(self.cfg, PackedConfig)
        return self.cfg

    def home(self, entry: Entry) -> int:
        """Home bank of a register."""
        warp, register = entry
        return (warp if self.packed.one_bank else warp + register) % self.cfg.banks

    def memory(self, entry: Entry) -> int:
        """Of the table, that of an entry."""
        warp, register = entry
        return (warp + register) % self.cfg.banks

    def port(self, entry: Entry) -> bool:
        """Take a port of the memory of an entry."""
        if self.ports_used[self.memory(entry)] == 2:
            return False
        self.ports_used[self.memory(entry)] += 1
        return True

    def _check_banks(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        self._begin(f)
        taken = self._check_stores(f)
        self._check_grants(f, taken)
        moved = self._check_decisions(f)
        self._advance(moved)
        number = self.shown()
        shown = None if number is None else (self.slots[number].warp, self.slots[number].register)
        self._check_entrance(stimulus, f, shown)
        self._complete(stimulus, f)
        if self._check_release(f, shown) and number is not None:
            self.end_kill(number)
        self._check_look_ups(f)
        self._end(f, moved)

    def _begin(self, f: dict[str, int]) -> None:
        self.freed, self.taken, self.reserve, self.opened = [], [], None, None
        self.ports_used, self.asking = Counter(), set()
        self._check_levels(f)

    def _end(self, f: dict[str, int], moved: dict[Entry, Place]) -> None:
        require(self.ports_used.total() == _accesses(f), "every access of the table is one of these")
        self.where |= moved
        for entry, place in list(self.where.items()):
            if not place[2]:
                del self.where[entry]
        self.space.change(self.freed, self.taken, self.reserve, self.opened)

    def _check_levels(self, f: dict[str, int]) -> None:
        require(f["reading"] == sum(1 << port for port in self.t), "T is occupied from X to W0")
        require(f["deciding"] == sum(1 << port for port in self.w0), "W0 is occupied from T to W1")
        require(f["storing"] == sum(1 << port for port in self.w1), "W1 is occupied until its bank serves it")
        require(f["used_rows"] == self.space.used(), "a row is used while a register has slices of it")
        require(f.get("reserved_rows", 0) == len(self.space.reserved), "rows are reserved for partners that come")
        require(f["swept"] == sum(1 << warp for warp in self.swept), "a warp that has ended waits for its sweep")
        require(f["sweep_register"] == min(self.left, default=0), "a sweep takes one mapped register after the other")
        require(bool(f["sweep_held"]) == (self.held is not None), "a sweep holds what it has read")
        require(not f["error"], "slices are found")
        owned = Counter(self.space.owner.values())
        sizes = {entry: sized(place[2]) for entry, place in self.where.items()}
        require(
            owned == Counter(sizes), "every register has the slices that the table says, and no other slices are owned"
        )

    def _check_stores(self, f: dict[str, int]) -> set[int]:
        """Results and merges take banks; returns these."""
        taken: set[int] = set()
        self.done = {}
        stored = merge = 0
        for port in range(self.cfg.write_ports - 1, -1, -1):
            if port in self.w1 and self.w1[port][1][0] not in taken:
                self.done[port], place = self.w1.pop(port)
                taken.add(place[0])
                stored |= 1 << port
        for port in range(self.cfg.write_ports - 1, -1, -1):
            entry = self.w0.get(port)
            asks = entry is not None and entry.merges and entry.merged is None and entry.since < self.cycle
            if entry and asks and entry.old[0] not in taken:
                taken.add(entry.old[0])
                entry.merged = self.cycle + 2
                merge |= 1 << port
        require((f["stored"], f["merge"]) == (stored, merge), "W1 goes before M0, higher ports first")
        return taken

    def _check_decisions(self, f: dict[str, int]) -> dict[Entry, Place]:
        """What moves to W1 and where; returns the changes of the table."""
        codes = targets = search = waits = 0
        beside = {True: 0, False: 0}
        changes: dict[Entry, Place] = {}
        for port in range(self.cfg.write_ports - 1, -1, -1):
            entry = self.w0.get(port)
            if entry is None or port in self.w1:
                continue
            if entry.merges and (entry.merged is None or entry.merged > self.cycle):
                continue
            name, code = (entry.result.warp, entry.result.register), entry.code
            target = entry.old
            if code != IN_PLACE:
                if search:
                    waits |= 1 << port
                    continue
                search = 1 << port
                self.asking.add(name)
                require(self.port(name), "the result that changes has its port")
                target = self._changed(name, entry)
                changes[name] = target
                self._settle(name, entry, target)
            codes |= code << 3 * port
            targets |= self._word(target) << self.packed.mapping_bits * port
            if entry.partner is not None and entry.partner[2]:
                beside[entry.partner[:2] == target[:2]] |= 1 << port
            del self.w0[port]
            self.w1[port] = entry.result, target
        require((f["search"], f["search_wait"]) == (search, waits), "the highest port that needs a change changes")
        require(f["decision"] == codes, "each result has what its size and its old slices ask for")
        require(f["target"] == targets, "a value goes to the place that its rule says")
        together = f.get("with_partner", 0), f.get("without_partner", 0)
        require(together == (beside[True], beside[False]), "a value is with its partner or not")
        return changes

    def _advance(self, changes: dict[Entry, Place]) -> None:
        """T learns where partners are now, and goes on to W0 where that is empty or has moved on."""
        for port, entry in list(self.t.items()):
            if entry.beside in changes:
                entry.partner = changes[entry.beside]
            if port not in self.w0:
                self.w0[port] = self.t.pop(port)
                self.w0[port].since = self.cycle + 1

    def _changed(self, name: Entry, entry: InW0) -> Place:
        if entry.code == SHRINK:
            return (*entry.old[:2], kept(entry.old[2], entry.size, entry.side))
        return self._found(name, entry)

    def _word(self, place: Place) -> int:
        bank, row, mask = place
        return bank | (row | mask << self.cfg.row_bits) << self.cfg.bank_bits

    def _preferred(self, name: Entry, entry: InW0) -> Place:
        home, size, old = self.home(name), entry.size, entry.old
        if self.packed.allocation == "sides":
            return self.space.at_side(home, size, old, entry.side == 2) if entry.side in (1, 2) else NOWHERE
        if entry.partner is None:
            return NOWHERE
        if entry.partner[2]:
            return self.space.beside(entry.partner, size, old)
        return self.space.alone(home, size, old)

    def _found(self, name: Entry, entry: InW0) -> Place:
        place = self._preferred(name, entry)
        if not place[2]:
            require(entry.side not in (1, 2), "some row has room at either side")
            place = self.space.first_fit(self.home(name), entry.size, entry.old, self.packed.one_bank)
        require(bool(place[2]), "some row has room")
        return place

    def _settle(self, name: Entry, entry: InW0, target: Place) -> None:
        if entry.code == SHRINK:
            self.freed.append((*target[:2], entry.old[2] ^ target[2]))
            return
        self.freed.append(entry.old)
        self.taken.append((name, target))
        if entry.partner is None:
            return
        if entry.partner[2]:
            self.opened = entry.partner
        elif entry.size < 4 and self._preferred(name, entry)[2]:
            self.reserve = target

    def _check_entrance(self, stimulus: Stimulus, f: dict[str, int], shown: Entry | None) -> None:
        written = self.asking | ({shown} if shown else set())
        accepted, arriving = self._arriving(stimulus)
        waits = sizes = 0
        entering: dict[int, InW0] = {}
        for port, result, size in arriving:
            partner = self.partners.get(result.register)
            entries = [(result.warp, r) for r in (result.register, partner) if r is not None]
            wanted = Counter(self.memory(entry) for entry in entries)
            fits = all(self.ports_used[memory] + count <= 2 for memory, count in wanted.items())
            if self._is_held_up(result) or written.intersection(entries) or not fits:
                waits |= 1 << port
                continue
            self.ports_used += wanted
            if port in self.t:
                continue
            found = [*(self.where.get(entry, NOWHERE) for entry in entries), None]
            side = self.sides.get(result.register, 0)
            entering[port] = InW0(result, size, found[0] or NOWHERE, found[1], (*entries, None)[1], side)
            accepted |= result.writes << port
            sizes |= size << 3 * port
        require(f["table_wait"] == waits, "results wait for a port, or for who writes their entry")
        require(f["write"] == accepted, "a result leaves X when its entries are read and T is empty")
        require(f["size"] == sizes, "a size is the least number of bytes that every lane needs")
        self.t |= entering

    def _arriving(self, stimulus: Stimulus) -> tuple[int, list[tuple[int, Result, int]]]:
        """Ports whose result is accepted at once, and what has to be stored: port, result, size."""
        accepted, found = 0, []
        for port in range(self.cfg.write_ports - 1, -1, -1):
            result = stimulus.results[port]
            if result is not None and self._is_stored(port, result):
                found.append((port, result, self.size(result)))
            elif result is not None and self._is_taken(port, result):
                accepted |= 1 << port
        return accepted, found

    def size(self, result: Result) -> int:
        """Bytes that a result needs."""
        return bytes_of(result.data or 0, result.mask, self.cfg.lanes) if self.packed.packing else 4

    def _is_stored(self, port: int, result: Result) -> bool:
        return result.writes

    def _is_taken(self, port: int, result: Result) -> bool:
        return True

    def _is_held_up(self, result: Result) -> bool:
        return False

    def _rests(self, warp: int) -> bool:
        return False

    def _complete(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        for port in range(self.cfg.write_ports):
            result = stimulus.results[port]
            queue = self.late.setdefault(port, [])
            if result is not None and not result.writes:
                queue.append((self.cycle, result))
            done = None
            if port in self.done:
                done = self.done[port]
                self.writes += 1
            elif queue and queue[0][0] <= self.cycle:
                done = queue.pop(0)[1]
            if done is not None:
                for key in bits(done.warp, 1 << done.register if done.writes else 0, done.tokens):
                    self.pending[key] = self.cycle + 1

    def _check_release(self, f: dict[str, int], shown: Entry | None) -> bool:
        """A kill and what the sweep does; returns whether there was a kill."""
        killed = shown is not None and self.held is None
        require(bool(f.get("killed", 0)) == killed, "a dead register loses its slices if no sweep holds any")
        if killed and shown is not None:
            self.freed.append(self.where.pop(shown))
        events = self._sweep() if self.sweeping is not None else self._choose()
        require((f["sweep_read"], f["sweep_free"], f["retired"]) == events, "a sweep reads an entry, then gives it up")
        self.waited = shown is not None and not killed
        return killed

    def _choose(self) -> tuple[int, int, int]:
        self.sweeping = min((warp for warp in self.swept if not self._rests(warp)), default=None)
        self.left = {register for warp, register in self.where if warp == self.sweeping}
        return 0, 0, 0

    def _sweep(self) -> tuple[int, int, int]:
        """What is read, what becomes free, the warp that is retired, as a mask."""
        assert self.sweeping is not None, "no warp is swept"
        warp, reads, frees = self.sweeping, 0, int(self.held is not None)
        if self.held is not None:
            self.freed.append(self.where.pop(self.held))
            self.held = None
        if not self.left:
            self.swept.discard(warp)
            self.sweeping = None
            return 0, frees, 1 << warp
        if not self.waited and self.port((warp, min(self.left))):
            reads, self.held = 1, (warp, min(self.left))
            self.left.discard(min(self.left))
        return reads, frees, 0

    def _follow_issue(self, f: dict[str, int]) -> None:
        super()._follow_issue(f)
        if f["exit"]:
            self.swept.add(f["issue_warp"])

    def _follow_inputs(self, stimulus: Stimulus) -> None:
        super()._follow_inputs(stimulus)
        if stimulus.operand is not None:
            self._tell(stimulus.operand)

    def _tell(self, operand: int) -> None:
        if self.packed.allocation == "pairs":
            size = self.cfg.register_bits
            names = [operand >> size * k & (1 << size) - 1 for k in range(8)]
            for one, other in zip(names[::2], names[1::2], strict=True):
                if one != other:
                    self.partners |= {one: other, other: one}
        else:
            first = (operand >> 2 * CHUNK) * CHUNK
            self.sides |= {first + k: operand >> 2 * k & 3 for k in range(CHUNK)}

    def check_end(self, counters: dict[str, int]) -> None:
        """Nothing is left of any warp."""
        super().check_end(counters)
        self._check_nothing_left()

    def _check_nothing_left(self) -> None:
        require(not (self.where or self.space.owner or self.space.reserved), "all slices are free")
        require(not (self.t or self.w0 or self.w1 or self.swept), "nothing is under way")


def _accesses(f: dict[str, int]) -> int:
    """Accesses of the table in a cycle."""
    return sum(f[name] >> k & 3 for name in ("table_reads", "table_writes") for k in range(0, 64, 2))

"""Where every register of every warp is (docs/schemes/corf.md, section 4)."""

from collections.abc import Sequence

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from warpfile.hdl.arbiter import any_of, decode, select
from warpfile.hdl.count import count_ones
from warpfile.hdl.naming import named
from warpfile.hdl.renaming.ports import NO, YES, Access, FreePorts, Served
from warpfile.hdl.rf.ram import TABLE_PORTS, RenamingRam
from warpfile.spec.config import Config


class RenamingTable(wiring.Component):
    """An entry per warp and register, in as many memories as there are banks, each with two ports.

    What an entry says is no matter of this table: it has ``cfg.mapping_bits`` bits, and after reset the memories clear
    theirs one by one. Each memory serves the first two of what wants it in a cycle: the writes, the highest first; the
    reads of results, the highest first; the release; the look-ups, by the age of their units and then ascending; those
    of the offered beat. What is read is there in the next cycle only. No entry may be looked up while it is written.
    ``writers``: so many may write, if not one per port. ``visited``: one more read, behind those of results.

    Members (P: ``cfg.write_ports``)
    -------
    writes, effective : In(P)    Who wants to write, and whether it really does, which may be known late.
    write_warps, write_registers, write_entries : In(ArrayLayout)   Where and what.
    written : Out(P)             Whom its memory serves.
    reads : In(P), read_warps, read_registers : In(ArrayLayout)   Results that want their entry. One of which an entry
                                 would change by a write or by the release, if that were served, is not served.
    paired : In(P), partners : In(ArrayLayout)   They want that of this register of their warp too, or none; these and
                                 ``partner_entries`` only with ``partnered``.
    read : Out(P)                Results that are served.
    read_entries, partner_entries : Out(ArrayLayout)   In the cycle after.
    visits : In(1), visit_warp, visit_register : In, visited : Out(1), visit_entry : Out(entry_bits)   One more read,
                                 likewise; only with ``visited``.
    release, clears : In(1), release_warp, release_register : In   The release reads an entry, or clears it.
    released : Out(1), release_entry : Out(entry_bits)   It is served; in the cycle after, what it has read.
    locate, locate_warps, locate_registers, older, allocate : In   Look-ups of units (docs/slots/rf.md).
    offer_warp : In(warp_bits), offer_valid : In(slots), offer_registers : In(ArrayLayout)   Of the offered beat; this
                                 line and ``allocate`` only with ``asks.sources``.
    looked_up : Out(slots), located : Out(ArrayLayout)   Slots that are served; entries in the cycle after.
    clearing : Out(1)            The memories are being cleared; a register.
    table_reads, table_writes : Out(2 * banks)   Accesses of each memory.
    """

    def __init__(self, cfg: Config, *, partnered: bool = False, writers: int = 0, visited: bool = False) -> None:
        self._cfg, self._partnered, self._visited = cfg, partnered, visited
        self._writers = writers or cfg.write_ports
        super().__init__({**self._of_results(), **self._of_release(), **self._of_units()})

    def _arrays(self, count: int) -> tuple[data.ArrayLayout, ...]:
        """So many warps, registers, entries."""
        widths = self._cfg.warp_bits, self._cfg.register_bits, self._cfg.mapping_bits
        return tuple(data.ArrayLayout(width, count) for width in widths)

    def _of_results(self) -> dict[str, wiring.Member]:
        ports = self._cfg.write_ports
        warps, registers, entries = self._arrays(ports)
        written = self._arrays(self._writers)
        members: dict[str, wiring.Member] = {
            **{name: In(self._writers) for name in ("writes", "effective")},
            "reads": In(ports),
            "written": Out(self._writers),
            "read": Out(ports),
            "write_warps": In(written[0]),
            "read_warps": In(warps),
            "write_registers": In(written[1]),
            "read_registers": In(registers),
            "write_entries": In(written[2]),
            "read_entries": Out(entries),
            **{name: Out(2 * self._cfg.banks) for name in ("table_reads", "table_writes")},
        }
        if self._partnered:
            members |= {"paired": In(ports), "partners": In(registers), "partner_entries": Out(entries)}
        if self._visited:
            members |= {"visits": In(1), "visit_warp": In(self._cfg.warp_bits), "visited": Out(1)}
            members |= {"visit_register": In(self._cfg.register_bits), "visit_entry": Out(self._cfg.mapping_bits)}
        return members

    def _of_release(self) -> dict[str, wiring.Member]:
        return {
            **{name: In(1) for name in ("release", "clears")},
            "release_warp": In(self._cfg.warp_bits),
            "release_register": In(self._cfg.register_bits),
            "released": Out(1),
            "release_entry": Out(self._cfg.mapping_bits),
            "clearing": Out(1, init=1),
        }

    def _of_units(self) -> dict[str, wiring.Member]:
        units, slots = self._cfg.asks.units, self._cfg.asks.slots
        warps, _, _ = self._arrays(units)
        _, registers, entries = self._arrays(units * slots)
        members: dict[str, wiring.Member] = {
            "locate": In(units * slots),
            "locate_warps": In(warps),
            "locate_registers": In(registers),
            "older": In(units**2),
        }
        if self._cfg.asks.sources:
            members |= {
                "allocate": In(units),
                "offer_warp": In(self._cfg.warp_bits),
                "offer_valid": In(slots),
                "offer_registers": In(data.ArrayLayout(self._cfg.register_bits, slots)),
            }
        return members | {"looked_up": Out(units * slots), "located": Out(entries)}

    def elaborate(self, platform) -> Module:
        """Everybody in order; the memories; what they have read."""
        m = Module()
        free = FreePorts(m, self._cfg.banks)
        releasing = self._access(m, self.release, self.release_warp, self.release_register, self.clears)
        self._write(m, free)
        results = self._read(m, free)
        if self._visited:
            served = free.single(self._access(m, self.visits, self.visit_warp, self.visit_register))
            m.d.comb += self.visited.eq(served.any)
            results.append((self.visit_entry, served))
        m.d.comb += self.released.eq(free.single(releasing, early=True).any)
        release = free.served[-1]
        slots, beat = self._look_up(m, free)
        words = self._memories(m, free.served)
        for target, served in (*results, (self.release_entry, release)):
            m.d.comb += target.eq(self._answer(m, words, self._source(m, served)))
        offered = [self._source(m, served) for served in beat]
        for slot, (target, served) in enumerate(zip(self.located, slots, strict=True)):
            unit, number = divmod(slot, self._cfg.asks.slots)
            source = self._source(m, served)
            source = Mux(self.allocate[unit], offered[number], source) if offered else source
            m.d.comb += target.eq(self._answer(m, words, source))
        return m

    def _access(
        self,
        m: Module,
        wants: Value,
        warp: Value,
        register: Value,
        write: Value = NO,
        effective: Value = YES,
        entry: Value = NO,
    ) -> Access:
        """An access to the entry of a register of a warp."""
        bits = exact_log2(self._cfg.banks)
        if self._cfg.one_bank:
            number, row = warp[:bits], Cat(register, warp[bits:])
        else:
            number, row = (register + warp)[:bits], Cat(register[bits:], warp)
        memory = decode(named(m, "memory_number", number), self._cfg.banks) if bits else YES
        return Access(wants, named(m, "memory", memory), named(m, "row", row), write, effective, entry)

    def _write(self, m: Module, free: FreePorts) -> None:
        for port in reversed(range(self._writers)):
            place = self.write_warps[port], self.write_registers[port]
            write = YES, self.effective[port], self.write_entries[port]
            m.d.comb += self.written[port].eq(free.single(self._access(m, self.writes[port], *place, *write)).any)

    def _read(self, m: Module, free: FreePorts) -> list[tuple[Value, Served]]:
        """Returns the entries of results, each with what became of its read."""
        found = []
        for port in reversed(range(self._cfg.write_ports)):
            warp, register = self.read_warps[port], self.read_registers[port]
            changes = self._changes(warp, register)
            if self._partnered:
                changes |= self.paired[port] & self._changes(warp, self.partners[port])
            if self._partnered:
                own = self._access(m, self.reads[port], warp, register)
                second = self._access(m, self.reads[port] & self.paired[port], warp, self.partners[port])
                served, other = free.both_or_none(own, second, ~changes)
                found.append((self.partner_entries[port], other))
            else:
                served = free.single(self._access(m, self.reads[port] & ~changes, warp, register))
            m.d.comb += self.read[port].eq(served.any)
            found.append((self.read_entries[port], served))
        return found

    def _changes(self, warp: Value, register: Value) -> Value:
        """Whether somebody wants to write this entry."""
        writers = zip(self.writes, self.write_warps, self.write_registers, strict=True)
        writers = (*writers, (self.release & self.clears, self.release_warp, self.release_register))
        return any_of(wants & (own == warp) & (name == register) for wants, own, name in writers)

    def _look_up(self, m: Module, free: FreePorts) -> tuple[list[Served], list[Served]]:
        """Slots of units, then those of the offered beat, if it asks."""
        width, units = self._cfg.asks.slots, self._cfg.asks.units
        slots = [
            self._access(m, self.locate[slot], self.locate_warps[slot // width], self.locate_registers[slot])
            for slot in range(units * width)
        ]
        older = [[self.older[other * units + own] for other in range(units)] for own in range(units)]
        by_unit = free.ordered([slots[at : at + width] for at in range(0, len(slots), width)], older)
        served = [one for unit in by_unit for one in unit]
        offered = self._look_up_offer(m, free) if self._cfg.asks.sources else []
        looked_up = Cat(one.any for one in served)
        if offered:
            takes = Cat(bit.replicate(width) for bit in self.allocate)
            new = named(m, "offer_looked_up", Cat(one.any for one in offered))
            looked_up = looked_up | (takes & new.replicate(units))
        m.d.comb += self.looked_up.eq(looked_up)
        return served, offered

    def _look_up_offer(self, m: Module, free: FreePorts) -> list[Served]:
        taken = named(m, "taken", self.allocate.any())
        offered = [
            self._access(m, valid & taken, self.offer_warp, register)
            for valid, register in zip(self.offer_valid, self.offer_registers, strict=True)
        ]
        return free.ordered([offered], [[]])[0]

    def _memories(self, m: Module, served: Sequence[Served]) -> list[Value]:
        """Returns what every port of every memory has read."""
        row = Signal(range(self._cfg.table_rows))
        with m.If(self.clearing):
            m.d.sync += [row.eq(row + 1), self.clearing.eq(row != self._cfg.table_rows - 1)]
        words = []
        for memory in range(self._cfg.banks):
            m.submodules[f"memory{memory}"] = ram = RenamingRam(self._cfg.table_rows, self._cfg.mapping_bits)
            for port in range(TABLE_PORTS):
                self._port(m, ram, port, Cat(one.port(port)[memory] for one in served), served)
            self._count(m, ram, memory)
            with m.If(self.clearing):
                m.d.comb += [ram.enable[0].eq(1), ram.write[0].eq(1), ram.rows[0].eq(row), ram.write_data[0].eq(0)]
            words += list(ram.read_data)
        return words

    def _port(self, m: Module, ram: RenamingRam, port: int, taken: Value, served: Sequence[Served]) -> None:
        """One port of one memory; ``taken``: whom it serves."""
        taken = named(m, "taken_by", taken)
        effective = named(m, "effective_by", Cat(~one.access.write | one.access.effective for one in served))
        writers = [(bit & one.access.write, one.access) for bit, one in zip(taken, served, strict=True)]
        m.d.comb += [
            ram.enable[port].eq((taken & effective).any()),
            ram.write[port].eq(any_of(bit for bit, _ in writers)),
            ram.rows[port].eq(select(taken, [one.access.row for one in served])),
            ram.write_data[port].eq(select([bit for bit, _ in writers], [access.entry for _, access in writers])),
        ]

    def _count(self, m: Module, ram: RenamingRam, memory: int) -> None:
        done = (~self.clearing).replicate(TABLE_PORTS) & ram.enable
        for counted, which in ((self.table_reads, done & ~ram.write), (self.table_writes, done & ram.write)):
            m.d.comb += counted.word_select(memory, 2).eq(count_ones(list(which)))

    def _source(self, m: Module, served: Served) -> Value:
        """Which port of which memory serves a read, one-hot in the order of :meth:`_memories`."""
        ports = (served.port(port)[memory] for memory in range(self._cfg.banks) for port in range(TABLE_PORTS))
        return named(m, "source", Cat(*ports))

    def _answer(self, m: Module, words: Sequence[Value], source: Value) -> Value:
        """What was read in the cycle before by the port that ``source`` says; zero if none served.

        It is the beginning of long paths: a bit per port has to reach one word only.
        """
        held = Signal(len(source), name="answered_by", reset_less=True)
        m.d.sync += held.eq(source)
        return select(held, words)

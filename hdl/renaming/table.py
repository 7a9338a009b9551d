"""Where every register of every warp is (docs/schemes/corf.md, section 4)."""

from collections.abc import Sequence

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from warpfile.hdl.arbiter import any_of, decode, select
from warpfile.hdl.count import count_ones
from warpfile.hdl.naming import named
from warpfile.hdl.rams.table import TABLE_PORTS, RenamingRam
from warpfile.hdl.renaming.mapped_bits import MappedBits
from warpfile.hdl.renaming.ports import YES, Access, FreePorts, Served
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import Config


class RenamingTable(wiring.Component):
    """An entry per warp and register, in as many memories as there are banks, each with two ports.

    What an entry says is no matter of this table: it has ``cfg.mapping_bits`` bits, and is read as 0 where its register
    is not mapped. Each memory serves the first two of what wants it in a cycle: the write; the reads of results, the
    highest first; that of the sweep; the look-ups, by the age of their units and then ascending; those of the offered
    beat. What is read is there in the next cycle only. No entry may be looked up while it is
    written or unmapped. ``writers``: so many may be the one that writes. ``visited``: one more read, behind those of
    results.

    Members (P: ``cfg.write_ports``)
    -------
    writes : In(writers), effective : In(1)   One-hot or none: who writes, which is always served; whether it really is
                                 a write may be known late.
    write_warps, write_registers, write_entries : In(ArrayLayout)   Where and what. It is mapped from the next cycle on.
    reads : In(P), read_warps, read_registers : In(ArrayLayout)   Results that want their entry. One whose entry is that
                                 of the write, effective or not, or of the dead register, is not served.
    paired : In(P), partners : In(ArrayLayout)   They want that of this register of their warp too, or none; these and
                                 ``partner_entries`` only with ``partnered``.
    read : Out(P)                Results that are served.
    read_entries, partner_entries : Out(ArrayLayout)   In the cycle after.
    visits : In(1), visit_warp, visit_register : In, visited : Out(1), visit_entry : Out(entry_bits)   One more read,
                                 likewise; only with ``visited``.
    dies, unmaps : In(1), dead_warp, dead_register : In   A dead register; it is not mapped from the next cycle on.
    begins : In(warps), left : Out(register_names)   One-hot or none: a warp of which no register is mapped from the
                                 next cycle on; which are.
    sweeps : In(1), sweep_warp, sweep_register : In, swept : Out(1), sweep_entry : Out(entry_bits)   The sweep's read,
                                 likewise; the entry is what was written last.
    locate, locate_warps, locate_registers, older, allocate : In   Look-ups of units (docs/slots/rf.md).
    offer_warp : In(warp_bits), offer_valid : In(slots), offer_registers : In(ArrayLayout)   Of the offered beat; this
                                 line and ``allocate`` only with ``asks.sources``. A unit that takes it shows warp and
                                 registers in the next cycle.
    looked_up : Out(slots), located : Out(ArrayLayout)   Slots that are served; entries in the cycle after.
    located_mapped : Out(slots)  Whether their registers are mapped; like entries, but long before them.
    table_reads, table_writes : Out(2 * banks)   Accesses of each memory.
    """

    def __init__(self, cfg: Config, *, writers: int = 1, partnered: bool = False, visited: bool = False) -> None:
        self._cfg, self._writers, self._partnered, self._visited = cfg, writers, partnered, visited
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
            "writes": In(self._writers),
            "effective": In(1),
            "write_warps": In(written[0]),
            "write_registers": In(written[1]),
            "write_entries": In(written[2]),
            "reads": In(ports),
            "read": Out(ports),
            "read_warps": In(warps),
            "read_registers": In(registers),
            "read_entries": Out(entries),
            **{name: Out(2 * self._cfg.banks) for name in ("table_reads", "table_writes")},
        }
        if self._partnered:
            members |= {"paired": In(ports), "partners": In(registers), "partner_entries": Out(entries)}
        if self._visited:
            members |= {"visits": In(1), **self._place("visit"), "visited": Out(1)}
            members["visit_entry"] = Out(self._cfg.mapping_bits)
        return members

    def _place(self, name: str) -> dict[str, wiring.Member]:
        return {f"{name}_warp": In(self._cfg.warp_bits), f"{name}_register": In(self._cfg.register_bits)}

    def _of_release(self) -> dict[str, wiring.Member]:
        return {
            **{name: In(1) for name in ("dies", "unmaps", "sweeps")},
            **self._place("dead"),
            **self._place("sweep"),
            "begins": In(self._cfg.warps),
            "left": Out(self._cfg.register_names),
            "swept": Out(1),
            "sweep_entry": Out(self._cfg.mapping_bits),
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
        return members | {
            **{name: Out(units * slots) for name in ("looked_up", "located_mapped")},
            "located": Out(entries),
        }

    def elaborate(self, platform) -> Module:
        """Everybody in order; the memories; what they have read."""
        m = Module()
        free = FreePorts(m, self._cfg.banks)
        mapped, found = self._mapped(m)
        free.single(self._write(m))
        results = self._read(m, free)
        if self._visited:
            served = free.single(self._access(m, self.visits, self.visit_warp, self.visit_register))
            m.d.comb += self.visited.eq(served.any)
            results.append((self.visit_entry, served))
        swept = free.single(self._access(m, self.sweeps, self.sweep_warp, self.sweep_register))
        m.d.comb += self.swept.eq(swept.any)
        slots, beat = self._look_up(m, free)
        words = self._memories(m, free.served)
        m.d.comb += self.sweep_entry.eq(self._answer(m, words, self._source(m, swept)))
        for (target, served), bit in zip(results, found, strict=True):
            source = self._source(m, served)
            m.d.comb += target.eq(self._answer(m, words, source & bit.replicate(len(source))))
        m.d.comb += self.located_mapped.eq(Cat(mapped))
        offered = [self._source(m, served) for served in beat]
        for slot, (target, served) in enumerate(zip(self.located, slots, strict=True)):
            unit, number = divmod(slot, self._cfg.asks.slots)
            source = self._source(m, served)
            source = Mux(self.allocate[unit], offered[number], source) if offered else source
            m.d.comb += target.eq(self._answer(m, words, source, mapped[slot]))
        return m

    def _mapped(self, m: Module) -> tuple[Value, list[Value]]:
        """Whether registers are mapped: those of look-ups in the cycle after, those of :meth:`_read` in the same one.

        Which beat is offered is known too late to look for the bits of its registers in that cycle.
        """
        width, units, ports = self._cfg.asks.slots, self._cfg.asks.units, self._cfg.write_ports
        groups = [width] * units + [1 + self._partnered] * ports + [1] * self._visited
        bits = stamp(m, "bits", "mapped_bits", lambda: MappedBits(self._cfg, groups))
        m.d.comb += [
            bits.maps.eq(self.writes.any() & self.effective),
            bits.map_warp.eq(select(self.writes, list(self.write_warps))),
            bits.map_register.eq(select(self.writes, list(self.write_registers))),
            bits.unmaps.eq(self.unmaps),
            bits.unmap_warp.eq(self.dead_warp),
            bits.unmap_register.eq(self.dead_register),
            bits.taken.eq(self.begins),
            self.left.eq(bits.bits_taken),
        ]
        warps, registers = [*self.locate_warps, *self.read_warps], list(self.locate_registers)
        for port, register in enumerate(self.read_registers):
            registers += [register, self.partners[port]] if self._partnered else [register]
        if self._visited:
            warps.append(self.visit_warp)
            registers.append(self.visit_register)
        m.d.comb += [bits.warps.eq(Cat(warps)), bits.registers.eq(Cat(registers))]
        slots, found = bits.mapped[: units * width], list(bits.mapped[units * width :])
        if self._cfg.asks.sources:
            return slots, found
        held = Signal(len(slots), name="looked_up_mapped", reset_less=True)
        m.d.sync += held.eq(slots)
        return held, found

    def _access(self, m: Module, wants: Value, warp: Value, register: Value) -> Access:
        """A read of the entry of a register of a warp."""
        bits = exact_log2(self._cfg.banks)
        number, row = (register + warp)[:bits], Cat(register[bits:], warp)
        memory = decode(named(m, "memory_number", number), self._cfg.banks) if bits else YES
        return Access(wants, named(m, "memory", memory), named(m, "row", row))

    def _write(self, m: Module) -> Access:
        """The write; who it is may be known late, and where each would write is not."""
        places = zip(self.writes, self.write_warps, self.write_registers, strict=True)
        own = [self._access(m, *place) for place in places]
        memory, row = (select(self.writes, [getattr(one, name) for one in own]) for name in ("memory", "row"))
        entry = select(self.writes, list(self.write_entries))
        return Access(self.writes.any(), named(m, "memory", memory), named(m, "row", row), YES, self.effective, entry)

    def _read(self, m: Module, free: FreePorts) -> list[tuple[Value, Served]]:
        """Returns the entries of results, each with what became of its read, by port."""
        found: list[tuple[Value, Served]] = []
        for port in reversed(range(self._cfg.write_ports)):
            warp, register = self.read_warps[port], self.read_registers[port]
            changes = self._changes(warp, register)
            if self._partnered:
                changes |= self.paired[port] & self._changes(warp, self.partners[port])
                own = self._access(m, self.reads[port], warp, register)
                second = self._access(m, self.reads[port] & self.paired[port], warp, self.partners[port])
                served, other = free.both_or_none(own, second, ~changes)
                found.insert(0, (self.partner_entries[port], other))
            else:
                served = free.single(self._access(m, self.reads[port] & ~changes, warp, register))
            m.d.comb += self.read[port].eq(served.any)
            found.insert(0, (self.read_entries[port], served))
        return found

    def _changes(self, warp: Value, register: Value) -> Value:
        """Whether this is the register of the write, or the dead one."""
        changes = [*zip(self.writes, self.write_warps, self.write_registers, strict=True)]
        changes.append((self.dies, self.dead_warp, self.dead_register))
        return any_of(bit & (own == warp) & (name == register) for bit, own, name in changes)

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
        words = []
        for memory in range(self._cfg.banks):
            m.submodules[f"memory{memory}"] = ram = RenamingRam(self._cfg.table_rows, self._cfg.mapping_bits)
            for port in range(TABLE_PORTS):
                self._port(m, ram, port, Cat(one.port(port)[memory] for one in served), served)
            self._count(m, ram, memory)
            words += list(ram.read_data)
        return words

    def _port(self, m: Module, ram: RenamingRam, port: int, taken: Value, served: Sequence[Served]) -> None:
        """One port of one memory; ``taken``: the access that it serves."""
        taken = named(m, "taken_by", taken)
        effective = named(m, "effective_by", Cat(~one.access.write | one.access.effective for one in served))
        m.d.comb += [
            ram.enable[port].eq((taken & effective).any()),
            ram.rows[port].eq(select(taken, [one.access.row for one in served])),
        ]
        if not port:  # the write comes first, and so by the first port
            m.d.comb += [ram.write[0].eq(taken[0]), ram.write_data[0].eq(served[0].access.entry)]

    def _count(self, m: Module, ram: RenamingRam, memory: int) -> None:
        reads, writes = ram.enable & ~ram.write, ram.enable & ram.write
        for counted, which in ((self.table_reads, reads), (self.table_writes, writes)):
            m.d.comb += counted.word_select(memory, 2).eq(count_ones(list(which)))

    def _source(self, m: Module, served: Served) -> Value:
        """Which port of which memory serves a read, one-hot in the order of :meth:`_memories`."""
        ports = (served.port(port)[memory] for memory in range(self._cfg.banks) for port in range(TABLE_PORTS))
        return named(m, "source", Cat(*ports))

    def _answer(self, m: Module, words: Sequence[Value], source: Value, mapped: Value = YES) -> Value:
        """What was read in the cycle before by the port that ``source`` says; zero if none served, or it was no entry.

        It is the beginning of long paths: a bit per port has to reach one word only.
        """
        held = Signal(len(source), name="answered_by", reset_less=True)
        m.d.sync += held.eq(source)
        return select(held & mapped.replicate(len(held)), words)

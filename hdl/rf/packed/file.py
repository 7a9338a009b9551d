"""Banks in which narrow values share rows, behind a renaming table (docs/schemes/corf.md)."""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring

from warpfile.hdl.arbiter import encode, highest_one, select
from warpfile.hdl.beat import result_layout
from warpfile.hdl.naming import named
from warpfile.hdl.probe import with_probes
from warpfile.hdl.renaming.banks import RenamedBanks
from warpfile.hdl.renaming.join import complete_stores, look_up, start_kernels
from warpfile.hdl.renaming.sweep import Sweep
from warpfile.hdl.renaming.table import RenamingTable
from warpfile.hdl.rf.contract import file_members
from warpfile.hdl.rf.packed.allocation import Allocation
from warpfile.hdl.rf.packed.evictions import Evictions
from warpfile.hdl.rf.packed.metadata import PairTable, SideTable
from warpfile.hdl.rf.packed.port import ResultPort
from warpfile.hdl.rf.read_side import join_reads
from warpfile.hdl.stamp import stamp
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.packed import PackedConfig, packed_probes

Ports = Sequence[wiring.PureInterface]


class PackedFile(wiring.Component):
    """Renaming table, free slices, results in flight to their rows, banks of slices.

    Ports: :func:`hdl.rf.contract.file_members`, and the probes of :func:`spec.schemes.packed.packed_probes`. It holds
    no warp, and lets go of places of the scheduler at once.
    """

    def __init__(self, cfg: PackedConfig) -> None:
        self._cfg = cfg
        self._pairs, self._sides = cfg.allocation == "pairs", cfg.allocation == "sides"
        super().__init__(with_probes(file_members(cfg), packed_probes(cfg)))

    def elaborate(self, platform) -> Module:
        """The parts, joined."""
        m = Module()
        cfg = self._cfg
        m.submodules.table = table = RenamingTable(cfg, writers=cfg.write_ports, partnered=self._pairs)
        m.submodules.allocation = allocation = Allocation(cfg)
        m.submodules.banks = banks = RenamedBanks(cfg)
        ports = [stamp(m, f"port{port}", "result_port", lambda: ResultPort(cfg)) for port in range(cfg.write_ports)]
        self._entering, self._stores, self._sizes = list(self.results), self.result_store, list(banks.sizes)
        self._evictions = self._evict(m, ports, banks) if cfg.asks.evicts else None
        sweep = self._kernel(m, table)
        self._look_up(m, table)
        self._read(m, banks)
        self._enter(m, table, ports, banks)
        self._decide(m, table, ports, allocation)
        self._move(m, ports, banks)
        self._release(m, allocation, sweep)
        self._complete(m, ports)
        self._observe(m, table, ports, allocation)
        return m

    def _kernel(self, m: Module, table: RenamingTable) -> Sweep:
        """Kernels, the metadata of a kernel, and the sweep after its warps."""
        kernel, sweep = start_kernels(m, self._cfg, self, table)
        if self._cfg.operand_bits:
            m.submodules.metadata = told = (PairTable if self._pairs else SideTable)(self._cfg)
            m.d.comb += [told.clear.eq(kernel.taken), told.told.eq(self.operand_valid), told.operand.eq(self.operand)]
            m.d.comb += told.registers.eq(Cat(result.register for result in self._entering))
            self._told = told
        return sweep

    def _evict(self, m: Module, ports: Ports, banks: RenamedBanks) -> Evictions:
        """An eviction is in X of port 0 if no result there has to be stored, and has its place everywhere."""
        m.submodules.evictions = part = Evictions(self._cfg)
        first = ports[0]
        inside = {"valid": self.evict_valid, "warp": self.evict_warp, "register_name": self.evict_register}
        inside |= {name: getattr(self, name) for name in ("results", "locate", "locate_warps", "locate_registers")}
        inside |= {name: getattr(first, name) for name in ("accept", "advances", "moves", "stored")}
        inside |= {name: getattr(first, name) for name in ("read_warp", "read_register", "held_warp", "held_register")}
        inside |= {f"store_{name}": first.completion[name] for name in ("warp", "register")}
        inside["stores"] = self.result_store
        m.d.comb += [getattr(part, name).eq(value) for name, value in inside.items()]
        entering = Signal(result_layout(self._cfg), name="entering")
        m.d.comb += entering.eq(self.results[0])
        with m.If(part.stands):
            m.d.comb += [entering.warp.eq(self.evict_warp), entering.register.eq(self.evict_register)]
            m.d.comb += [entering.full.eq(1), entering.mask.eq(-1)]
        given = self.evict_size if self._cfg.gives.slices else banks.sizes[0]
        size = named(m, "entering_size", Mux(part.stands, given, banks.sizes[0]))
        self._entering[0], self._sizes[0] = entering, size
        self._stores = named(m, "stores", self.result_store | part.stands)
        m.d.comb += [
            banks.evicts.eq(part.stands),
            banks.evict_data.eq(self.evict_data),
            self.evict_ready.eq(first.accept & part.stands),
            self.underway.eq(part.under_way),
            self.underway_wait.eq(Cat(part.results_wait, part.look_ups_wait, part.waits)),
        ]
        if self._cfg.gives.slices:
            m.d.comb += self.result_sizes.eq(Cat(banks.sizes))
        return part

    def _look_up(self, m: Module, table: RenamingTable) -> None:
        """Sources of the units and of the offered beat."""
        evictions = self._evictions
        locate = self.locate & ~evictions.look_ups_wait if evictions else self.locate
        look_up(m, self._cfg, self, table, locate)
        for entry, place, mask in zip(table.located, self.located_places, self.located_masks, strict=True):
            m.d.comb += Cat(place, mask).eq(entry)

    def _read(self, m: Module, banks: RenamedBanks) -> None:
        join_reads(m, self, banks)
        m.d.comb += [cycles.eq(1) for cycles in self.cycles]
        if self._cfg.joins_planes:
            m.d.comb += [banks.joined_rows.eq(self.joined_rows), banks.joined_masks.eq(self.joined_masks)]

    def _enter(self, m: Module, table: RenamingTable, ports: Ports, banks: RenamedBanks) -> None:
        """X: the entries of results are read, and their width is found."""
        m.d.comb += [
            table.reads.eq(self._stores & ~self._evictions.waiting if self._evictions else self._stores),
            table.read_warps.eq(Cat(result.warp for result in self._entering)),
            table.read_registers.eq(Cat(result.register for result in self._entering)),
            banks.result_data.eq(self.result_data),
            banks.offered.eq(self._stores),
            banks.result_masks.eq(Cat(result.mask for result in self.results)),
            self.result_accept.eq(Cat(port.accept for port in ports)),
        ]
        if self._pairs:
            m.d.comb += [table.paired.eq(self._told.paired), table.partners.eq(self._told.partners)]
        for number, port in enumerate(ports):
            m.d.comb += [
                port.offered.eq(table.read[number]),
                port.result.eq(self._entering[number]),
                port.size.eq(self._sizes[number]),
                port.old_entry.eq(table.read_entries[number]),
            ]
            if self._pairs:
                m.d.comb += [port.paired.eq(self._told.paired[number]), port.partner.eq(self._told.partners[number])]
                m.d.comb += port.partner_entry.eq(table.partner_entries[number])
            if self._sides:
                m.d.comb += port.side.eq(self._told.sides[number])

    def _decide(self, m: Module, table: RenamingTable, ports: Ports, allocation: Allocation) -> None:
        """W0: who changes, what becomes of the free slices and the table."""
        could = named(m, "could", Cat(port.could for port in ports))
        changes = named(m, "changes", highest_one(could))
        searching = named(m, "searching", changes & Cat(port.searches for port in ports))
        effective = named(m, "effective", (changes & Cat(port.effective for port in ports)).any())
        names = {"sizes": "held_size", "old_places": "old_place", "old_masks": "old_mask"}
        if self._pairs:
            names |= {"partner_places": "partner_place", "partner_masks": "partner_mask"}
            names["with_partner"] = "with_partner"
        names |= {"sides": "held_side"} if self._sides else {}
        m.d.comb += [
            *(getattr(allocation, name).eq(Cat(getattr(port, own) for port in ports)) for name, own in names.items()),
            *(home.eq(self._home(port)) for home, port in zip(allocation.homes, ports, strict=True)),
            allocation.freed.eq(Cat(port.freed & port.moves.replicate(SLICES) for port in ports)),
            allocation.searching.eq(searching),
            allocation.takes.eq((searching & allocation.found).any()),
            table.writes.eq(changes),
            table.effective.eq(effective),
            table.write_warps.eq(Cat(port.held_warp for port in ports)),
            table.write_registers.eq(Cat(port.held_register for port in ports)),
            table.write_entries.eq(Cat(Cat(port.place, port.mask) for port in ports)),
        ]
        for number, port in enumerate(ports):
            m.d.comb += [
                port.changes.eq(changes[number]),
                port.found.eq(allocation.found[number]),
                port.found_place.eq(allocation.places[number]),
                port.found_mask.eq(allocation.masks[number]),
            ]
        if self._pairs:
            self._follow(m, table, ports, changes, effective)
        self._changes, self._waiting = changes, could & ~changes
        with m.If((searching & ~allocation.found).any()):
            m.d.sync += self.error.eq(1)

    def _follow(self, m: Module, table: RenamingTable, ports: Ports, changes: Value, effective: Value) -> None:
        """T of every port sees the write of the table, which may be that of its partner."""
        entry = named(m, "changed_entry", select(changes, list(table.write_entries)))
        for port in ports:
            m.d.comb += [
                port.change_by.eq(changes),
                port.change_counts.eq(effective),
                port.change_warps.eq(table.write_warps),
                port.change_registers.eq(table.write_registers),
                port.change_entry.eq(entry),
            ]

    def _home(self, port: wiring.PureInterface) -> Value:
        """Home bank of the register of a port."""
        if self._cfg.banks == 1:
            return Const(0, 1)
        number = port.held_warp if self._cfg.one_bank else port.held_warp + port.held_register
        return number[: self._cfg.bank_bits]

    def _move(self, m: Module, ports: Ports, banks: RenamedBanks) -> None:
        """The data of results, and their banks."""
        names = {
            "room": "room",
            "advances": "advances",
            "moves": "moves",
            "masks": "mask",
            "merges": "merges",
            "merge_places": "merge_place",
            "old_masks": "old_mask",
            "stores": "storing",
            "store_places": "store_place",
            "store_masks": "store_mask",
            "store_lanes": "lanes",
        }
        m.d.comb += [getattr(banks, name).eq(Cat(getattr(port, own) for port in ports)) for name, own in names.items()]
        for number, port in enumerate(ports):
            m.d.comb += [port.stored.eq(banks.accept[number]), port.merge_served.eq(banks.merged[number])]

    def _release(self, m: Module, allocation: Allocation, sweep: Sweep) -> None:
        """What the sweep holds, or else a dead register."""
        held = Cat(sweep.found[:-SLICES], sweep.found[-SLICES:] & sweep.held.replicate(SLICES))
        if self._cfg.gives.deaths:
            mask = self.death_mask & self.death_valid.replicate(SLICES)
            held = Mux(sweep.held, held, Cat(self.death_place, mask))
            m.d.comb += self.death_ready.eq(self.death_valid & ~sweep.held)
        m.d.comb += [Cat(allocation.release_place, allocation.release_mask).eq(held), sweep.frees.eq(sweep.held)]
        if self._evictions:
            m.d.comb += sweep.waits.eq(self._evictions.sweeps_wait)

    def _complete(self, m: Module, ports: Ports) -> None:
        """When the scoreboard is told, and when nothing is under way."""
        busy = []
        for number, port in enumerate(ports):
            evicts = self._evictions if number == 0 else None
            stored = port.stored & ~evicts.under_way[2] if evicts else port.stored
            queue = complete_stores(m, self._cfg, self, number, stored, port.completion)
            m.d.comb += [self.completed[number].eq(queue.completed), self.completion[number].eq(queue.completion)]
            busy += [port.reading, port.deciding, port.storing, queue.waiting]
        m.d.comb += self.quiet.eq(~Cat(busy).any() & ~self.swept.any())

    def _observe(self, m: Module, table: RenamingTable, ports: Ports, allocation: Allocation) -> None:
        """Probes."""
        moves = Cat(port.moves for port in ports)
        new = [Cat(port.place, port.mask) for port in ports]
        sizes = [Cat(encode(port.size, 2), Const(0, 1)) + 1 for port in ports]
        m.d.comb += [
            self.reading.eq(Cat(port.reading for port in ports)),
            self.deciding.eq(Cat(port.deciding for port in ports)),
            self.storing.eq(Cat(port.storing for port in ports)),
            self.used_rows.eq(allocation.used_rows),
            self.size.eq(Cat(size[:3] & port.accept.replicate(3) for size, port in zip(sizes, ports, strict=True))),
            self.decision.eq(Cat(port.decision for port in ports)),
            self.target.eq(
                Cat(entry & port.moves.replicate(len(entry)) for entry, port in zip(new, ports, strict=True))
            ),
            self.search.eq(self._changes),
            self.search_wait.eq(self._waiting),
            self.merge.eq(Cat(port.merge_served for port in ports)),
            self.stored.eq(Cat(port.stored for port in ports)),
            self.table_reads.eq(table.table_reads),
            self.table_writes.eq(table.table_writes),
            self.table_wait.eq(self._stores & ~table.read),
        ]
        if self._pairs:
            mapped = moves & Cat(port.with_partner & port.partner_mask.any() for port in ports)
            beside = Cat(port.place.as_value() == port.partner_place.as_value() for port in ports)
            m.d.comb += [self.with_partner.eq(mapped & beside), self.without_partner.eq(mapped & ~beside)]
            m.d.comb += self.reserved_rows.eq(allocation.reserved_rows)
        if self._cfg.operand_bits:
            m.d.comb += self.told.eq(self.operand_valid)

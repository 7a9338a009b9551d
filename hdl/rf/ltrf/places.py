"""All places of the cache with their address tables, and the memories behind them.

docs/schemes/ltrf.md, sections 3, 4 and 7.
"""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, decode, encode, lowest_one, select, select_wide
from warpfile.hdl.naming import named
from warpfile.hdl.rf.contract import Members
from warpfile.hdl.rf.digits import place_digits
from warpfile.hdl.rf.layouts import places_layout
from warpfile.hdl.rf.ltrf.address_table import AddressTable, by_name, by_part
from warpfile.hdl.rf.ltrf.free_banks import first_free
from warpfile.hdl.rf.ltrf.place import CachePlace
from warpfile.hdl.rf.ltrf.registers import set_of
from warpfile.hdl.rf.ltrf.sets import WarpSets
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.ltrf import PARTS, PREFETCH, RECALL, LtrfConfig

#: Events of the places, a bit per part.
STEPS = ("step_in", "step_out", "step_moves")


class Places(wiring.Component):
    """Places with their address tables, whose registers take steps, four in a cycle: who starts, who saves, and what
    look-ups find.

    Members
    -------
    places : In(ArrayLayout)     Warp of each place, one-hot.
    release : In(active_warps), released : Out(active_warps)   Places to give up, and those given up: nothing of their
                                 warp is in the cache or under way.
    launched : In(warps)         The warp that is launched, one-hot.
    enters, ends : In(active_warps)   Places whose PREFETCH, whose EXIT issues.
    operand : In(names)          In the cycle after a PREFETCH.
    issued : In(active_warps)    Place whose beat issued in the cycle before.
    written, arrives, dies       As in :class:`hdl.rf.ltrf.issued.IssuedBeat`.
    check_place : In(active_warps), check_valid : In(source_slots), check_registers : In(ArrayLayout)   Sources to look
                                 up, all of one place.
    check_banks : Out(ArrayLayout), check_missing : Out(1)   Their banks, zero for none; one is not cached.
    result_of : In(ArrayLayout), result_registers : In(ArrayLayout)   Per write-back port, the place and the register.
    result_banks : Out(ArrayLayout), result_found : Out(write_ports)   Its bank; it is cached.
    stored : In(write_ports)     Results that are written to the cache.
    bases, numbers               As in :class:`hdl.rf.ltrf.location.MainLocation`.
    working : In(active_warps)   Places that have something under way.
    spared : In(active_warps)    Places whose warp has a PREFETCH as its head beat; only with ``recall`` = ``spared``.
    open, start, save, starved : Out(active_warps)   Places that are open, that start, that save, that lack a bank.
    state, occupied : Out(ArrayLayout)   State of each place, and banks that are not free.
    recalled, working_set, live_set   Probes.
    steps, homes, out : Out      As in :class:`hdl.rf.ltrf.transfers.Transfers`.
    step_register                A probe, as the :data:`STEPS`.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        parts = cfg.active_warps * PARTS
        super().__init__(
            {
                **_members(cfg),
                "steps": Out(data.ArrayLayout(cfg.interval_registers, parts)),
                "homes": Out(places_layout(cfg.common(), parts)),
                "out": Out(cfg.active_warps),
                **{name: Out(parts) for name in STEPS},
                "step_register": Out(data.ArrayLayout(cfg.register_bits, parts)),
            }
        )

    def elaborate(self, platform) -> Module:
        """Places and tables, the choice among them, the memories."""
        m = Module()
        self._checked = [
            set_of(m, f"checked{slot}", register, valid)
            for slot, (register, valid) in enumerate(zip(self.check_registers, self.check_valid, strict=True))
        ]
        self._returning = [
            set_of(m, f"returning{port}", register, Const(1)) for port, register in enumerate(self.result_registers)
        ]
        self._checked, self._returning = (
            [named(m, f"{name}{number}", by_part(registers)) for number, registers in enumerate(sets)]
            for name, sets in (("looked_up", self._checked), ("result", self._returning))
        )
        m.submodules.sets = sets = WarpSets(self._cfg)
        ours = {name: getattr(self, name) for name in ("operand", "written", "arrives")} | {"word": sets.word}
        ours |= {"dies": self.dies, "live_word": sets.live_word} if self._cfg.liveness else {}
        self._ours = {name: named(m, f"{name}_in_order", by_part(value)) for name, value in ours.items()}
        entered = self._entered(m)
        tables = self._tables(m)
        places = []
        for number, table in enumerate(tables):
            place = self._place(m, number, table)
            self._surround(m, number, place, entered)
            places.append(place)
        self._choose(m, places)
        self._remember(m, places, sets)
        self._find(m, tables)
        return m

    def _tables(self, m: Module) -> list[wiring.PureInterface]:
        """The table that each place uses: its own, or that of its warp."""
        places = range(self._cfg.active_warps)
        if self._cfg.control_block == "places":
            return [stamp(m, f"table{number}", "address_table", self._table) for number in places]
        tables = [stamp(m, f"table{warp}", "address_table", self._table) for warp in range(self._cfg.warps)]
        used = [tables[0].signature.create(path=(f"used{number}",)) for number in places]
        for name, member in tables[0].signature.members.items():
            if member.flow is In:
                for warp, table in enumerate(tables):
                    holder = [warps[warp] for warps in self.places]
                    m.d.comb += getattr(table, name).eq(_chosen(holder, used, name))
            else:
                m.d.comb += [
                    getattr(view, name).eq(_chosen(warps, tables, name))
                    for warps, view in zip(self.places, used, strict=True)
                ]
        return used

    def _table(self) -> AddressTable:
        return AddressTable(self._cfg, self._cfg.source_slots + self._cfg.write_ports)

    def _place(self, m: Module, number: int, table: wiring.PureInterface) -> wiring.PureInterface:
        """A place, joined with its table."""
        place = stamp(m, f"place{number}", "cache_place", lambda: CachePlace(self._cfg))
        count = self._cfg.interval_registers
        order = [(number * count // self._cfg.active_warps + bank) % count for bank in range(count)]
        m.d.comb += [
            table.takes.eq(place.takes),
            table.leaves.eq(place.leaves),
            table.drop.eq(place.drop),
            table.registers.eq(place.registers),
            table.enters.eq(place.entered_step & ~place.out.replicate(PARTS)),
            table.entered_banks.eq(place.banks),
            table.wanted.eq(Cat(*self._checked, *self._returning)),
            place.cached.eq(table.cached),
            place.vacant.eq(Cat(first_free(m, f"free{number}", place.occupied, order))),
            self.out[number].eq(place.out),
            *(getattr(self, name).word_select(number, PARTS).eq(getattr(place, name)) for name in STEPS),
        ]
        self._enter(m, number, place, table)
        return place

    def _enter(self, m: Module, number: int, place: wiring.PureInterface, table: wiring.PureInterface) -> None:
        """Steps of the cycle before, by bank of the cache."""
        count, freed = self._cfg.interval_registers, []
        for part in range(PARTS):
            bank = named(m, f"bank{number}_{part}", Mux(place.out, table.step_banks[part], place.banks[part]))
            banks = decode(bank, count) & place.entered_step[part].replicate(count)
            stepped = named(m, f"stepped{number}_{part}", banks)
            freed.append(stepped & place.out.replicate(count))
            at = number * PARTS + part
            m.d.comb += [
                self.steps[at].eq(stepped & place.moves[part].replicate(count)),
                self.homes[at].eq(place.homes[part]),
                self.step_register[at].eq(place.step_registers[part]),
            ]
        m.d.comb += place.freed.eq(any_of(freed))

    def _entered(self, m: Module) -> Signal:
        """Warps that have executed a PREFETCH."""
        entered = Signal(self._cfg.warps)
        enters = named(m, "entering", select(self.enters, list(self.places)))
        m.d.sync += entered.eq((entered | enters) & ~self.launched)
        return entered

    def _surround(self, m: Module, number: int, place: wiring.PureInterface, entered: Value) -> None:
        """What every place gets and gives."""
        one = ("release", "enters", "ends", "issued", "working", "start", "save")
        warps, ours = self.places[number], dict(self._ours)
        if self._cfg.recall == "spared":
            ours["word"] &= ~self.spared[number].replicate(self._cfg.register_names)
        m.d.comb += [
            *(getattr(place, name).eq(getattr(self, name)[number]) for name in one),
            *(getattr(place, name).eq(value) for name, value in ours.items()),
            place.holds.eq(warps.any()),
            place.entered.eq((warps & entered).any()),
            place.stored.eq(self.stored & Cat(of[number] for of in self.result_of)),
            place.results.eq(Cat(self._returning)),
            place.base.eq(self.bases[number]),
            place.warp.eq(self.numbers[number]),
            *(
                getattr(self, name)[number].eq(getattr(place, name))
                for name in ("released", "open", "starved", "state", "occupied")
            ),
        ]

    def _choose(self, m: Module, places: list) -> None:
        """One place that starts, one that saves: the lowest, because the memories have a port each for them."""
        m.d.comb += [
            self.start.eq(lowest_one(Cat(place.may_start for place in places))),
            self.save.eq(lowest_one(Cat(place.may_save for place in places))),
        ]

    def _remember(self, m: Module, places: list, sets: WarpSets) -> None:
        """What goes to the memories and comes from them."""
        entering = named(m, "prefetching", Cat(place.state == PREFETCH for place in places))
        recalls = named(m, "recalling", Cat(place.state == RECALL for place in places))
        recalled = named(m, "recalling_set", recalls & ~self.spared if self._cfg.recall == "spared" else recalls)
        m.d.sync += self.recalled.eq((self.recalled | recalls) & ~entering)
        m.d.comb += [
            sets.read.eq(self.start.any()),
            sets.reader.eq(self._warp(m, "starting", self.start)),
            sets.enter.eq(entering.any()),
            sets.entering.eq(self._warp(m, "prefetching", entering)),
            sets.operand.eq(self.operand),
            self.working_set.eq(Mux(entering.any(), self.operand, Mux(recalled.any(), sets.word, 0))),
        ]
        if self._cfg.liveness:
            m.d.comb += [
                self.live_set.eq(by_name(named(m, "saved_live", select(self.save, [place.live for place in places])))),
                sets.save.eq(self.save.any()),
                sets.saving.eq(self._warp(m, "saving", self.save)),
                sets.live.eq(self.live_set),
            ]

    def _warp(self, m: Module, name: str, place: Value) -> Value:
        """Number of the warp of a place, which is one-hot."""
        warp = named(m, f"{name}_warp", select(place, list(self.places)))
        return encode(warp, self._cfg.warp_bits)

    def _find(self, m: Module, tables: list) -> None:
        """Banks that are looked up: of sources first, then of results."""
        slots, missing = self._cfg.source_slots, []
        for slot in range(slots):
            m.d.comb += self.check_banks[slot].eq(select(self.check_place, [table.banks[slot] for table in tables]))
            found = select(self.check_place, [table.found[slot] for table in tables])
            missing.append(self.check_valid[slot] & ~found)
        m.d.comb += self.check_missing.eq(any_of(missing))
        for port, place in enumerate(self.result_of):
            banks, found = ([getattr(table, name)[slots + port] for table in tables] for name in ("banks", "found"))
            m.d.comb += [
                self.result_banks[port].eq(select(place, banks)),
                self.result_found[port].eq(select(place, found)),
            ]


def _chosen(choice: Sequence[Value], parts: Sequence[wiring.PureInterface], name: str) -> Value:
    """A port of one of some parts; zero for none."""
    return select_wide(choice, [getattr(part, name) for part in parts])


def _members(cfg: LtrfConfig) -> Members:
    """Ports of the places, but those of the steps."""
    count, names, ports, slots = cfg.active_warps, cfg.register_names, cfg.write_ports, cfg.source_slots
    dies = {"dies": In(names), "live_set": Out(names)} if cfg.liveness else {}
    spared = {"spared": In(count)} if cfg.recall == "spared" else {}
    registers = {"check_registers": slots, "result_registers": ports}
    return {
        "places": In(data.ArrayLayout(cfg.warps, count)),
        "launched": In(cfg.warps),
        **{name: In(count) for name in ("release", "enters", "ends", "issued", "working")},
        **{name: In(names) for name in ("operand", "written", "arrives")},
        **{name: In(data.ArrayLayout(cfg.register_bits, many)) for name, many in registers.items()},
        **dies,
        **spared,
        "check_place": In(count),
        "check_valid": In(slots),
        "check_banks": Out(data.ArrayLayout(cfg.cache_bank_bits, slots)),
        "check_missing": Out(1),
        "result_of": In(data.ArrayLayout(count, ports)),
        "result_banks": Out(data.ArrayLayout(cfg.cache_bank_bits, ports)),
        "result_found": Out(ports),
        "stored": In(ports),
        "bases": In(data.ArrayLayout(place_digits(cfg), count)),
        "numbers": In(data.ArrayLayout(cfg.bank_bits, count)),
        **{name: Out(count) for name in ("released", "open", "start", "save", "starved", "recalled")},
        "working_set": Out(names),
        "state": Out(data.ArrayLayout(3, count)),
        "occupied": Out(data.ArrayLayout(cfg.interval_registers, count)),
    }

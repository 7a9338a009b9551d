"""What all places have in common, and the memories behind them (docs/schemes/ltrf.md, sections 3, 4 and 7)."""

from abc import abstractmethod
from collections.abc import Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, encode, lowest_one, select, select_wide
from warpfile.hdl.naming import named
from warpfile.hdl.rf.contract import Members
from warpfile.hdl.rf.digits import place_digits
from warpfile.hdl.rf.ltrf.registers import set_of
from warpfile.hdl.rf.ltrf.sets import WarpSets
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.ltrf import PREFETCH, RECALL, LtrfConfig


def places_members(cfg: LtrfConfig) -> Members:
    """Ports that the places have with every engine.

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
    """
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


class Places(wiring.Component):
    """Places with their address tables. Ports: :func:`places_members` and those of the engine."""

    _cfg: LtrfConfig

    @abstractmethod
    def _table(self) -> wiring.Component:
        """An address table: sources and results are the first of what it looks up, and all that may be missing."""

    def _order(self, registers: Value) -> Value:
        """A set of registers as places and tables have it."""
        return registers

    def _names(self, registers: Value) -> Value:
        """A set of theirs in the order of names."""
        return registers

    @abstractmethod
    def _place(self, m: Module, number: int, table: wiring.PureInterface) -> wiring.PureInterface:
        """A place, joined with its table."""

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
            [named(m, f"{name}{number}", self._order(registers)) for number, registers in enumerate(sets)]
            for name, sets in (("looked_up", self._checked), ("result", self._returning))
        )
        m.submodules.sets = sets = WarpSets(self._cfg)
        ours = {name: getattr(self, name) for name in ("operand", "written", "arrives")} | {"word": sets.word}
        ours |= {"dies": self.dies, "live_word": sets.live_word} if self._cfg.liveness else {}
        self._ours = {name: named(m, f"{name}_in_order", self._order(value)) for name, value in ours.items()}
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
                self.live_set.eq(
                    self._names(named(m, "saved_live", select(self.save, [place.live for place in places])))
                ),
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

"""Where an architectural register lives: base plus number, bank skewed by warp or row."""

from collections.abc import Callable, Sequence

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from warpfile.hdl.arbiter import decode, select
from warpfile.hdl.beat import launch_layout
from warpfile.hdl.naming import named
from warpfile.hdl.rf.contract import Members, offered_layout, places_layout
from warpfile.spec.config import Config

#: Bank of a register, from the configuration, the low bits of its place, its warp's number modulo banks, and its row.
BankRule = Callable[[Config, Value, Value, Value], Value]


def skewed(cfg: Config, place: Value, warp: Value, row: Value) -> Value:
    """The place modulo banks, plus what ``bank_skew`` says (docs/machine.md, section 5)."""
    return place + {"none": Const(0), "warp": warp, "row": row[: len(place)]}[cfg.bank_skew]


class Location(wiring.Component):
    """Base of every warp, and what the collectors and the banks want to know of places in a cycle.

    Lookups are combinational; a launch is seen from the next cycle. A register's place is ``base + register``;
    ``row = place div banks``, and ``bank`` says which of the row's banks.

    Members
    -------
    launch_valid : In(1), launch : In(launch_layout(cfg))   A warp that is resident from the next cycle.
    warp : In(warps), sources : In(ArrayLayout)      One-hot warp and the registers of the offered beat.
    source_places : Out(ArrayLayout)                 These three only with ``cfg.asks.sources``; rows are not added up
                                                     (:func:`hdl.rf.contract.offered_layout`).
    result_warps, result_registers : In(ArrayLayout), result_places : Out(ArrayLayout)   Per write-back port.
    lookup_registers : In(ArrayLayout), lookup_places : Out(ArrayLayout)   Warp-major; with ``cfg.asks.lookups``.
    """

    def __init__(self, cfg: Config, bank: BankRule = skewed) -> None:
        self._cfg = cfg
        self._bank = bank
        super().__init__(location_members(cfg))

    def elaborate(self, platform) -> Module:
        """Table of bases; one multiplexer for the offered beat, one per write-back port, none per warp."""
        m = Module()
        cfg = self._cfg
        bases = base_table(m, cfg, self.launch_valid, self.launch)
        if cfg.asks.sources:
            offered = of_warp(m, cfg, "offered", self.warp, bases)
            for slot in range(cfg.source_slots):
                look_up_offered(m, cfg, *offered, self.sources[slot], self.source_places[slot], self._bank)
        for port in range(cfg.write_ports):
            warp = decode(self.result_warps[port], cfg.warps)
            writing = of_warp(m, cfg, f"result{port}", warp, bases)
            look_up(m, cfg, *writing, self.result_registers[port], self.result_places[port], self._bank)
        for index in range(cfg.warps * cfg.asks.lookups):
            warp = index // cfg.asks.lookups
            number = Const(warp % cfg.banks, cfg.bank_bits)
            look_up(m, cfg, bases[warp], number, self.lookup_registers[index], self.lookup_places[index], self._bank)
        return m


def location_members(cfg: Config) -> Members:
    """Ports of :class:`Location`."""
    asks, ports = cfg.asks, cfg.write_ports
    members: Members = {
        "launch_valid": In(1),
        "launch": In(launch_layout(cfg)),
        "result_warps": In(data.ArrayLayout(cfg.warp_bits, ports)),
        "result_registers": In(data.ArrayLayout(cfg.register_bits, ports)),
        "result_places": Out(places_layout(cfg, ports)),
    }
    if asks.sources:
        members |= {"warp": In(cfg.warps), "sources": In(data.ArrayLayout(cfg.register_bits, cfg.source_slots))}
        members["source_places"] = Out(data.ArrayLayout(offered_layout(cfg), cfg.source_slots))
    if asks.lookups:
        count = cfg.warps * asks.lookups
        members["lookup_registers"] = In(data.ArrayLayout(cfg.register_bits, count))
        members["lookup_places"] = Out(places_layout(cfg, count))
    return members


def base_table(m: Module, cfg: Config, valid: Value, launch: data.View) -> list[Signal]:
    """First place of every warp, from the cycle after its launch."""
    bases = [Signal(cfg.place_bits, name=f"base{warp}", reset_less=True) for warp in range(cfg.warps)]
    for warp, base in enumerate(bases):
        with m.If(valid & (launch.warp == warp)):
            m.d.sync += base.eq(launch.base)
    return bases


def of_warp(m: Module, cfg: Config, name: str, warp: Value, bases: Sequence[Value]) -> tuple[Signal, Signal]:
    """Base of one of the warps, and its number modulo banks; ``warp`` is one-hot."""
    base = Signal(cfg.place_bits, name=f"{name}_base")
    number = Signal(cfg.bank_bits, name=f"{name}_skew")
    numbers = [Const(index % cfg.banks, cfg.bank_bits) for index in range(cfg.warps)]
    chosen = named(m, f"{name}_warp", warp)
    m.d.comb += [base.eq(select(chosen, bases)), number.eq(select(chosen, numbers))]
    return base, number


def look_up(
    m: Module,
    cfg: Config,
    base: Value,
    warp: Value,
    register: Value,
    location: data.View,
    bank: BankRule = skewed,
) -> None:
    """Drive ``location`` with the place of a register of the warp with this base and number (modulo banks)."""
    bits = exact_log2(cfg.banks)
    place = Signal(cfg.place_bits, name="place")
    m.d.comb += [place.eq(fast_sum(m, base, register)), location.row.eq(place[bits:])]
    if bits:
        m.d.comb += location.bank.eq(bank(cfg, place[:bits], warp, location.row)[:bits])


def look_up_offered(
    m: Module, cfg: Config, base: Value, warp: Value, register: Value, source: data.View, bank: BankRule = skewed
) -> None:
    """The same of a source of the offered beat, whose row is not added up (:func:`hdl.rf.contract.offered_layout`)."""
    bits = exact_log2(cfg.banks)
    m.d.comb += source.eq(begun(m, cfg, base, register))
    if bits:
        place = named(m, "skewed", (base + register)[: 2 * bits])
        m.d.comb += source.bank.eq(bank(cfg, place[:bits], warp, place[bits:])[:bits])


def begun(m: Module, cfg: Config, base: Value, register: Value) -> data.View:
    """Bank of ``base`` + ``register`` without skew, and what its row is the sum of."""
    bits = exact_log2(cfg.banks)
    low = named(m, "low", base[:bits] + register[:bits])
    place = Signal(offered_layout(cfg), name="begun")
    m.d.comb += [place.base.eq(base[bits:]), place.offset.eq(register[bits:])]
    m.d.comb += [place.bank.eq(low[:bits]), place.carry.eq(low[bits:])] if bits else []
    return place


def settle(m: Module, source: data.View, place: data.View) -> None:
    """Drive ``place`` with what a source of the offered beat says, its row added up."""
    row = named(m, "row", fast_sum(m, Cat(source.carry, source.base), Cat(source.carry, source.offset)))
    m.d.comb += [place.bank.eq(source.bank), place.row.eq(row[1:])]
    if hasattr(place, "absent"):
        m.d.comb += place.absent.eq(source.absent)


def fast_sum(m: Module, left: Value, right: Value) -> Value:
    """``left`` + ``right`` modulo the width of ``left``, carries in logarithmic depth (Kogge and Stone 1973)."""
    width = len(left)
    differs = named(m, "differs", (left ^ right)[:width])
    carry, passes = named(m, "carry", (left & right)[:width]), differs
    step = 1
    while step < width:
        carry = named(m, f"carry{step}", (carry | (passes & (carry << step)))[:width])
        passes = named(m, f"passes{step}", (passes & (passes << step))[:width])
        step *= 2
    return (differs ^ (carry << 1))[:width]

"""Where an architectural register lives: base plus number, bank skewed by warp or row."""

from collections.abc import Callable, Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode, select
from warpfile.hdl.beat import launch_layout
from warpfile.hdl.clock_gate import take
from warpfile.hdl.naming import named
from warpfile.hdl.rf.contract import Members
from warpfile.hdl.rf.digits import (
    bank_digit,
    bank_of,
    of_place,
    of_register,
    place_digits,
    rotated_of,
    row_of,
    summed,
)
from warpfile.hdl.rf.layouts import offered_layout, places_layout
from warpfile.spec.config import Config

#: Bank of a register, from the configuration, the low bits of its place, its warp's number modulo banks, and its row;
#: for a power of two of banks.
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
                                                     (:func:`hdl.rf.layouts.offered_layout`).
    result_warps, result_registers : In(ArrayLayout), result_places : Out(ArrayLayout)   Per write-back port.
    lookup_registers : In(ArrayLayout), lookup_places : Out(ArrayLayout)   Warp-major; with ``cfg.asks.lookups``.
    """

    def __init__(self, cfg: Config, bank: BankRule = skewed) -> None:
        self._cfg = cfg
        self._bank = bank
        super().__init__(location_members(cfg))

    def elaborate(self, platform) -> Module:
        """Table of bases; one multiplexer for the offered beat, one per write-back port, none per warp."""
        cfg = self._cfg
        if self._bank is not skewed:
            cfg.must_be_power("banks", "a rule of another package goes by the low bits of a place")
        m = Module()
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
            number = start_of(m, cfg, bases[warp], Const(warp % cfg.banks, cfg.bank_bits))
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
    """Digits of the first place of every warp, from the cycle after its launch."""
    bases = [Signal(place_digits(cfg), name=f"base{warp}", reset_less=True) for warp in range(cfg.warps)]
    launched = of_place(m, cfg, launch.base)
    for warp, base in enumerate(bases):
        take(m, cfg, base.name, [base], (valid & (launch.warp == warp), [launched]))
    return bases


def of_warp(m: Module, cfg: Config, name: str, warp: Value, bases: Sequence[Value]) -> tuple[Signal, Signal]:
    """Base of one of the warps, and where its skew starts (:func:`start_of`); ``warp`` is one-hot."""
    base = Signal(place_digits(cfg), name=f"{name}_base")
    number = Signal(cfg.bank_bits, name=f"{name}_skew")
    numbers = [start_of(m, cfg, bases[index], Const(index % cfg.banks, cfg.bank_bits)) for index in range(cfg.warps)]
    chosen = named(m, f"{name}_warp", warp)
    m.d.comb += [base.eq(select(chosen, bases)), number.eq(select(chosen, numbers))]
    return base, number


def start_of(m: Module, cfg: Config, base: Value, number: Value) -> Value:
    """Where the skew of a warp with this base and number modulo banks starts: its number, which is added to bits of a
    place; where bank and row are no such bits, the bank of register 0."""
    if cfg.banks_by_bits:
        return number
    if cfg.bank_skew == "row":
        return rotated_of(cfg, base)
    bank = bank_of(cfg, base)
    return summed(m, cfg, bank, [number])[0] if cfg.bank_skew == "warp" else bank


def look_up(
    m: Module,
    cfg: Config,
    base: Value,
    start: Value,
    register: Value,
    location: data.View,
    bank: BankRule = skewed,
) -> None:
    """Drive ``location`` with the place of a register of the warp with this base and :func:`start_of` it."""
    if not cfg.banks_by_bits:
        source = Signal(offered_layout(cfg), name="source")
        look_up_offered(m, cfg, base, start, register, source)
        settle(m, source, location)
        return
    bits = bank_digit(cfg)
    place = Signal(cfg.place_bits, name="place")
    m.d.comb += [place.eq(fast_sum(m, base, register)), location.row.eq(place[bits:])]
    if bits:
        m.d.comb += location.bank.eq(bank(cfg, place[:bits], start, location.row)[:bits])


def look_up_offered(
    m: Module, cfg: Config, base: Value, start: Value, register: Value, source: data.View, bank: BankRule = skewed
) -> None:
    """The same of a source of the offered beat, whose row is not added up (:func:`hdl.rf.layouts.offered_layout`)."""
    bits, parts = bank_digit(cfg), of_register(m, cfg, register)
    m.d.comb += source.eq(begun(m, cfg, base, parts))
    if not cfg.banks_by_bits:
        m.d.comb += source.bank.eq(_rotated(m, cfg, base, start, parts))
    elif bits:
        place = named(m, "skewed", (base + register)[: 2 * bits])
        m.d.comb += source.bank.eq(bank(cfg, place[:bits], start, place[bits:])[:bits])


def begun(m: Module, cfg: Config, base: Value, register: Sequence[Value]) -> data.View:
    """Bank of ``base`` and the parts of a register, all as digits, without skew, and what its row is the sum of."""
    bank, (*before, carry) = summed(m, cfg, bank_of(cfg, base), [bank_of(cfg, part) for part in register])
    offset, *others = (row_of(cfg, part) for part in register)
    for late, row in zip(before, others, strict=True):
        offset = Mux(late, named(m, "next_row", offset + row + 1), named(m, "row", offset + row))
    place = Signal(offered_layout(cfg), name="begun")
    m.d.comb += [place.base.eq(row_of(cfg, base)), place.offset.eq(offset)]
    m.d.comb += [place.bank.eq(bank), place.carry.eq(carry)] if bank_digit(cfg) else []
    return place


def _rotated(m: Module, cfg: Config, base: Value, start: Value, register: Sequence[Value]) -> Value:
    """Bank of a register behind its skew, where that is added to no bits."""
    banks = [bank_of(cfg, part) for part in register]
    if cfg.bank_skew == "row":
        _, carries = summed(m, cfg, bank_of(cfg, base), banks)
        banks = [rotated_of(cfg, part) + carry for part, carry in zip(register, carries, strict=True)]
    return summed(m, cfg, start, banks)[0]


def settle(m: Module, source: data.View, place: data.View) -> None:
    """Drive ``place`` with what a source of the offered beat says, its row added up."""
    row = named(m, "row", fast_sum(m, Cat(source.carry, source.base), Cat(source.carry, source.offset)))
    m.d.comb += [place.bank.eq(source.bank), place.row.eq(row[1:])]
    for name in ("absent", "twin"):
        if hasattr(place, name):
            m.d.comb += getattr(place, name).eq(getattr(source, name))


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

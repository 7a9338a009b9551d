"""The way from source slots to banks and back, as every file with banks has it."""

from collections.abc import Iterator, Sequence

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.rf.lanes import CrossbarLane
from warpfile.hdl.rf.layouts import is_in, places_layout, unit_inputs
from warpfile.hdl.rf.matching import Matching, is_matched
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import Config


def read_members(cfg: Config) -> dict[str, wiring.Member]:
    """Ports for reads.

    requests : In(units * slots), places : In(ArrayLayout)   Every slot and its place; units, slots: ``cfg.asks``.
    older : In(units ** 2)   Order of allocation.
    grant, fill : Out(units * slots)   Slots that a bank serves, and slots whose data are there.
    fill_data : Out(ArrayLayout)   Lane-major: lane, then input.
    """
    slots = cfg.asks.units * cfg.asks.slots
    return {
        "requests": In(slots),
        "places": In(places_layout(cfg, slots)),
        "older": In(cfg.asks.units**2),
        "grant": Out(slots),
        "fill": Out(slots),
        "fill_data": Out(data.ArrayLayout(32 * unit_inputs(cfg), cfg.lanes)),
    }


def join_reads(m: Module, file: wiring.Component, banks: wiring.Component) -> None:
    """Join a file's ports for reads with banks that have :func:`read_members`."""
    m.d.comb += [
        banks.requests.eq(file.requests),
        banks.places.eq(file.request_places),
        banks.older.eq(file.older),
        file.grant.eq(banks.grant),
        file.fill.eq(banks.fill),
        file.fill_data.eq(banks.fill_data),
    ]


def connect_reads(
    m: Module,
    cfg: Config,
    part: wiring.Component,
    banks: list[wiring.PureInterface],
    asking: Sequence[Value] | None = None,
) -> list[Value]:
    """Join the banks, in index order, with a part that has :func:`read_members`. Returns, per bank, the slots in it.

    ``asking``: for each bank the requests that count, if not all do.
    """
    asking = [part.requests] * len(banks) if asking is None else asking
    others = _matched(m, cfg, part.older, banks) if is_matched(cfg) else _served_below(cfg, banks)
    rows, slots = Cat(place.row for place in part.places), []
    for index, (bank, passed_over) in enumerate(zip(banks, others, strict=True)):
        slots.append(Cat(is_in(cfg, place, index) for place in part.places))
        m.d.comb += [
            bank.requests.eq(asking[index] & slots[index]),
            bank.passed_over.eq(passed_over),
            bank.older.eq(part.older),
            bank.rows.eq(rows),
        ]
    m.d.comb += [part.grant.eq(any_of(bank.grant for bank in banks)), part.fill.eq(any_of(bank.fill for bank in banks))]
    return slots


def _matched(m: Module, cfg: Config, older: Value, banks: list[wiring.PureInterface]) -> list[Value]:
    """Per bank all units but the one that it serves: the banks choose together."""
    m.submodules.matching = matching = Matching(cfg.asks.units, len(banks))
    m.d.comb += [matching.older.eq(older), matching.free.eq(Cat(bank.free for bank in banks))]
    for bank, asking in zip(banks, matching.requests, strict=True):
        slots = [bank.requests.word_select(unit, cfg.asks.slots) for unit in range(cfg.asks.units)]
        m.d.comb += asking.eq(Cat(slot.any() for slot in slots))
    return [~picked for picked in matching.picked]


def _served_below(cfg: Config, banks: list[wiring.PureInterface]) -> Iterator[Value]:
    """Per bank the units that a lower one serves; not used with ``collect`` other than ``one``."""
    passed_over: Value = Const(0, cfg.asks.units)
    for bank in banks:
        yield passed_over
        if cfg.collect == "one":
            passed_over = passed_over | bank.chosen


def crossbar_sources(m: Module, cfg: Config, banks: Sequence[wiring.PureInterface]) -> tuple[Signal, int]:
    """Which bank every input of the units takes, and every client whose reads these banks serve; how many clients."""
    inputs = unit_inputs(cfg)
    width = len(banks[0].fill) // inputs
    taken = [bank.fill.word_select(index, width).any() for index in range(inputs) for bank in banks]
    readers = len(banks[0].engine_fill) if hasattr(banks[0], "engine_fill") else 0
    taken += [bank.engine_fill[client] for client in range(readers) for bank in banks]
    sources = Signal(len(taken))
    m.d.comb += sources.eq(Cat(*taken))
    return sources, readers


def read_lanes(
    m: Module, cfg: Config, part: wiring.Component, banks: Sequence[wiring.PureInterface], beside: Value | None = None
) -> None:
    """The crossbar: to every input of the units, and to every client of ``part.engine_read`` if there are any.

    ``beside``: a word per input of the units, zero where none, that goes to all lanes.
    """
    inputs = unit_inputs(cfg)
    sources, readers = crossbar_sources(m, cfg, banks)

    def crossbar() -> CrossbarLane:
        return CrossbarLane(cfg, readers, beside=beside is not None)

    for number in range(cfg.lanes):
        lane = stamp(m, f"crossbar_lane{number}", "crossbar_lane", crossbar, clocked=False)
        m.d.comb += [] if beside is None else [lane.beside.eq(beside)]
        m.d.comb += [
            lane.sources.eq(sources),
            lane.banks.eq(Cat(bank.read_data.word_select(number, 32) for bank in banks)),
            part.fill_data[number].eq(lane.inputs[: 32 * inputs]),
        ]
        if readers:
            m.d.comb += part.engine_read[number].eq(lane.inputs[32 * inputs :])

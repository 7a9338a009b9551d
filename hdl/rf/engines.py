"""Engines: groups of clients that reach a bank beside the reads of units and the results (docs/slots/rf.md)."""

from collections.abc import Iterator
from dataclasses import dataclass

from amaranth import Cat, Const, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.spec.config import Config
from warpfile.spec.contract import Engine, client_count

Engines = tuple[Engine, ...]
_NONE = Const(0, 1)  #: length of an access in a bank where all take equally long


def bank_members(cfg: Config, engines: Engines) -> dict[str, wiring.Member]:
    """Ports of one bank for its engines; clients are numbered through all engines, in their order.

    offers : In(clients), offer_rows : In(ArrayLayout), taken : Out(clients)   One-hot per engine.
    offer_masks : In(ArrayLayout)     One per client of the masked engines.
    offer_writes : In(reading clients), engine_fill : Out(reading clients)   It wants to write; its data are on
                                      ``read_data``.
    """
    count, masked, reading = (client_count(engines, kind) for kind in ("all", "masked", "reads"))
    members: dict[str, wiring.Member] = {}
    if count:
        members |= {"offers": In(count), "offer_rows": In(data.ArrayLayout(cfg.row_bits, count)), "taken": Out(count)}
    if masked:
        members["offer_masks"] = In(data.ArrayLayout(cfg.lanes, masked))
    if reading:
        members |= {"offer_writes": In(reading), "engine_fill": Out(reading)}
    return members


@dataclass(frozen=True)
class Group:
    """One engine and where its clients are: among all, among those with masks, among those that read."""

    engine: Engine
    clients: slice
    masked: slice
    reading: slice


def groups(engines: Engines) -> Iterator[Group]:
    """All engines in their order."""
    for number, engine in enumerate(engines):
        before = engines[:number]
        starts = [client_count(before, kind) for kind in ("all", "masked", "reads")]
        yield Group(engine, *(slice(start, start + engine.count) for start in starts))


def writers(engines: Engines, taken: Value, writes: Value) -> Value:
    """Of the clients whose access is taken, those that write. ``writes``: one bit per client of the reading engines."""
    return Cat(
        taken[group.clients] & writes[group.reading] if group.engine.reads else taken[group.clients]
        for group in groups(engines)
    )


class Ports:
    """What is left of a bank's ports as one after the other takes from them, and what reaches the SRAM in the end.

    A single port serves a read or a write. ``free``: no earlier access keeps the port.
    """

    def __init__(self, cfg: Config, write_free: Value, read_free: Value) -> None:
        self.shared = cfg.bank_ports == "1RW"
        self.write_free, self.read_free = write_free, read_free
        self.write, self.write_row, self.mask = Const(0, 1), Const(0, cfg.row_bits), Const(0, cfg.lanes)
        self.read, self.read_row = Const(0, 1), Const(0, cfg.row_bits)
        self.write_length, self.read_length = Const(0, 1), Const(0, 1)

    def writes(self, wanted: Value, row: Value, mask: Value, length: Value = _NONE) -> None:
        """A client asks to write, and does if the port is free; row, mask and length are zero if none does."""
        self.write = self.write | (wanted & self.write_free)
        self.write_row, self.mask = self.write_row | row, self.mask | mask
        self.write_length = self.write_length | length
        self.write_free = self.write_free & ~wanted
        if self.shared:
            self.read_free = self.read_free & ~wanted

    def reads(self, does: Value, row: Value, length: Value = _NONE) -> None:
        """A client reads; row and length are zero if not."""
        self.read, self.read_row = self.read | does, self.read_row | row
        self.read_length = self.read_length | length
        self.read_free = self.read_free & ~does
        if self.shared:
            self.write_free = self.write_free & ~does

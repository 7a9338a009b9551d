"""The free slices of one bank (docs/schemes/corf.md, section 6)."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from dataclasses import dataclass

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.count import count_ones
from warpfile.hdl.naming import named
from warpfile.hdl.renaming.lowest import LowestRow
from warpfile.hdl.renaming.rows import decode_row
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import index_bits
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.packed import PackedConfig


@dataclass(frozen=True)
class Shape:
    """Rows that a search looks for: with so many free slices side by side, anywhere, or at one of the anchors only."""

    size: int
    anchor: int | None = None

    @property
    def anchors(self) -> tuple[int, ...]:
        """Where the slices may begin."""
        return tuple(range(SLICES + 1 - self.size)) if self.anchor is None else (self.anchor,)


def shapes(cfg: PackedConfig) -> tuple[Shape, ...]:
    """Every shape that is searched for; those of four bytes, which only a wholly free row has room for, are one."""
    narrow = range(1, SLICES) if cfg.packing else ()
    anywhere = tuple(Shape(size) for size in narrow)
    sides = tuple(Shape(size, at) for size in narrow for at in (0, SLICES - size))
    return (*anywhere, *(sides if cfg.one_bank else ()), Shape(SLICES, 0))


class FreeBank(wiring.Component):
    """Which slices of a bank are free, which rows are reserved, and the lowest row of every shape.

    What happens in a cycle is seen from the next. In one cycle slices are first freed, then taken. A reserved row that
    becomes wholly free loses its reservation, also one that it would get in this cycle.

    Members (P: ``cfg.write_ports``)
    -------
    rows : In(ArrayLayout), freed : In(ArrayLayout)   Rows of the old places of the results, and of the release; the
                                 slices that become free there.
    own_free : Out(ArrayLayout)  What is free in the old rows of results.
    row : In(row_bits), taken : In(4)   Slices that are taken there.
    reserve : In(1)              That row is reserved; this and what is said of partners only with ``pairs``.
    partners : In(ArrayLayout), partner_free : Out(ArrayLayout)   Rows of the partners of results, what is free there.
    unreserve : In(P)            Those of them that lose their reservation.
    found : Out(shapes), lowest, anchors : Out(ArrayLayout)   Whether there is a row, which one, where the slices begin.
    used_rows, reserved_rows : Out   How many rows are not wholly free, how many are reserved.
    """

    def __init__(self, cfg: PackedConfig) -> None:
        self._cfg, self._shapes = cfg, shapes(cfg)
        self._pairs = cfg.allocation == "pairs"
        row, results, count = cfg.row_bits, cfg.write_ports, len(self._shapes)
        members: dict[str, wiring.Member] = {
            "rows": In(data.ArrayLayout(row, results + 1)),
            "freed": In(data.ArrayLayout(SLICES, results + 1)),
            "own_free": Out(data.ArrayLayout(SLICES, results)),
            "row": In(row),
            "taken": In(SLICES),
            "found": Out(count),
            "lowest": Out(data.ArrayLayout(row, count)),
            "anchors": Out(data.ArrayLayout(2, count)),
            "used_rows": Out(index_bits(cfg.rows + 1)),
        }
        if self._pairs:
            members |= {"reserve": In(1), "partners": In(data.ArrayLayout(row, results)), "unreserve": In(results)}
            members["partner_free"] = Out(data.ArrayLayout(SLICES, results))
            members["reserved_rows"] = Out(index_bits(cfg.rows + 1))
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """A bit per slice, kept slice by slice for all rows together."""
        m = Module()
        rows = self._cfg.rows
        used = [Signal(rows, name=f"used{at}") for at in range(SLICES)]
        free = [named(m, f"free{at}", ~column) for at, column in enumerate(used)]
        reserved: Value = Signal(rows, name="reserved") if self._pairs else Const(0, rows)
        old = [decode_row(m, row, rows) for row in self.rows]
        whole = named(m, "whole", _all_of(free))
        m.d.comb += [
            self.own_free.eq(Cat((column & own).any() for own in old[:-1] for column in free)),
            self.used_rows.eq(count_ones(list(~whole))),
        ]
        left = self._change(m, used, old)
        if self._pairs:
            self._reserve(m, free, reserved, left, whole)
        self._search(m, free, reserved)
        return m

    def _change(self, m: Module, used: list[Signal], old: list[Value]) -> list[Value]:
        """Free and take. Returns what is free in between."""
        takes, left = decode_row(m, self.row, self._cfg.rows), []
        for at, column in enumerate(used):
            freed = any_of(row & mask[at].replicate(len(row)) for row, mask in zip(old, self.freed, strict=True))
            left.append(named(m, f"left{at}", ~column | freed))
            m.d.sync += column.eq(~left[at] | (takes & self.taken[at].replicate(len(takes))))
        self._takes = takes
        return left

    def _reserve(self, m: Module, free: list[Value], reserved: Signal, left: list[Value], whole: Value) -> None:
        """Rows that are kept for the partner of the register in them."""
        rows = self._cfg.rows
        partners = [decode_row(m, row, rows) for row in self.partners]
        lost = any_of(row & bit.replicate(rows) for row, bit in zip(partners, self.unreserve, strict=True))
        ends = lost | (_all_of(left) & ~whole)
        m.d.sync += reserved.eq((reserved | (self._takes & self.reserve.replicate(rows))) & ~ends)
        m.d.comb += [
            self.partner_free.eq(Cat((column & row).any() for row in partners for column in free)),
            self.reserved_rows.eq(count_ones(list(reserved))),
        ]

    def _search(self, m: Module, free: list[Value], reserved: Value) -> None:
        """The lowest row of every shape; one where anything goes must not be reserved."""
        for number, shape in enumerate(self._shapes):
            runs = [named(m, "run", _all_of(free[anchor : anchor + shape.size])) for anchor in shape.anchors]
            first = [run & ~any_of(runs[:place]) if place else run for place, run in enumerate(runs)]
            some = any_of(runs) & ~reserved if shape.anchor is None else any_of(runs)
            bits = _number_bits(first, shape.anchors) if len(runs) > 1 else []
            row = self._lowest(m, number, len(bits))
            m.d.comb += [row.rows.eq(some), self.found[number].eq(row.found), self.lowest[number].eq(row.row)]
            m.d.comb += self.anchors[number].eq(shape.anchors[0] if not bits else row.note)
            m.d.comb += [notes.eq(bit) for notes, bit in zip(row.notes, bits, strict=True)] if bits else []

    def _lowest(self, m: Module, number: int, notes: int) -> wiring.PureInterface:
        name = f"lowest_row{notes}" if notes else "lowest_row"
        return stamp(m, f"shape{number}", name, lambda: LowestRow(self._cfg.rows, notes), clocked=False)


def _all_of(columns: Sequence[Value]) -> Value:
    return functools.reduce(operator.and_, columns)


def _number_bits(first: Sequence[Value], anchors: Sequence[int]) -> list[Value]:
    """Bits of the lowest anchor of every row; ``first``: rows that have it there."""
    return [
        any_of(rows for rows, anchor in zip(first, anchors, strict=True) if anchor >> bit & 1)
        for bit in range(max(anchors).bit_length())
    ]

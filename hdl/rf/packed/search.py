"""Where a value goes (docs/schemes/corf.md, section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode, encode, lowest_one, prefix_or, select
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import location_layout
from warpfile.hdl.rf.packed.free_bank import Shape, shapes
from warpfile.hdl.slices import first_slices, high_slices, low_slices, slices_from
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.packed import LEFT, RIGHT, PackedConfig


@dataclass(frozen=True)
class _Candidate:
    """Slices that were found, if they were."""

    found: Value
    place: Value
    mask: Value


class Search(wiring.Component):
    """Chooses slices for one value. Combinational.

    What the banks say (:class:`hdl.rf.packed.free_bank.FreeBank`) is of the free slices as they are. The slices that
    the value itself gives up count as well: its old row is looked at beside the rows that the banks have found.

    Members
    -------
    size : In(4), home : In(bank_bits)   Bytes, one-hot, and the bank that comes first.
    old_place : In(location_layout), old_mask : In(4)   Slices that the step frees; no bit: none.
    own_free : In(4)             What is free in that row already. A reserved row has slices of its owner alone.
    found_rows, lowest, anchors : In(ArrayLayout)   Of every bank.
    paired : In(1), partner_place : In(location_layout), partner_mask, partner_free : In(4)   The register has a
                                 partner, where that is, and what is free in its row; only with ``pairs``.
    side : In(2)                 Side of the register; only with ``sides``.
    found : Out(1), place : Out(location_layout), mask : Out(4)   The slices.
    reserve, unreserve : Out(1)  Their row is reserved; that of the partner is not any more; only with ``pairs``.
    """

    def __init__(self, cfg: PackedConfig) -> None:
        self._cfg, self._shapes = cfg, shapes(cfg)
        place, count = location_layout(cfg), len(self._shapes)
        members: dict[str, wiring.Member] = {
            "size": In(SLICES),
            "home": In(cfg.bank_bits),
            "old_place": In(place),
            **{name: In(SLICES) for name in ("old_mask", "own_free")},
            "found_rows": In(data.ArrayLayout(count, cfg.banks)),
            "lowest": In(data.ArrayLayout(data.ArrayLayout(cfg.row_bits, count), cfg.banks)),
            "anchors": In(data.ArrayLayout(data.ArrayLayout(2, count), cfg.banks)),
            "found": Out(1),
            "place": Out(place),
            "mask": Out(SLICES),
        }
        if cfg.allocation == "pairs":
            members |= {"paired": In(1), "partner_place": In(place), "partner_mask": In(SLICES)}
            members |= {"partner_free": In(SLICES), "reserve": Out(1), "unreserve": Out(1)}
        if cfg.allocation == "sides":
            members["side"] = In(2)
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """First fit, and before it what pairs or sides say."""
        m = Module()
        own = named(m, "own", self.own_free | self.old_mask)
        fit = self._first_fit(m, own)
        if self._cfg.allocation == "pairs":
            fit = self._beside_partner(m, own, fit)
        if self._cfg.allocation == "sides":
            fit = self._at_side(m, own, fit)
        m.d.comb += [self.found.eq(fit.found), self.place.eq(fit.place), self.mask.eq(fit.mask)]
        return m

    def _first_fit(self, m: Module, own: Value) -> _Candidate:
        mask = named(m, "own_mask", first_slices(m, own, self.size))
        sizes = [Shape(size) if size < SLICES else Shape(SLICES, 0) for size in range(1, SLICES + 1)]
        return self._earliest(m, "fit", list(zip(self.size, sizes, strict=True)), mask.any(), mask)

    def _beside_partner(self, m: Module, own: Value, fit: _Candidate) -> _Candidate:
        """In the row of the partner, or, where that has none yet, in a row that is kept for it."""
        mapped = named(m, "partner_mapped", self.partner_mask.any())
        shared = self.partner_place.as_value() == self.old_place.as_value()
        free = named(m, "partner_room", self.partner_free | (self.old_mask & shared.replicate(SLICES)))
        high = named(m, "high", high_slices(self.size))
        mask = Mux((high & ~free).any(), first_slices(m, free, self.size), high)
        whole = self._earliest(m, "whole", [(Const(1, 1), Shape(SLICES, 0))], own.all(), low_slices(self.size))
        beside = named(m, "beside", self.paired & mapped & mask.any())
        alone = named(m, "alone", self.paired & ~mapped & whole.found)
        m.d.comb += [self.reserve.eq(alone & ~self.size[-1]), self.unreserve.eq(self.paired & mapped)]
        place = Mux(beside, self.partner_place, Mux(alone, whole.place, fit.place))
        return _Candidate(beside | alone | fit.found, place, Mux(beside, mask, Mux(alone, whole.mask, fit.mask)))

    def _at_side(self, m: Module, own: Value, fit: _Candidate) -> _Candidate:
        right, left = (named(m, name, self.side == side) for name, side in (("right", RIGHT), ("left", LEFT)))
        mask = named(m, "side_mask", Mux(left, high_slices(self.size), low_slices(self.size)))
        sizes = range(1, SLICES)
        wanted = [(self.size[size - 1] & right, Shape(size, 0)) for size in sizes]
        wanted += [(self.size[size - 1] & left, Shape(size, SLICES - size)) for size in sizes]
        wanted.append((self.size[-1] & (left | right), Shape(SLICES, 0)))
        usable = ~(mask & ~own).any() & (left | right)
        side = self._earliest(m, "side", wanted, usable, mask)
        chosen = side.found
        return _Candidate(chosen | fit.found, Mux(chosen, side.place, fit.place), Mux(chosen, side.mask, fit.mask))

    def _earliest(
        self, m: Module, name: str, wanted: Sequence[tuple[Value, Shape]], usable: Value, mask: Value
    ) -> _Candidate:
        """The first row of one of some shapes, from the home bank on; the old row, if it is ``usable``, is one too.

        ``wanted``: which shape, one-hot. ``mask``: slices in the old row.
        """
        banks, bits = range(self._cfg.banks), self._cfg.row_bits
        rows = [named(m, f"{name}_{bank}", self._lowest(wanted, bank)) for bank in banks]
        home, old = (decode(number, len(banks)) for number in (self.home, self.old_place.bank))
        home, old = named(m, f"{name}_home", home), named(m, f"{name}_old", old)
        there = Cat(row[0] for row in rows)
        there = named(m, f"{name}_there", there & home if self._cfg.one_bank else there)
        chosen, nearer = (there, Const(0, 1)) if self._cfg.one_bank else self._nearest(m, name, there, home, old)
        row, anchor = Signal(bits, name=f"{name}_row"), Signal(2, name=f"{name}_anchor")
        m.d.comb += Cat(row, anchor).eq(select(chosen, [row[1:] for row in rows]))
        # Nothing waits for the choice that can do without: the old row is compared with that of its own bank, chosen or
        # not, and whether something is found does not depend on what.
        owned = named(m, f"{name}_owned", usable & self.old_mask.any())  # the step frees something there
        beside = named(m, f"{name}_beside", select(old, [row[: bits + 1] for row in rows]))
        lower = named(m, f"{name}_lower", beside[0] & (beside[1:] < self.old_place.row))
        own = named(m, f"{name}_own", owned & ~nearer & ~lower)
        place = named(m, f"{name}_place", Mux(own, self.old_place, Cat(encode(chosen, self._cfg.bank_bits), row)))
        found = named(m, f"{name}_found", there.any() | owned)
        return _Candidate(found, place, named(m, f"{name}_mask", Mux(own, mask, self._mask(name, anchor))))

    def _nearest(self, m: Module, name: str, there: Value, home: Value, old: Value) -> tuple[Value, Value]:
        """The first bank that has a row, from the home bank on, one-hot; whether it is before that of the old row."""
        banks = range(len(there))
        turned, far = (
            named(m, f"{name}_{what}", select(home, [bits.rotate_right(bank) for bank in banks]))
            for what, bits in (("turned", there), ("far", old))
        )
        first = named(m, f"{name}_first", lowest_one(turned))
        chosen = named(m, f"{name}_chosen", select(home, [first.rotate_left(bank) for bank in banks]))
        return chosen, named(m, f"{name}_nearer", (turned & ~prefix_or(far)).any())

    def _mask(self, name: str, anchor: Value) -> Value:
        return low_slices(self.size) if name == "whole" else slices_from(self.size, anchor)

    def _lowest(self, wanted: Sequence[tuple[Value, Shape]], bank: int) -> Value:
        """Found or not, row and anchor of what one bank has of the shape that is wanted."""
        present = [(bit, self._shapes.index(shape)) for bit, shape in wanted if shape in self._shapes]
        words = [Cat(self.found_rows[bank][at], self.lowest[bank][at], self.anchors[bank][at]) for _, at in present]
        return select([bit for bit, _ in present], words)

"""Proofs of the free slices: slices that are found have no other owner, and some are always found."""

import contextlib
from unittest import mock

from amaranth import Array, Cat, Const, Mux, Signal, Value
from amaranth.asserts import AnySeq
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Miswired, Proof, at_most_one
from tests.hdl.unstamped import inside
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.rf.packed import allocation, free_bank
from warpfile.hdl.rf.packed.allocation import Allocation
from warpfile.schemes import SCHEMES
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.packed import LEFT, RIGHT, PackedConfig

ROWS = 2


def config(scheme: str, banks: int) -> PackedConfig:
    """One port, few rows."""
    small = {"banks": banks, "rows": ROWS, "ports": 1, "write_back_ports": 1, "lanes": 1, "warps": 2}
    return SCHEMES[scheme].configuration("tiny", **small, register_names=8)


def is_run(mask: Value) -> Value:
    """Neighbouring slices, at least one."""
    runs = [((1 << count) - 1) << at for count in range(1, SLICES + 1) for at in range(SLICES + 1 - count)]
    return Cat(mask == run for run in runs).any()


class PlaceProperties(ConfiguredProperties):
    """As many registers as rows, of which in each cycle one looks for slices or gives some up, and another one dies.

    Sizes, home banks, sides and partners may be any in every cycle.
    """

    def elaborate(self, platform):
        """The banks are parts of one tree."""

        with contextlib.ExitStack() as stack:
            for module in (allocation, free_bank):
                stack.enter_context(mock.patch.object(module, "stamp", inside))
            return super().elaborate(platform)

    def check(self, m, part):
        cfg = self._cfg
        count = cfg.banks * ROWS
        self.masks = masks = [Signal(SLICES, name=f"mask{owner}") for owner in range(count)]
        self.places = places = [
            Signal.like(Value.cast(part.release_place), name=f"place{owner}") for owner in range(count)
        ]
        who, dies, searching = (Signal(range(count), name=name) for name in ("who", "dies", "searching"))
        m.d.comb += [who.eq(AnySeq(len(who))), dies.eq(AnySeq(len(dies))), searching.eq(AnySeq(1))]
        released = Signal(name="released")
        m.d.comb += released.eq(AnySeq(1))
        old, place = Array(masks)[who], Array(places)[who]
        home = Value.cast(part.homes)
        gone = Array(masks)[dies]
        left = old & ~Value.cast(part.freed)
        m.d.comb += [
            Assume((who != dies) & (home < cfg.banks)),
            Assume((Value.cast(part.old_places) == place) & (Value.cast(part.old_masks) == old)),
            Assume((part.searching == searching) & (part.takes == (searching & part.found))),
            Assume(self._is_size(Value.cast(part.sizes))),
            Assume(
                (Value.cast(part.release_place) == Array(places)[dies]) & (part.release_mask == Mux(released, gone, 0))
            ),
            Assume(Mux(part.takes, left == 0, (left == old) | is_run(left)) & ((Value.cast(part.freed) & ~old) == 0)),
        ]
        if cfg.one_bank:  # a register keeps its home, and a bank is home of no more registers than it has rows
            m.d.comb += Assume(home == (who >= ROWS if cfg.banks > 1 else 0))
        self._follow(m, part, who, dies, released)
        self._promise(m, part, who, old, searching, count)

    def _is_size(self, size: Value) -> Value:
        return Cat(size == 1 << count for count in range(SLICES)).any()

    def _follow(self, m, part, who, dies, released) -> None:
        """Who has what from the next cycle on."""
        for owner, (mask, place) in enumerate(zip(self.masks, self.places, strict=True)):
            with m.If((dies == owner) & released):
                m.d.sync += mask.eq(0)
            with m.If(who == owner):
                m.d.sync += mask.eq(Mux(part.takes, Value.cast(part.masks), mask & ~Value.cast(part.freed)))
                m.d.sync += place.eq(Mux(part.takes, Value.cast(part.places), place))

    def _promise(self, m, part, who, old, searching, count) -> None:
        mask, place = Value.cast(part.masks), Value.cast(part.places)
        others = [
            (owner != who) & (own_place == place) & (own & mask).any()
            for owner, (own, own_place) in enumerate(zip(self.masks, self.places, strict=True))
        ]
        fits = Cat(sum(mask) == count + 1 for count in range(SLICES)) == Value.cast(part.sizes)
        shared = [
            (self.places[one] == self.places[other]) & (self.masks[one] & self.masks[other]).any()
            for one in range(len(self.masks))
            for other in range(one)
        ]
        busy = [
            Cat((own & (1 << at)).any() & (spot == row) for own, spot in zip(self.masks, self.places, strict=True))
            for row in range(1 << len(place))
            for at in range(SLICES)
        ]
        used = [Cat(busy[row * SLICES : row * SLICES + SLICES]).any() for row in range(1 << len(place))]
        m.d.comb += [
            Assert(~any_of(shared), "no two registers have a slice together"),
            Assert(~part.found | ~any_of(others), "slices that are found have no other owner"),
            Assert(~part.found | (is_run(mask) & fits), "it has room for the value, side by side"),
            Assert(part.found, "something is found"),
            Assert(part.used_rows == sum(used), "the rows that are used are known"),
            Cover(
                (part.used_rows == count) & searching.any() & old.any(),
                "every row is used and a register looks for others",
            ),
            Cover(part.takes & (place == Value.cast(part.old_places)) & old.any(), "it goes back to its own row"),
        ]
        if self._cfg.allocation == "pairs":
            m.d.comb += Cover(part.reserved_rows == 2, "two rows are reserved")
        if self._cfg.one_bank:
            side, (right, left) = Value.cast(part.sides), (mask[0], mask[-1])
            m.d.comb += Assert(((side != RIGHT) | right) & ((side != LEFT) | left), "a value is at its side")

    def help(self, m, part, state):
        """A slice is taken if some register has it; a row that is reserved has a register; masks are runs."""
        m.d.comb += [Assert(~own.any() | is_run(own), "slices are side by side") for own in self.masks]
        for bank in range(self._cfg.banks):
            columns = [state(f"slices{bank}", f"used{at}") for at in range(SLICES)]
            for row in range(ROWS):
                spot = Cat(Const(bank, self._cfg.bank_bits), Const(row, self._cfg.row_bits))
                has = any_of(
                    own & (place == spot).replicate(SLICES) for own, place in zip(self.masks, self.places, strict=True)
                )
                m.d.comb += Assert(Cat(column[row] for column in columns) == has, "a slice is free or somebody's")
                if self._cfg.allocation == "pairs":
                    reserved = state(f"slices{bank}", "reserved")
                    m.d.comb += Assert(~reserved[row] | has.any(), "a reserved row is used")
                    here = Cat(own.any() & (at == spot) for own, at in zip(self.masks, self.places, strict=True))
                    m.d.comb += Assert(~reserved[row] | at_most_one(here), "a reserved row is one register's")
        if self._cfg.one_bank:
            for owner, (own, place) in enumerate(zip(self.masks, self.places, strict=True)):
                home = place[: self._cfg.bank_bits] == (owner >= ROWS)
                m.d.comb += Assert(~own.any() | home, "registers are at home")


def _proof(scheme: str, banks: int, wrong: dict, *, regress: bool = False) -> Proof:
    cfg = config(scheme, banks)
    return Proof(
        "hdl.rf.packed.allocation",
        f"{cfg.allocation}, {banks} banks of {ROWS} rows",
        lambda: PlaceProperties(Allocation(cfg), cfg),
        {
            text: lambda changes=changes: PlaceProperties(Miswired(Allocation(cfg), **changes), cfg, helped=False)
            for text, changes in wrong.items()
        },
        reach=8,
        regress=regress,
    )


_WRONG = {
    "no two registers have a slice together": {"masks": lambda value: value | 15},
    "slices that are found have no other owner": {"old_masks": lambda value: value | 15},
    "it has room for the value, side by side": {"sizes": lambda value: Const(4, 4)},
}
PROOFS = (
    _proof("first_fit", 1, {"something is found": {"found": lambda value: value & 0}}),
    _proof("corf", 1, _WRONG),
    _proof(
        "corf_plus",
        2,
        {
            "the rows that are used are known": {"freed": lambda value: value & 0},
            "a value is at its side": {"sides": lambda value: ~value},
        },
    ),
    _proof("first_fit", 2, {}, regress=True),
    _proof("corf", 2, _WRONG, regress=True),
)

"""Proofs of the orders that schemes keep: of entries of operand windows and of caching units, of departures."""

import itertools
from collections.abc import Callable

from amaranth import Cat, Const, Mux, Signal, Value
from amaranth.asserts import AnySeq
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.properties import Miswired, Proof, Properties, at_most_one, constant, transitive
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.collectors.bow.ranks import EntryRanks
from warpfile.hdl.collectors.malekeh.allocator import DepartureOrder
from warpfile.hdl.collectors.malekeh.recency import Recency
from warpfile.spec.schemes.bow import BowConfig
from warpfile.spec.schemes.malekeh import MalekehConfig

_SMALL = {"warps": 2, "lanes": 2, "ports": 3, "rows": 4, "register_names": 8, "payload_bits": 16}


class LastUseProperties(Properties):
    """Places in the order of their last use. ``uses`` lists those of a cycle, first to last, as masks of places."""

    count: int
    ranks: tuple[str, ...] = ()

    def __init__(self, part, cfg, *, helped=True):
        super().__init__(part, helped=helped)
        self._cfg = cfg

    def uses(self, part) -> list[Value]:
        """Masks of what is used in a cycle; of places in one mask the lower one is used first."""
        raise NotImplementedError

    def supposed(self, part) -> Value:
        """The mask after which a part shows the order, whether it is used or not."""
        return self.uses(part)[0]

    def many(self, uses: list[Value]) -> Value:
        """Whether a cycle has uses of several kinds."""
        return uses[0].any() & uses[-1].any()

    def legal(self, m, part, uses) -> None:
        """Assume what the part is promised."""

    def check(self, m, part):
        count, uses = self.count, self.uses(part)
        self.legal(m, part, uses)
        first, second = constant(m, "first", count), constant(m, "second", count)
        m.d.comb += Assume(first != second)
        order = _pair(part.older, first, second, count)
        followed, expected, started = self._after(order, uses, first, second), Signal(), Signal()
        m.d.sync += [expected.eq(followed), started.eq(1)]
        older = [[part.older[count * a + b] for b in range(count)] for a in range(count)]
        for a in range(count):
            m.d.comb += Assert(~older[a][a], "no place is before itself")
            m.d.comb += [Assert(older[a][b] != older[b][a], "of two places one is before the other") for b in range(a)]
        m.d.comb += [Assert(holds, "the order is transitive") for holds in transitive(part.older, count)]
        m.d.comb += [
            Assert(~started | (order == expected), "before has the lines used longer ago"),
            Cover(started & order & (first > second) & ~uses[0].any(), "a higher place is before a lower one"),
            Cover(self.many(uses) & (followed != order), "an order is turned in one cycle"),
        ]
        if hasattr(part, "older_then"):
            then = self._after(order, [self.supposed(part)], first, second)
            same = _pair(part.older_then, first, second, count) == then
            m.d.comb += Assert(same, "the order after the result has its entry last")

    def _after(self, order: Value, uses: list[Value], first: Value, second: Value) -> Value:
        for use in uses:
            both = use.bit_select(first, 1) & use.bit_select(second, 1)
            used = Mux(use.bit_select(first, 1), 0, Mux(use.bit_select(second, 1), 1, order))
            order = Mux(both, first < second, used)
        return order


def _pair(order: Value, first: Value, second: Value, count: int) -> Value:
    return order.bit_select((first * count + second)[: (count**2 - 1).bit_length()], 1)


class WindowRankProperties(LastUseProperties):
    """Entries of a window: first the one that a result gets, then those of sources, the lower before the higher."""

    count = property(lambda self: self._cfg.window_entries)

    def uses(self, part):
        return [Mux(part.accepted, part.had, 0), part.taken]

    def supposed(self, part):
        return part.had

    def legal(self, m, part, uses):
        m.d.comb += Assume(at_most_one(part.had))


class RecencyProperties(LastUseProperties):
    """Entries of a caching unit: those of a beat, by slots if the unit is its own, or else that of a result."""

    count = property(lambda self: self._cfg.unit_entries)

    def check(self, m, part):
        self.slots = [Signal(self.count, name=f"slot{number}") for number in range(self._cfg.source_slots)]
        m.d.comb += [slot.eq(AnySeq(self.count)) for slot in self.slots]
        super().check(m, part)

    def uses(self, part):
        own, fresh = part.allocate & part.own, part.allocate & ~part.own
        return [
            Mux(part.allocate, 0, part.result),
            *(Mux(own, slot, 0) for slot in self.slots),
            Mux(fresh, part.fresh, 0),
        ]

    def many(self, uses):
        return uses[1].any() & uses[2].any()

    def legal(self, m, part, uses):
        _distinct(m, self.slots)
        m.d.comb += [Assume(at_most_one(use)) for use in (part.result, *self.slots)]
        m.d.comb += Assume(part.used == any_of(self.slots))
        for low, high in itertools.combinations(range(self.count), 2):
            pairs = itertools.combinations(self.slots, 2)
            earlier = any_of(before[low] & after[high] for before, after in pairs)
            both = part.used[low] & part.used[high]
            m.d.comb += Assume(~both | (part.earlier[low * self.count + high] == earlier))


class DepartureProperties(LastUseProperties):
    """Units that dispatch: the one on the highest port counts as the last."""

    count = property(lambda self: self._cfg.collectors)

    def uses(self, part):
        return [part.leaves[port] for port in range(self._cfg.ports)]

    def legal(self, m, part, uses):
        _distinct(m, uses)
        m.d.comb += [Assume(at_most_one(use)) for use in uses]


def _distinct(m, masks: list[Value]) -> None:
    """No place is in two masks."""
    for number, mask in enumerate(masks):
        m.d.comb += [Assume((mask & other) == 0) for other in masks[:number]]


def _permutation(m, ranks: list[Value]) -> None:
    """Ranks are all different and no larger than need be."""
    for number, rank in enumerate(ranks):
        m.d.comb += Assert(rank < len(ranks), "ranks are below the number of entries")
        m.d.comb += [Assert(rank != other, "ranks differ") for other in ranks[:number]]


def _proof(
    block: str, size: str, part: Callable, properties: type[LastUseProperties], cfg, wrong, *, regress=False
) -> Proof:
    def broken(change):
        return lambda: properties(Miswired(part(cfg), **change), cfg, helped=False)

    return Proof(
        block,
        size,
        lambda: properties(part(cfg), cfg),
        {message: broken(change) for message, change in wrong.items()},
        reach=6,
        regress=regress,
    )


def _window_ranks(entries: int, *, regress: bool = False) -> Proof:
    cfg = BowConfig(**BowConfig.adapted(_SMALL | {"window_entries": entries, "source_slots": 3}))
    wrong = {
        "before has the lines used longer ago": {"taken": lambda taken: taken & ~1},
        "the order after the result has its entry last": {"had": lambda had: had & ~2},
        "the order is transitive": {"older": lambda older: older ^ (1 << 2) ^ (1 << (2 * entries))},
    }
    block, size = "hdl.collectors.bow.ranks.EntryRanks", f"of {entries} entries"
    return _proof(block, size, EntryRanks, WindowRankProperties, cfg, wrong, regress=regress)


def _recency(entries: int, slots: int, *, regress: bool = False) -> Proof:
    values = _SMALL | {"unit_entries": entries, "source_slots": slots}
    cfg = MalekehConfig(**MalekehConfig.adapted(values | {"scheduler": "oldest"}))
    wrong = {
        "before has the lines used longer ago": {"result": lambda result: Const(0)},
        "the order is transitive": {"older": lambda older: older ^ (1 << 2) ^ (1 << (2 * entries))},
    }
    block, size = "hdl.collectors.malekeh.recency.Recency", f"of {entries} entries, {slots} slots"
    return _proof(block, size, Recency, RecencyProperties, cfg, wrong, regress=regress)


def _departures() -> Proof:
    cfg = MalekehConfig(
        **MalekehConfig.adapted(_SMALL | {"collectors": 4, "source_slots": 3} | {"scheduler": "oldest"})
    )
    #: The lowest port counts as the last one.
    swapped = {"leaves": lambda leaves: Cat(leaves[8:12], leaves[4:8], leaves[0:4])}
    wrong = {"before has the lines used longer ago": swapped}
    block = "hdl.collectors.malekeh.allocator.DepartureOrder"
    return _proof(block, "of 4 units, 3 ports", DepartureOrder, DepartureProperties, cfg, wrong)


PROOFS = (
    _window_ranks(5),
    _window_ranks(8, regress=True),
    _recency(4, 3),
    _recency(4, 4, regress=True),
    _departures(),
)

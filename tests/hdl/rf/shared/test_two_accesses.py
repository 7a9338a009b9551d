"""The address table with an access in each of two stages, against sections 7 and 8 of the page in plain Python."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

import pytest

from tests.formal.properties import Miswired
from tests.hdl.rf.shared.bench import config, run
from warpfile.hdl.rf.shared.address_table import AddressTable

LANES, ROWS, CYCLES = 4, 16, 4000
ALL = (1 << LANES) - 1
#: States that a table sees, by their names on the page.
SIGNALS = {"C": "compare", "S": "select", "K": "delete", "D": "decide", "E": "acting", "R": "recheck"}


@dataclass
class Vector:
    """What an entry is, and what a load asks for."""

    base: int
    stride: int
    mask: int
    row: int = 0

    def away(self, other: Vector) -> int | None:
        """How many lanes ``other`` is away: d of section 8."""
        if self.stride != other.stride:
            return None
        if not self.stride:
            return 0 if self.base == other.base else None
        found, rest = divmod(other.base - self.base, self.stride)
        return found if not rest and abs(found) < LANES else None

    def cover(self, distance: int, wanted: int) -> int:
        lanes = (lane for lane in range(LANES) if wanted >> lane & 1 and 0 <= lane + distance < LANES)
        return sum(1 << lane for lane in lanes if self.mask >> lane + distance & 1)

    def meets(self, first: int, last: int) -> bool:
        return self.base <= last and self.base + (LANES - 1) * self.stride >= first


@dataclass
class Access:
    """A load with its vector, or what deletes words up to ``last``, or everything."""

    kind: str
    vector: Vector
    last: int = 0
    everything: bool = False
    state: str = ""
    compared: list[tuple[int, int, bool]] = field(default_factory=list)  # the most recent first: number, d, perfect
    load_ahead: Access | None = None
    ahead: tuple[int, bool] | None = None  # d, perfect
    met: bool = False
    found: dict[str, tuple[int, int]] = field(default_factory=dict)  # number and d, by place
    rows: dict[str, int] = field(default_factory=dict)
    covers: tuple[int, int] = (0, 0)
    result: str = ""


class Model:
    """The table, what was inserted last, and the accesses of both stages."""

    def __init__(self, count: int, numbers: random.Random) -> None:
        self.entries: list[Vector | None] = [None] * count
        self.stale: list[Vector | None] = [None] * count  # as they are in the flip-flops, valid or not
        self.pointer, self.numbers = 0, numbers
        self.last: tuple[int, Vector] | None = None
        self.second: Access | None = None
        self.third: Access | None = None

    def compare(self, access: Access) -> None:
        count = len(self.entries)
        order = [(self.pointer - 1 - back) % count for back in range(count)]
        for at in order:
            entry = self.entries[at]
            distance = entry.away(access.vector) if entry else None
            if distance is not None:
                perfect = distance == 0 and entry.cover(0, access.vector.mask) == access.vector.mask
                access.compared.append((at, distance, perfect))
        access.load_ahead = self.load_ahead()
        if access.load_ahead:
            own = access.load_ahead.vector
            distance = own.away(access.vector)
            if distance is not None:
                perfect = distance == 0 and own.cover(0, access.vector.mask) == access.vector.mask
                access.ahead = distance, perfect

    def load_ahead(self) -> Access | None:
        third = self.third
        return third if third and third.state in ("D", "E") else None

    def decide(self, access: Access) -> bool:
        """Rules 1 to 3; returns whether the load ahead takes a place."""
        chosen: dict[str, tuple[int, int]] = {}
        for at, distance, perfect in access.compared:
            if perfect:
                chosen.setdefault("perfect", (at, 0))
            side = "E1" if distance >= 0 else "E2"
            if side not in chosen or abs(distance) < abs(chosen[side][1]):
                chosen[side] = at, distance
        takes = False
        self.read = {place: self.stale[at] for place, (at, _) in chosen.items()}
        if access.load_ahead and self.last:
            number, own = self.last
            chosen = {place: pair for place, pair in chosen.items() if pair[0] != number}
            if access.ahead:
                distance, perfect = access.ahead
                places = ["perfect"] if perfect else []
                side = "E1" if distance >= 0 else "E2"
                if side not in chosen or abs(distance) <= abs(chosen[side][1]):
                    places.append(side)
                for place in places:
                    chosen[place], self.read[place], takes = (number, distance), own, True
        self.choose(access, chosen)
        return takes

    def choose(self, access: Access, chosen: dict[str, tuple[int, int]]) -> None:
        mask = access.vector.mask
        covers = {place: self.read[place].cover(chosen[place][1], mask) for place in ("E1", "E2") if place in chosen}
        first, second = covers.get("E1", 0), covers.get("E2", 0)
        access.result = "miss"
        if "perfect" in chosen:
            access.result = "perfect"
        elif first == mask:
            access.result = "lower"
        elif second == mask:
            access.result = "upper"
        elif first | second == mask:
            access.result = "both"
        access.found, access.covers = chosen, (first, second & ~first)
        access.rows = {place: self.read[place].row for place in chosen}

    def used(self, access: Access) -> list[tuple[int, str]]:
        """Slots of the table's answer, with the places that they are of."""
        return {
            "perfect": [(0, "perfect")],
            "lower": [(0, "E1")],
            "upper": [(1, "E2")],
            "both": [(0, "E1"), (1, "E2")],
        }.get(access.result, [])

    def new(self) -> Access:
        numbers = self.numbers
        base = 1000 + 2 * numbers.randrange(9) + (numbers.random() < 0.05)
        mask = numbers.choice((ALL, ALL, ALL, 0b0111, 0b0011, 0b1100))
        vector = Vector(base, numbers.choice((2, 2, 2, 2, 0)), mask)
        if numbers.random() < 0.8:
            return Access("load", vector, state="C")
        return Access("store", vector, base + numbers.randrange(4), numbers.random() < 0.2, state="U")


def drive(ctx, part, model: Model) -> None:
    """States and vectors of both stages."""
    stages = [access for access in (model.second, model.third) if access]
    for state, name in SIGNALS.items():
        ctx.set(getattr(part, name), any(access.state == state for access in stages))
    for prefix, access in (("", model.second), ("own_", model.third)):
        vector = access.vector if access else Vector(0, 0, 0)
        for name in ("base", "stride", "mask"):
            ctx.set(getattr(part, f"{prefix}{name}"), getattr(vector, name))
    store = model.second if model.second and model.second.state == "K" else None
    ctx.set(part.last, store.last if store else 0)
    ctx.set(part.ends_all, bool(store and store.everything))
    ctx.set(part.ends_range, bool(store and not store.everything))


def check_answer(ctx, part, model: Model, access: Access, seen: Counter) -> None:
    flags = {name: bool(ctx.get(getattr(part, name))) for name in ("perfect", "lower", "upper", "both")}
    assert flags == {name: name == access.result for name in flags}, access
    for slot, place in model.used(access):
        number, distance = access.found[place]
        assert ctx.get(part.places)[slot].row == access.rows[place]
        entry = model.entries[number]
        alive = bool(entry and entry.row == access.rows[place])
        assert ctx.get(part.alive) >> slot & 1 == alive
        seen["lost"] += not alive
        if place != "perfect":
            assert ctx.get(part.distances)[slot] == distance % LANES
    if access.result == "both":
        assert tuple(ctx.get(part.covers)) == access.covers
    seen[access.result] += 1


def deleted_by(model: Model, access: Access | None) -> set[int]:
    """What K deletes; whether it meets the load ahead is kept."""
    if not access or access.state != "K":
        return set()
    ahead = model.load_ahead()
    first, last, everything = access.vector.base, access.last, access.everything
    access.met = bool(ahead and (everything or ahead.vector.meets(first, last)))
    valid = [(at, entry) for at, entry in enumerate(model.entries) if entry]
    return {at for at, entry in valid if everything or entry.meets(first, last)}


def simulate(monkeypatch, part, count: int) -> Counter[str]:
    numbers, seen = random.Random(count), Counter[str]()
    model = Model(count, numbers)

    async def bench(ctx) -> None:
        for _ in range(CYCLES):
            await cycle(ctx, part, model, seen)

    run(monkeypatch, part, bench)
    return seen


@pytest.mark.parametrize("count", [1, 2, 8])
def test_two_accesses_get_of_the_table_what_the_page_says(monkeypatch, count: int) -> None:
    seen = simulate(monkeypatch, AddressTable(config(table_entries=count, rows=ROWS)), count)
    reached = {"perfect", "lost", "miss", "again", "ahead", "evicted", "ended", "deleted"}
    reached |= {"lower", "upper", "both"} if count > 1 else set()
    assert all(seen[name] > 10 for name in reached), seen


async def cycle(ctx, part, model: Model, seen: Counter) -> None:
    """One cycle: what is driven, what is expected, what it changes."""
    numbers, second, third = model.numbers, model.second, model.third
    drive(ctx, part, model)
    acts = bool(third and third.state == "E" and numbers.random() < 0.5)
    inserts = acts and numbers.random() < 0.7
    taken = {entry.row for entry in model.entries if entry}
    ends = bool(taken) and numbers.random() < 0.15 and (inserts or not acts)
    row = numbers.choice(sorted(taken)) if ends else 0
    place = row if ends else numbers.choice([one for one in range(ROWS) if one not in taken])
    for name, value in {"acts": acts, "insert": inserts, "end": ends}.items():
        ctx.set(getattr(part, name), value)
    ctx.set(part.place.row, place)
    ctx.set(part.end_place.row, row)

    if third and third.state == "E":
        check_answer(ctx, part, model, third, seen)
    deleted = deleted_by(model, second)
    ended = {at for at, entry in enumerate(model.entries) if ends and entry and entry.row == row}
    assert ctx.get(part.deleted) == len(deleted)
    assert ctx.get(part.ended) == bool(ended)
    assert ctx.get(part.used) == sum(entry is not None for entry in model.entries)
    assert ctx.get(part.pointer) == model.pointer
    evicted = inserts and model.entries[model.pointer] is not None and model.pointer not in ended
    assert ctx.get(part.evicted) == evicted
    again = bool(third and third.state == "R" and third.met and model.last)
    assert ctx.get(part.again) == again
    takes = bool(third and third.state == "D" and model.decide(third))
    assert ctx.get(part.ahead) == takes
    if second and second.state == "C":
        model.compare(second)
    seen.update(again=again, ahead=takes, evicted=evicted, ended=bool(ended), deleted=bool(deleted))

    await ctx.tick()
    for at in ended | deleted | ({model.last[0]} if again else set()):
        model.entries[at] = None
    if acts:
        vector = third.vector
        new = Vector(vector.base, vector.stride, vector.mask, place)
        model.last = (model.pointer, new) if inserts else None
        if inserts:
            model.entries[model.pointer] = model.stale[model.pointer] = new
            model.pointer = (model.pointer + 1) % len(model.entries)
    move(model, acts)


def move(model: Model, acts: bool) -> None:
    """Who moves on; some stay for a while in the last state of the third stage."""
    numbers, second, third = model.numbers, model.second, model.third
    third_leaves = bool(third and (acts or third.state in ("R", "F")) and numbers.random() < 0.7)
    if third and third.state == "D":
        third.state = "E"
    elif third and (acts or third.state == "R"):
        third.state = "F"
    if third_leaves:
        model.third = None
    leaves = bool(second and second.state in ("S", "K", "F") and model.third is None)
    if second:
        second.state = {"C": "S", "U": "K", "K": "F"}.get(second.state, second.state)
    if leaves:
        second.state = "D" if second.kind == "load" else "R"
        model.third, model.second = second, None
    if model.second is None and numbers.random() < 0.9:
        model.second = model.new()


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("own_mask", lambda value: value | 1),
        ("recheck", lambda value: value & 0),
        ("acts", lambda value: value & 0),
        ("delete", lambda value: value & 0),
        ("end_place", lambda value: value ^ 2),
        ("compare", lambda value: value | 1),
    ],
)
def test_a_table_with_a_wrong_wire_is_found(monkeypatch, name: str, wrong) -> None:
    part = Miswired(AddressTable(config(table_entries=8, rows=ROWS)), **{name: wrong})
    with pytest.raises(AssertionError):
        simulate(monkeypatch, part, 8)

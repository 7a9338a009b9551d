"""The access port, cycle by cycle, against section 7 of the page in plain Python."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

import pytest

from tests.formal.properties import Miswired
from tests.hdl.rf.shared.bench import config, run
from warpfile.hdl.rf.shared.access_port import AccessPort
from warpfile.spec.schemes.shared import FLUSH, LOAD, PLAIN, STORE

LANES, SLOTS, CYCLES = 4, 3, 10000
SECOND = {"": 0, "C": 1, "S": 2, "U": 3, "K": 4, "F": 5}
THIRD = {"": 0, "D": 1, "E": 2, "R": 3, "F": 4}
WORD = 1 << 32


@dataclass
class Access:
    """What comes, and what V finds of it."""

    kind: int
    full: bool
    mask: int
    registers: int
    size: int
    offset: int
    words: list[list[int]]  # by slot, by lane
    dest: int
    state: str = "V"
    searches: bool = False
    reasons: int = 0
    served: bool = False
    old: int | None = None  # the table's answer
    fresh: bool = True  # its first cycle in V
    waited: int = 0
    start: int = 0
    stride: int = 0
    regular: bool = False

    def address(self, lane: int) -> int:
        low, high = self.words[0][lane], self.words[1][lane]
        return (0, low, (high % 0x10000) * WORD + low)[self.registers]

    def measure(self) -> None:
        """State V."""
        lanes = [lane for lane in range(LANES) if self.mask >> lane & 1]
        if lanes:
            first = lanes[0]
            step = (self.address((first + 1) % LANES) - self.address(first)) % WORD
            self.stride = step if len(lanes) > 1 else 0
            self.start = (self.address(first) + self.offset) % (1 << 48)
            pairs = [(self.address(a), self.address(a + 1)) for a in lanes if a + 1 in lanes]
            self.regular = (
                lanes == list(range(first, lanes[-1] + 1))
                and all((b - a) % WORD == self.stride for a, b in pairs)
                and self.stride <= 1020
                and len({self.address(lane) // WORD for lane in lanes}) == 1
            )
        suits = self.stride % 4 == 0 and self.start % 4 == 0
        if self.kind == LOAD:
            irregular = not self.regular or not self.mask & 1
            self.searches = self.full and not irregular and suits
            if not self.full:
                self.reasons = 1
            elif irregular:
                self.reasons = 2
            elif not suits:
                self.reasons = 4


class Model:
    """Four stages, and the bits above 32 that all vectors have."""

    def __init__(self, numbers: random.Random) -> None:
        self.stages: list[Access | None] = [None] * 4
        self.upper: int | None = None
        self.numbers, self.count = numbers, 0
        self.seen = Counter[str]()

    def new(self) -> Access:
        """An access whose address is often that of a vector."""
        numbers, self.count = self.numbers, self.count + 1
        kind = numbers.choice((PLAIN, PLAIN, LOAD, LOAD, LOAD, LOAD, STORE, STORE, FLUSH))
        step = numbers.choice((4, 4, 4, 0, 1020, 1024, 1023, 2, WORD - 4))
        base = numbers.choice((0x1000, 0x1000, 0x1000, 0x1002, WORD - 16, WORD - 12))
        high = numbers.choice((1, 1, 1, 1, 2))
        words = [[(base + lane * step) % WORD for lane in range(LANES)], [high] * LANES, [0] * LANES]
        for slot in words:
            if numbers.random() < 0.08:
                slot[numbers.randrange(LANES)] = numbers.getrandbits(32)
        words[2] = [numbers.getrandbits(32) for _ in range(LANES)]
        full, mask = numbers.random() < 0.9, numbers.choice((15, 15, 15, 7, 1, 14, 8, 5, 0))
        offset = numbers.choice((0, 0, 0, 12, 1, (1 << 48) - 4))
        return Access(
            kind, full, mask, numbers.choice((2, 2, 2, 1, 0)), numbers.randrange(5), offset, words, self.count % 8
        )


def in_second(access: Access | None, state: str) -> bool:
    return access is not None and access.state == state


def ready(model: Model, sent_ready: bool) -> bool:
    """The first stage is empty, or left whatever E does."""
    first, second, third, fourth = model.stages
    over = third is None or (third.state in ("R", "F") and (fourth is None or sent_ready))
    return first is None or second is None or (second.state in ("S", "K", "F") and over)


def drive(ctx, part, model: Model, new: Access | None, sent_ready: bool) -> None:
    ctx.set(part.valid, new is not None)
    ctx.set(part.sent_ready, sent_ready)
    if new:
        for name, value in {"mask": new.mask, "full": new.full, "dest": new.dest}.items():
            ctx.set(getattr(part.beat, name), value)
        names = {"access": "kind", "address_registers": "registers", "access_size": "size", "address_offset": "offset"}
        for name, own in names.items():
            ctx.set(getattr(part.note, name), getattr(new, own))
        for slot in range(SLOTS):
            ctx.set(part.words[slot], sum(word << 32 * lane for lane, word in enumerate(new.words[slot])))


def span(access: Access, upper: int | None) -> tuple[str, int, int]:
    """The range of a store, by words."""
    if not access.mask or upper is None:
        return "nothing", 0, 0
    lanes = [lane for lane in range(LANES) if access.mask >> lane & 1]
    low = access.start % WORD
    end = low + (lanes[-1] - lanes[0]) * access.stride + (1 << access.size) - 1
    if not access.regular or end >= WORD:
        return "all", 0, 0
    return ("nothing", 0, 0) if access.start // WORD != upper else ("range", low // 4, end // 4)


def check(ctx, part, model: Model, sent_ready: bool) -> None:
    """What is shown of all stages, and what they do in this cycle."""
    first, second, third, fourth = model.stages
    assert ctx.get(part.ready) == ready(model, sent_ready)
    assert ctx.get(part.vector) == (first is not None)
    assert ctx.get(part.search_state) == SECOND[second.state if second else ""]
    assert ctx.get(part.act_state) == THIRD[third.state if third else ""]
    assert ctx.get(part.sent_valid) == (fourth is not None)
    assert ctx.get(part.empty) == (not any(model.stages))
    assert ctx.get(part.known) == (model.upper is not None)
    untracked = first.reasons if first and first.fresh else 0
    if in_second(second, "C"):
        far = second.start % WORD + (LANES - 1) * second.stride + 3 >= WORD
        other = model.upper not in (None, second.start // WORD)
        untracked |= 8 * (far or other)
    assert ctx.get(part.untracked) == untracked
    model.seen.update({f"untracked {bit}": untracked >> bit & 1 for bit in range(4)})
    if fourth:
        assert ctx.get(part.sent.dest) == fourth.dest
        for slot, words in enumerate(fourth.words):
            assert ctx.get(part.sent_words[slot]) == sum(word << 32 * lane for lane, word in enumerate(words))
    check_search(ctx, part, model)


def check_search(ctx, part, model: Model) -> None:
    _, second, third, _ = model.stages
    if in_second(second, "C"):
        shown = ctx.get(part.base), ctx.get(part.stride), ctx.get(part.mask)
        assert shown == (second.start % WORD // 4, second.stride // 4, second.mask)
    kind, low, high = span(second, model.upper) if in_second(second, "K") and second.kind == STORE else ("", 0, 0)
    assert (ctx.get(part.ends_all), ctx.get(part.ends_range)) == (kind == "all", kind == "range")
    if kind == "range":
        assert (ctx.get(part.base), ctx.get(part.last)) == (low, high)
    assert ctx.get(part.flushes) == (in_second(second, "K") and second.kind == FLUSH)
    assert ctx.get(part.stores) == (in_second(second, "K") and second.kind == STORE)
    model.seen.update([kind, "flush"] if ctx.get(part.flushes) else [kind])
    if third and third.state in ("D", "E"):
        shown = ctx.get(part.own_base), ctx.get(part.own_stride), ctx.get(part.decided.dest)
        assert shown == (third.start % WORD // 4, third.stride // 4, third.dest)
        assert ctx.get(part.answered) == third.served
        assert not third.served or ctx.get(part.old) == third.old
    if third and third.state == "E":
        assert ctx.get(part.tired) == (third.waited == 8)
    if third and third.state == "R":
        assert ctx.get(part.own_stores) == (third.kind == STORE)


def asker(model: Model) -> Access | None:
    """Whose old mapping is asked for."""
    _, second, third, _ = model.stages
    if third and third.state in ("D", "E") and not third.served:
        return third
    searches = second and second.state in ("C", "S") and second.searches
    return second if searches and not second.served else None


async def cycle(ctx, part, model: Model) -> None:
    """One cycle: what is driven, what is expected, what it changes."""
    numbers = model.numbers
    third = model.stages[2]
    busy = model.count // 100 % 2
    new = model.new() if numbers.random() < (0.8 if busy else 0.2) else None
    sent_ready = numbers.random() < 0.7
    drive(ctx, part, model, new, sent_ready)
    acts = bool(in_second(third, "E") and third.served and numbers.random() < 0.6)
    absorbs = numbers.random() < 0.5
    ctx.set(part.acts, acts)
    ctx.set(part.absorbs, absorbs)
    restart = not any(model.stages) and numbers.random() < 0.2
    ctx.set(part.restart, restart)
    check(ctx, part, model, sent_ready)
    asks = asker(model)
    assert ctx.get(part.visits) == (asks is not None)
    served = asks is not None and numbers.random() < 0.5
    ctx.set(part.visited, served)
    if asks:
        assert ctx.get(part.visit_register) == asks.dest

    await ctx.tick()
    answer = numbers.randrange(4)
    ctx.set(part.entry, answer)
    if served:
        asks.served, asks.old = True, answer
        model.seen["served"] += 1
    if restart:
        model.upper = None
    move(model, new, sent_ready, "absorbed" if acts and absorbs else "miss" if acts else "")


def move(model: Model, new: Access | None, sent_ready: bool, acts: str) -> None:
    """All moves of a cycle, with what the states do at its end."""
    first, second, third, fourth = model.stages
    room = fourth is None or sent_ready
    passes = bool(new and new.kind == PLAIN and not (first or second or third) and room)
    takes = new is not None and ready(model, sent_ready)
    next_fourth = None if room else fourth
    next_third, next_second, next_first = third, second, first
    if third:
        leaves = third.state in ("F", "R") or acts == "miss"
        third.waited = min(8, third.waited + 1) if third.state == "E" else 0
        third.state = {"D": "E", "R": "F", "E": "F" if acts else "E"}.get(third.state, "F")
        if acts == "absorbed" or (leaves and room):
            next_third = None
        if leaves and room:
            next_fourth = third
        model.seen["held"] += leaves and not room
    if second:
        before = second.state
        act_in_second(model, second)
        if before in ("S", "K", "F") and next_third is None:
            changes = second.kind in (STORE, FLUSH)
            second.state = "D" if second.searches else "R" if changes else "F"
            next_third, next_second = second, None
    if first:
        first.fresh = False
        if next_second is None:
            first.state = "C" if first.searches else "U" if first.kind in (STORE, FLUSH) else "F"
            next_second, next_first = first, None
    if takes:
        new.measure()
        if passes:
            next_fourth = new
        else:
            next_first = new
        model.seen.update({"passes": passes, "behind": first is not None})
    model.stages = [next_first, next_second, next_third, next_fourth]


def act_in_second(model: Model, access: Access) -> None:
    if access.state == "C":
        upper = access.start // WORD
        far = access.start % WORD + (LANES - 1) * access.stride + 3 >= WORD
        access.searches = not far and model.upper in (None, upper)
        if access.searches:
            model.upper = upper
            model.seen["compared"] += 1
    if access.state == "K" and access.kind == FLUSH:
        model.upper = None
    access.state = {"C": "S", "U": "K", "K": "F"}.get(access.state, access.state)


def simulate(monkeypatch, part) -> Counter[str]:
    model = Model(random.Random(1))

    async def bench(ctx) -> None:
        for _ in range(CYCLES):
            await cycle(ctx, part, model)

    run(monkeypatch, part, bench)
    return model.seen


def test_accesses_go_through_the_stages_as_on_the_page(monkeypatch) -> None:
    seen = simulate(monkeypatch, AccessPort(config(merge_wait=8, source_slots=SLOTS)))
    reached = {"all", "range", "nothing", "flush", "served", "held", "passes", "behind", "compared"}
    reached |= {f"untracked {bit}" for bit in range(4)}
    assert all(seen[name] > 20 for name in reached), seen


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("ready", lambda value: ~value),
        ("visited", lambda value: value & 0),
        ("absorbs", lambda value: ~value),
        ("last", lambda value: value ^ 1),
    ],
)
def test_a_port_with_a_wrong_wire_is_found(monkeypatch, name: str, wrong) -> None:
    with pytest.raises(AssertionError):
        simulate(monkeypatch, Miswired(AccessPort(config(merge_wait=8, source_slots=SLOTS)), **{name: wrong}))

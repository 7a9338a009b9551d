"""Choice of a line for a new register, against docs/schemes/rfc.md read line by line."""

import itertools
import random

import pytest
from amaranth.sim import Simulator

from warpfile.hdl.rf.rfc.tags import CacheTags
from warpfile.hdl.rf.rfc.victim import LineOrder, VictimChoice
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.rfc import RfcConfig


def config(**changes):
    return RfcConfig(**RfcConfig.adapted({**PRESETS["tiny"].config.to_json(), **changes} | {"scheduler": "two_level"}))


def run(part, bench, clocked=True):
    simulator = Simulator(part)
    if clocked:
        simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


def victim(count, state, head, replacement):
    """Line and whether head moves; ``state``: sets of line numbers by name."""
    invalid = [line for line in range(count) if line not in state["valid"]]
    if invalid:
        return invalid[0], False
    around = [(head + step) % count for step in range(count)]
    loose = [line for line in around if line not in state["pinned"]]
    if replacement == "evict_first":
        useless = [line for line in loose if line in state["dead"] | state["evict_first"]]
        if useless:
            return useless[0], False
    return (loose[0], True) if loose else (None, False)


def bits(lines):
    return sum(1 << line for line in lines)


@pytest.mark.parametrize("replacement", ("fifo", "evict_first"))
@pytest.mark.parametrize("count", (1, 2, 3, 6, 8))
def test_an_empty_line_or_the_first_loose_one_from_head(count, replacement):
    cfg = config(cache_entries=count, replacement=replacement)
    part, rng, kinds = VictimChoice(cfg), random.Random(f"{count} {replacement}"), set()

    async def bench(ctx):
        for _ in range(600):
            density = rng.choice((0.5, 0.9, 1, 1))
            valid = {line for line in range(count) if rng.random() < density}
            state = {name: {line for line in valid if rng.random() < 0.4} for name in ("dead", "evict_first")}
            state |= {"valid": valid, "pinned": {line for line in valid if rng.random() < rng.choice((0.4, 1))}}
            head = rng.randrange(count)
            for name, lines in state.items():
                ctx.set(getattr(part, name), bits(lines))
            ctx.set(part.head, head)
            line, moves = victim(count, state, head, replacement)
            assert ctx.get(part.line) == (0 if line is None else 1 << line)
            assert line is None or ctx.get(part.advances) == moves  # it is ignored where no line is taken
            kinds.add((len(valid) == count, line is None, moves))

    run(part, bench, clocked=False)
    assert {(False, False, False), (True, True, False), (True, False, True)} <= kinds
    assert ((True, False, False) in kinds) == (replacement == "evict_first")


@pytest.mark.parametrize("count", (2, 3, 5))
def test_the_least_recently_used_loose_line(count):
    cfg = config(cache_entries=count, replacement="lru", source_slots=2)
    order, choice, rng = LineOrder(cfg), VictimChoice(cfg), random.Random(count)
    olders, uses = [], list(range(count))

    async def walk(ctx):
        for _ in range(200):
            olders.append((ctx.get(order.older), list(uses)))
            touches = [rng.choice((None, rng.randrange(count))) for _ in range(3)]
            for number, line in enumerate(touches):
                ctx.set(order.touches[number], 0 if line is None else 1 << line)
                if line is not None:
                    uses.remove(line)
                    uses.append(line)
            await ctx.tick()

    async def choose(ctx):
        ctx.set(choice.valid, (1 << count) - 1)
        for older, oldest_first in olders:
            pinned = {line for line in range(count) if rng.random() < 0.5}
            ctx.set(choice.older, older)
            ctx.set(choice.pinned, bits(pinned))
            expected = next((line for line in oldest_first if line not in pinned), None)
            assert ctx.get(choice.line) == (0 if expected is None else 1 << expected)
            assert not ctx.get(choice.advances)
        ctx.set(choice.valid, (1 << count) - 1 & ~(1 << count // 2))
        assert ctx.get(choice.line) == 1 << count // 2

    run(order, walk)
    run(choice, choose, clocked=False)


class Line:
    def __init__(self):
        self.register, self.pins, self.dead, self.early = None, 0, False, False


def draw(rng, lines):
    """What happens in a cycle, each a list of lines, as far as the tags are promised it."""
    count = len(lines)
    loose = [n for n in range(count) if not lines[n].pins]
    taken = [rng.choice(loose)] if loose and rng.random() < 0.4 else []
    others = [n for n in loose if n not in taken and lines[n].register is not None]
    revived = [rng.choice(others)] if others and rng.random() < 0.3 else []
    gone = [n for n in others if n not in revived and rng.random() < 0.1]
    free = [n for n in range(count) if lines[n].register is not None and n not in (*taken, *gone)]
    pinned = [n for n in free if lines[n].pins < 3 and rng.random() < 0.4]
    readable = [n for n in range(count) if lines[n].pins]
    reads = rng.sample(readable, min(len(readable), rng.randrange(3)))
    killed, early = ([n for n in reads if rng.random() < 0.5] for _ in range(2))
    driven = {"take": taken, "revive": revived, "invalidate": gone, "pin": pinned, "kill": killed, "hasten": early}
    return driven, reads


def apply(lines, driven, reads, register):
    """The lines after the cycle."""
    for number in driven["pin"]:
        lines[number].pins += 1
    for number in reads:
        lines[number].pins -= 1
    for number in driven["kill"]:
        lines[number].dead = True
    for number in driven["hasten"]:
        lines[number].early = True
    for number in driven["revive"]:
        lines[number].dead = lines[number].early = False
    for number in (*driven["invalidate"], *driven["take"]):
        lines[number] = Line()
    for number in driven["take"]:
        lines[number].register = register


@pytest.mark.parametrize("count", (1, 2, 5))
def test_tags_keep_what_happens_to_their_lines(count):
    cfg = config(cache_entries=count, source_slots=2, collectors=3)
    part, rng, lines = CacheTags(cfg), random.Random(count), [Line() for _ in range(count)]

    async def bench(ctx):
        head = 0
        for _ in range(500):
            tags = part.tags
            assert ctx.get(tags.valid) == bits(n for n in range(count) if lines[n].register is not None)
            assert ctx.get(tags.dead) == bits(n for n in range(count) if lines[n].dead)
            assert ctx.get(tags.evict_first) == bits(n for n in range(count) if lines[n].early)
            assert ctx.get(tags.pinned) == bits(n for n in range(count) if lines[n].pins)
            assert ctx.get(tags.head) == head
            for number, line in enumerate(lines):
                assert line.register is None or ctx.get(tags.registers[number]) == line.register
            driven, reads = draw(rng, lines)
            register, vacant, full = rng.randrange(64), rng.random() < 0.05, all(n.register is not None for n in lines)
            for name, numbers in driven.items():
                ctx.set(getattr(part, name), bits(numbers))
            for slot, number in itertools.zip_longest(range(2), reads):
                ctx.set(part.reads[slot], 0 if number is None else 1 << number)
            ctx.set(part.short_register, register)
            ctx.set(part.vacant, vacant)
            await ctx.tick()
            apply(lines, driven, reads, register)
            for number in driven["take"]:
                head = (number + 1) % count if full else head
            head = 0 if vacant else head

    run(part, bench)

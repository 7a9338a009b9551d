"""Which unit takes a beat, and when there is room (docs/machine.md, section 5, "Free"), against a list of units."""

import random
from dataclasses import dataclass, field

import pytest

from tests.hdl.collectors.bench import accept, offer, payloads, simulate
from tests.hdl.rf.packed.bench import config as packed
from tests.warpfile.verilog.test_generate import lint
from warpfile.hdl.collectors import allocation, dispatch
from warpfile.hdl.collectors.coalescing import collectors as coalescing
from warpfile.hdl.collectors.coalescing.collectors import Coalescing
from warpfile.hdl.collectors.units import collectors
from warpfile.hdl.collectors.units.collectors import Units
from warpfile.schemes import SCHEMES
from warpfile.spec.presets import PRESETS

TAKEN_AGAIN = ("baseline", "malekeh", "corf", "corf_plus", "corf_virtual", "larf", "ltrf", "pilot", "regmutex", "rfc")

both = pytest.mark.parametrize("retake", ("next", "same"))


def config(**changes):
    small = {"warps": 3, "lanes": 1, "collectors": 2, "source_slots": 2, "ports": 3}
    return PRESETS["tiny"].config.replace(**small | changes)


def play(monkeypatch, cfg, scene):
    simulate(monkeypatch, lambda: Units(cfg), (allocation, dispatch, collectors), scene)


def seen(ctx, part):
    """Occupied units, warps that have room, the unit that takes the offered beat."""
    return tuple(ctx.get(signal) for signal in (part.occupied, part.room, part.allocate))


async def fill(ctx, part, count):
    """Beats of warp 0 for port 0, without sources, in the lowest units; the payload is the unit's number."""
    accept(ctx, part)
    for number in range(count):
        offer(ctx, part, 0, payload=number)
        await ctx.tick()
    offer(ctx, part)


def test_a_unit_that_dispatches_takes_the_next_beat_in_the_same_cycle(monkeypatch):
    async def scene(ctx, part):
        await fill(ctx, part, 2)
        for payload in (2, 3, 4):
            accept(ctx, part, 0)
            assert ctx.get(part.room) == 0b111
            offer(ctx, part, 1, payload=payload)
            unit = payload % 2
            assert seen(ctx, part) == (0b11, 0b111, 1 << unit)
            assert payloads(ctx, part) == {0: payload - 2}
            await ctx.tick()
            offer(ctx, part)
            assert ctx.get(part.occupied) == 0b11
            assert ctx.get(part.collecting) == (0b11 if payload == 2 else 0b10)

    play(monkeypatch, config(retake="same"), scene)


def test_with_retake_next_that_unit_is_free_one_cycle_later(monkeypatch):
    async def scene(ctx, part):
        await fill(ctx, part, 2)
        accept(ctx, part, 0)
        assert (seen(ctx, part), payloads(ctx, part)) == ((0b11, 0, 0), {0: 0})
        await ctx.tick()
        accept(ctx, part)
        offer(ctx, part, 1, payload=2)
        assert seen(ctx, part) == (0b10, 0b111, 0b01)

    play(monkeypatch, config(retake="next"), scene)


@both
def test_a_full_pool_that_no_beat_leaves_has_room_for_beats_without_a_unit_only(monkeypatch, retake):
    async def scene(ctx, part):
        await fill(ctx, part, 2)
        for ports in ((), (1,), (1, 2)):  # both wait for port 0
            accept(ctx, part, *ports)
            assert seen(ctx, part)[:2] == (0b11, 0)
        ctx.set(part.heads[1].port, 3)
        assert seen(ctx, part)[:2] == (0b11, 0b010)

    play(monkeypatch, config(retake=retake), scene)


def test_a_unit_that_is_ready_behind_an_older_one_is_not_left(monkeypatch):
    """The one at the port is, so there is room; the other one has to wait, although the port is ready."""

    async def scene(ctx, part):
        await fill(ctx, part, 2)
        accept(ctx, part, 0)
        offer(ctx, part, 2, payload=7)
        assert seen(ctx, part) == (0b11, 0b111, 0b01)
        await ctx.tick()
        offer(ctx, part)
        assert payloads(ctx, part) == {0: 1}

    play(monkeypatch, config(retake="same"), scene)


@both
def test_an_empty_unit_goes_before_one_that_is_left(monkeypatch, retake):
    async def scene(ctx, part):
        await fill(ctx, part, 1)
        accept(ctx, part, 0)
        offer(ctx, part, 1, payload=5)
        assert seen(ctx, part) == (0b01, 0b111, 0b10)
        assert payloads(ctx, part) == {0: 0}
        await ctx.tick()
        assert ctx.get(part.occupied) == 0b10

    play(monkeypatch, config(retake=retake), scene)


def test_of_units_that_are_left_at_once_the_lowest_is_taken(monkeypatch):
    async def scene(ctx, part):
        accept(ctx, part)
        for warp, port in ((0, 2), (1, 0)):
            offer(ctx, part, warp, payload=10 + port, port=port)
            await ctx.tick()
        accept(ctx, part, 0, 2)
        offer(ctx, part, 2, payload=1, port=1)
        assert seen(ctx, part) == (0b11, 0b111, 0b01)
        assert payloads(ctx, part) == {0: 10, 2: 12}
        await ctx.tick()
        assert ctx.get(part.occupied) == 0b01

    play(monkeypatch, config(retake="same"), scene)


@dataclass
class Held:
    """A beat in a unit, and what its slots are filled with."""

    warp: int
    port: int
    payload: int
    missing: set[int]
    words: dict[int, int] = field(default_factory=dict)
    coming: int | None = None


class Pool:
    """Random beats, ports and a register file that serves every request at once; a list of units beside the part."""

    def __init__(self, ctx, part, cfg, seed):
        self.ctx, self.part, self.cfg, self.random = ctx, part, cfg, random.Random(seed)
        self.units: list[Held | None] = [None] * cfg.collectors
        self.issued, self.taken_again, self.full = 0, 0, 0

    async def cycle(self):
        ctx, part, units = self.ctx, self.part, self.units
        self._serve()
        accept(ctx, part, *(port for port in range(self.cfg.ports) if self.random.random() < 0.6))
        offer(ctx, part)
        assert ctx.get(part.occupied) == sum(1 << n for n, unit in enumerate(units) if unit)
        assert ctx.get(part.collecting) == sum(1 << warp for warp in {unit.warp for unit in units if unit})
        left = self._leave()
        free = [n for n, unit in enumerate(units) if not unit]
        if self.cfg.retake == "same":
            free += left
        assert ctx.get(part.room) == ((1 << self.cfg.warps) - 1 if free else 0)
        self.full += not free
        took = self._offer(free)
        await ctx.tick()
        for number in left:
            units[number] = None
        if took:
            self.taken_again += took[0] in left
            units[took[0]] = took[1]

    def _serve(self):
        """Grants of this cycle, and the data of those of the last one."""
        ctx, part, slots = self.ctx, self.part, self.cfg.source_slots
        requests, words, filled = ctx.get(part.requests), 0, 0
        for number, unit in enumerate(self.units):
            if unit and unit.coming is not None:
                unit.words[unit.coming] = word = self.random.getrandbits(32)
                unit.missing.discard(unit.coming)
                words |= word << 32 * number
                filled |= 1 << slots * number + unit.coming
            asked = requests >> slots * number & (1 << slots) - 1
            assert unit or not asked
            if unit:
                unit.coming = asked.bit_length() - 1 if asked else None
        ctx.set(part.grant, requests)
        ctx.set(part.fill, filled)
        ctx.set(part.fill_data[0], words)

    def _leave(self):
        """Units whose beat leaves: it is the oldest of its warp and port, with the operands that came."""
        ctx, part, left = self.ctx, self.part, []
        for port, payload in payloads(ctx, part).items():
            number = next(n for n, unit in enumerate(self.units) if unit and unit.payload == payload)
            unit = self.units[number]
            same = [one.payload for one in self.units if one and (one.warp, one.port) == (unit.warp, unit.port)]
            assert unit.port == port and not unit.missing and payload == min(same)
            assert ctx.get(part.chosen[port]) == 1 << number
            for slot, word in unit.words.items():
                assert ctx.get(part.operands[port][slot]) == word
            left.append(number)
        return sorted(left)

    def _offer(self, free):
        """A beat in most cycles with room; returns the unit that should take it, and what it has then."""
        ctx, part = self.ctx, self.part
        if not free or self.random.random() < 0.1:
            assert ctx.get(part.allocate) == 0
            return None
        valid = self.random.choice((0b00, 0b01, 0b11))
        warp, port = self.random.randrange(self.cfg.warps), self.random.randrange(self.cfg.ports)
        offer(ctx, part, warp, port=port, payload=self.issued, source_valid=valid)
        assert ctx.get(part.allocate) == 1 << free[0]
        self.issued += 1
        return free[0], Held(warp, port, self.issued - 1, {slot for slot in (0, 1) if valid >> slot & 1})


@both
@pytest.mark.parametrize("arbitration", ("round_robin", "oldest"))
@pytest.mark.parametrize("number", (1, 2, 5))
def test_random_beats_leave_once_in_order_with_their_operands(monkeypatch, retake, arbitration, number):
    cfg = config(collectors=number, retake=retake, dispatch_arbitration=arbitration, payload_bits=16)

    async def scene(ctx, part):
        pool = Pool(ctx, part, cfg, number)
        for _ in range(400):
            await pool.cycle()
        assert pool.issued > 60 and pool.full
        assert bool(pool.taken_again) == (retake == "same")

    play(monkeypatch, cfg, scene)


@pytest.mark.parametrize(("kill", "expected"), [(0, (0b1, 0b11, 0b1)), (1, (0b1, 0, 0))], ids=["none", "a_kill"])
def test_a_unit_that_dispatches_is_not_free_in_that_cycle_if_it_has_a_dead_register(monkeypatch, kill, expected):
    """Also if the register is given back in it. Without one it is free."""
    cfg = packed("packing_virtual", retake="same")
    at = cfg.hint_at("kill")

    async def scene(ctx, part):
        accept(ctx, part)
        for port in (part.looked_up, part.death_ready):
            ctx.set(port, 1)
        ctx.set(part.located_masks[0], 0b1111)
        ctx.set(part.located_mapped, 1)
        offer(ctx, part, 0, source_valid=1, converged=1, hints=kill << at)
        await ctx.tick()
        offer(ctx, part)
        ctx.set(part.grant, 1)
        await ctx.tick()
        ctx.set(part.grant, 0)
        ctx.set(part.fill, 1)
        ctx.set(part.death_ready, 0)
        await ctx.tick()
        ctx.set(part.fill, 0)
        ctx.set(part.death_ready, 1)
        accept(ctx, part, 0)
        assert ctx.get(part.dispatch[0].valid) and ctx.get(part.kills) == kill
        offer(ctx, part, 1 if expected[1] else None)
        assert seen(ctx, part) == expected
        await ctx.tick()
        offer(ctx, part, 1)
        assert ctx.get(part.occupied) == 1 - kill  # taken again, or free a cycle later
        assert ctx.get(part.room) == (0b11 if kill else 0b11 * ctx.get(part.dispatch[0].valid))

    simulate(monkeypatch, lambda: Coalescing(cfg), (allocation, dispatch, coalescing), scene)


@pytest.mark.check
@pytest.mark.parametrize("scheme", TAKEN_AGAIN)
def test_machines_whose_units_are_taken_again_at_once_lint_clean(scheme, tmp_path):
    file = tmp_path / "design.v"
    file.write_text(SCHEMES[scheme].verilog(SCHEMES[scheme].configuration("tiny", retake="same"), probes=True))
    assert lint(file) == ""


@pytest.mark.parametrize("scheme", ["bow", "modern"])
def test_the_field_means_nothing_without_collector_units(scheme):
    next_cycle, same = (
        SCHEMES[scheme].verilog(SCHEMES[scheme].configuration("tiny", lanes=1, retake=retake), probes=True)
        for retake in ("next", "same")
    )
    assert next_cycle == same

"""Two-level scheduler: hand-made sequences, and a model written from docs/machine.md on seeded random walks."""

import random

import pytest
from amaranth.sim import Simulator

from warpfile.hdl.scheduler.contract import WARP_INPUTS, observed_places, warp_inputs
from warpfile.hdl.scheduler.two_level.scheduler import TwoLevel
from warpfile.hdl.scoreboard import WarpScoreboard
from warpfile.spec.config import Config
from warpfile.spec.schemes.shrf import ShrfConfig

CFG = Config(
    warps=5, lanes=1, ctas=2, banks=2, rows=16, collectors=2, register_names=16, payload_bits=16,
    scheduler="two_level", active_warps=2,
)  # fmt: skip
INPUTS = (*WARP_INPUTS, "eligible")
KEEPS = ("waiting", "marked", "outstanding", "collecting", "short_pending", "eligible")


def run(part, bench):
    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


class Places:
    """The page, place by place: each is None or [warp, state, idle]."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.places = [None] * cfg.active_warps
        self.resumed, self.current, self.pointer = set(), 0, 0

    def place_of(self, warp):
        return next((n for n, place in enumerate(self.places) if place and place[0] == warp), None)

    def suspends(self, inputs, warp):
        def has(name):
            return inputs[name] >> warp & 1

        if self.cfg.suspend == "outstanding":
            return has("outstanding") and not (has("buffered") and has("at_exit"))
        if not (has("buffered") and has("marked")):
            return False
        if self.cfg.suspend == "strands":
            return has("outstanding") and not has("at_exit")
        return {"pending": has("touches_long"), "always": warp not in self.resumed, "never": False}[self.cfg.suspend]

    def runs(self, inputs):
        active = [place[0] for place in self.places if place and place[1] == "active"]
        return sum(1 << warp for warp in active if not self.suspends(inputs, warp))

    def grant(self, eligible):
        count = len(self.places)
        order = [(self.current + step) % count for step in range(1, count + 1)]
        if self.cfg.active_choice == "greedy":
            order = [order[-1], *order[:-1]]
        for number in order:
            if self.places[number] and eligible >> self.places[number][0] & 1:
                return self.places[number][0]
        return None

    def ready(self, inputs):
        def has(name):
            return inputs[name] >> warp & 1

        found = []
        for warp in range(self.cfg.warps):
            held = self.place_of(warp) is not None
            loading = has("buffered") and has("marked") and has("touches_long")
            if self.cfg.resume == "all":
                loading = has("outstanding")
            if has("resident") and not held and not has("waiting") and not loading:
                found.append(warp)
        return found

    def leaving(self, inputs, needy):
        """Places that are left because of a load, because of a barrier, and for want of a beat."""
        active = {n: place[0] for n, place in enumerate(self.places) if place and place[1] == "active"}
        loads = {n for n, warp in active.items() if self.suspends(inputs, warp)}
        stopped = inputs["waiting"] & ~inputs["barrier_released"]
        stops = [n for n, warp in sorted(active.items()) if n not in loads and stopped >> warp & 1]
        starved = {
            n
            for n, warp in active.items()
            if n not in loads
            and n not in stops
            and not inputs["buffered"] >> warp & 1
            and self.places[n][2] == self.cfg.starved_after
            and not self.cfg.gives.keeps_places
        }
        if self.cfg.suspend == "never":
            stops = []
        now, stay = set(), starved.copy()
        for places, when in ((loads, self.cfg.suspend_load), (stops, self.cfg.suspend_barrier)):
            (now if when == "always" else stay).update(places)
        if needy and len(active) == len(self.places) and not now:
            now.update(sorted(stay)[:1])
        return loads & now, now.intersection(stops), starved & now

    def step(self, inputs, issuing, exits):
        """Outputs of this cycle, then the clock edge; ``issuing`` is a warp or None."""
        ready, free = self.ready(inputs), [n for n, place in enumerate(self.places) if place is None]
        order = [(self.pointer + step) % self.cfg.warps for step in range(self.cfg.warps)]
        needy = [warp for warp in ready if inputs["buffered"] >> warp & 1]
        comer = next((warp for warp in order if warp in (needy or ready)), None) if free else None
        seen = {
            "current": self.current,
            "ready": sum(1 << warp for warp in ready),
            "activate": 0 if comer is None else 1 << comer,
            **dict.fromkeys(("placed", "draining", "releasing"), 0),
        }
        leaving = self.leaving(inputs, needy)
        for reason, gone in zip(("suspend_long", "suspend_barrier", "suspend_starved"), leaving, strict=True):
            seen[reason] = sum(1 << n for n in gone)
        after = [place and list(place) for place in self.places]
        for number, place in enumerate(self.places):
            if place is None:
                continue
            warp, state, idle = place

            def has(name, warp=warp):
                return inputs[name] >> warp & 1

            seen["placed"] |= 1 << number
            if state == "active":
                after[number][2] = 0 if has("buffered") else min(idle + 1, self.cfg.starved_after)
                if any(number in gone for gone in leaving):
                    after[number][1] = "draining"
            else:
                seen[state] |= 1 << number
                if state == "draining" and not has("collecting") and not has("short_pending"):
                    after[number][1] = "releasing"
                if state == "releasing" and inputs["released"] >> number & 1:
                    after[number] = None
        if issuing is not None:
            self.resumed.discard(issuing)
            self.current = self.place_of(issuing)
            if exits:
                after[self.current] = None
        if comer is not None:
            after[free[0]] = [comer, "active", 0]
            self.resumed.add(comer)
            self.pointer = (comer + 1) % self.cfg.warps
        self.places = after
        return seen


def one_hot(warp):
    return 0 if warp is None else 1 << warp


SIZES = ((1, 1), (1, 4), (2, 5), (3, 4), (5, 3))
WALKS = [
    ({"suspend": suspend, "suspend_barrier": barrier}, places, warps)
    for suspend in ("pending", "always", "never")
    for barrier in ("always", "needed")
    for places, warps in SIZES
    if suspend != "never" or places >= warps  # otherwise warps at a barrier could keep all places
]
WALKS += [
    ({"suspend": suspend, "suspend_barrier": barrier, "suspend_load": load, "resume": "all"}, places, warps)
    for suspend, load, barrier in (
        ("outstanding", "always", "always"),
        ("outstanding", "needed", "needed"),
        ("pending", "needed", "always"),
        ("strands", "always", "needed"),
        ("strands", "needed", "always"),
    )
    for places, warps in SIZES[1:4]
]


@pytest.mark.parametrize("choice", ("greedy", "round_robin"))
@pytest.mark.parametrize(("changes", "places", "warps"), WALKS)
def test_the_scheduler_does_what_the_page_says(changes, choice, places, warps):
    rng = random.Random(f"{changes['suspend']} {choice} {places}")
    cfg = CFG.replace(
        **changes, active_choice=choice, active_warps=places, warps=warps, starved_after=rng.randint(1, 3)
    )
    walk(cfg, rng, warps, places)


def walk(cfg, rng, warps, places):
    """Random inputs, against the model in every cycle."""
    part, model = TwoLevel(cfg), Places(cfg)
    seen_by_part, starved = warp_inputs(cfg), 0

    async def bench(ctx):
        nonlocal starved
        for cycle in range(500):
            inputs = {name: rng.getrandbits(warps) for name in (*seen_by_part, "eligible")}
            for name in KEEPS if cycle % 50 > 20 else ():  # places are kept for longer
                if name in inputs:
                    inputs[name] &= rng.getrandbits(warps) & rng.getrandbits(warps) & rng.getrandbits(warps)
            inputs["open"] = rng.getrandbits(warps) | rng.getrandbits(warps)
            inputs["waiting"] &= rng.getrandbits(warps) & rng.getrandbits(warps)
            inputs["released"] = rng.getrandbits(places)
            for name in (*seen_by_part, "released", "open"):
                ctx.set(getattr(part, name), inputs[name])
            # A warp that waits for a load is not clear, so there runs may have it although it suspends.
            free = ~inputs["touches_long"] if cfg.suspend == "pending" else -1
            runs = ctx.get(part.runs) & free
            assert runs == model.runs(inputs) & inputs["open"] & free
            eligible = inputs["eligible"] & runs & inputs["buffered"] & ~inputs["waiting"]
            ctx.set(part.eligible, eligible)
            winner = model.grant(eligible)
            assert ctx.get(part.grant) == one_hot(winner)
            issuing = winner if rng.random() < 0.8 else None
            exits = issuing is not None and rng.random() < 0.2
            ctx.set(part.taken, issuing is not None)
            ctx.set(part.exit, one_hot(issuing) if exits else 0)
            held = [one_hot(place[0]) if place else 0 for place in model.places]
            assert [ctx.get(place) for place in part.places] == held
            seen = model.step(inputs, issuing, exits)
            assert {name: ctx.get(getattr(part, name)) for name in seen} == seen
            starved += seen["suspend_starved"] > 0
            await ctx.tick()

    assert set(observed_places(cfg)) == {
        *("placed", "draining", "releasing", "suspend_long", "suspend_barrier", "suspend_starved"),
        *("current", "ready", "activate"),
    }
    run(part, bench)
    # Otherwise every warp has a place, or keeps it.
    assert (starved > 0) == (places < warps and not cfg.gives.keeps_places)


def test_a_file_that_keeps_places_lets_no_warp_starve():
    kept = ShrfConfig(**CFG.to_json() | {"suspend": "strands", "resume": "all"})
    assert kept.gives.keeps_places
    walk(kept, random.Random("kept"), warps=5, places=2)


def states(part, steps):
    """Feed inputs cycle by cycle, a beat to every warp by default; of each cycle all outputs that are not zero."""
    rows = []

    async def bench(ctx):
        for step in steps:
            for name in (*INPUTS, "released", "taken", "exit"):
                ctx.set(getattr(part, name), step.get(name, -1 if name == "buffered" else 0))
            rows.append({name: value for name in observed_places(CFG) if (value := ctx.get(getattr(part, name)))})
            await ctx.tick()

    run(part, bench)
    return rows


def test_a_load_that_is_out_sends_a_warp_away_and_its_return_brings_it_back():
    loading = {"resident": 1, "buffered": 1, "marked": 1, "touches_long": 1}
    steps = [
        {"resident": 1},
        {**loading, "collecting": 1},
        {**loading, "collecting": 1},
        {**loading, "short_pending": 1},
        loading,
        loading,
        {**loading, "released": 1},
        loading,
        {**loading, "touches_long": 0},
        {"resident": 1},
    ]
    assert states(TwoLevel(CFG), steps) == [
        {"ready": 1, "activate": 1},
        {"placed": 1, "suspend_long": 1},
        {"placed": 1, "draining": 1},
        {"placed": 1, "draining": 1},
        {"placed": 1, "draining": 1},
        {"placed": 1, "releasing": 1},
        {"placed": 1, "releasing": 1},
        {},
        {"ready": 1, "activate": 1},
        {"placed": 1},
    ]


def test_the_last_to_arrive_at_a_barrier_keeps_its_place():
    steps = [
        {"resident": 0b11},
        {"resident": 0b11},
        {"resident": 0b11, "waiting": 0b01},
        {"resident": 0b11, "waiting": 0b11, "barrier_released": 0b11},
        {"resident": 0b11},
    ]
    assert states(TwoLevel(CFG), steps)[1:] == [
        {"ready": 0b10, "activate": 0b10, "placed": 0b01},
        {"placed": 0b11, "suspend_barrier": 0b01},
        {"placed": 0b11, "draining": 0b01},
        {"placed": 0b11, "releasing": 0b01},
    ]


def test_a_place_is_left_at_a_barrier_for_the_warp_that_has_none():
    cfg = CFG.replace(suspend_barrier="needed")
    steps = [
        {"resident": 0b0011},
        {"resident": 0b0011},
        {"resident": 0b0011, "waiting": 0b0011},
        {"resident": 0b1111, "waiting": 0b0011},
        {"resident": 0b1111, "waiting": 0b0011},
        {"resident": 0b1111, "waiting": 0b0011, "released": 0b01},
        {"resident": 0b1111, "waiting": 0b0011},
        {"resident": 0b1111, "waiting": 0b0011},
    ]
    held = {"placed": 0b11, "ready": 0b1100}
    assert states(TwoLevel(cfg), steps)[2:] == [
        {"placed": 0b11},
        {**held, "suspend_barrier": 0b01},
        {**held, "draining": 0b01},
        {**held, "releasing": 0b01},
        {"placed": 0b10, "ready": 0b1100, "activate": 0b0100},
        {"placed": 0b11, "ready": 0b1000, "suspend_barrier": 0b10},
    ]


def test_a_warp_stays_at_a_barrier_while_another_leaves_for_its_load():
    cfg = CFG.replace(suspend_barrier="needed")
    both = {"resident": 0b111, "waiting": 0b01, "buffered": 0b110, "marked": 0b10, "touches_long": 0b10}
    rows = states(TwoLevel(cfg), [{"resident": 0b011}, {"resident": 0b011}, both, both, both])
    held = {"placed": 0b11, "ready": 0b100}
    assert rows[2:] == [{**held, "suspend_long": 0b10}, {**held, "draining": 0b10}, {**held, "releasing": 0b10}]


def test_a_free_place_goes_to_a_warp_with_a_beat_first():
    beats = (0b100, 0b100, 0b100)
    assert states(TwoLevel(CFG), [{"resident": 0b111, "buffered": buffered} for buffered in beats]) == [
        {"ready": 0b111, "activate": 0b100},
        {"ready": 0b011, "activate": 0b001, "placed": 0b01},
        {"ready": 0b010, "placed": 0b11},
    ]


def test_a_place_is_left_for_want_of_a_beat_if_a_warp_with_one_needs_it():
    cfg = CFG.replace(starved_after=2)
    # The beat of the first warp comes in time, the second one's does not.
    beats = [0b011, 0b011, 0b001, 0b000, 0b001, 0b100, 0b100, 0b100, 0b100]
    steps = [{"resident": 0b111, "buffered": buffered} for buffered in beats]
    steps[-2]["released"] = 0b10
    held = {"placed": 0b11, "ready": 0b100}
    assert states(TwoLevel(cfg), steps) == [
        {"ready": 0b111, "activate": 0b001},
        {"ready": 0b110, "activate": 0b010, "placed": 0b01},
        {"placed": 0b11, "ready": 0b100},
        {"placed": 0b11, "ready": 0b100},
        {"placed": 0b11, "ready": 0b100},  # starved, but the third warp has no beat
        {**held, "suspend_starved": 0b10},
        {**held, "draining": 0b10},
        {**held, "releasing": 0b10},
        {"placed": 0b01, "ready": 0b110, "activate": 0b100},
    ]


@pytest.mark.parametrize("after", (1, 2, 32, 255))
def test_a_place_is_left_after_so_many_cycles_without_a_beat(after):
    cfg = CFG.replace(active_warps=1, starved_after=after)
    placed = [{"resident": 0b11, "buffered": 0b01}, *({"resident": 0b11, "buffered": 0b10} for _ in range(after + 1))]
    rows = states(TwoLevel(cfg), placed)
    assert [row.get("suspend_starved", 0) for row in rows] == [0] * (after + 1) + [1]


def test_a_warp_without_a_beat_leaves_for_the_barrier_at_which_it_waits():
    cfg = CFG.replace(active_warps=1, starved_after=1)
    waits = {"resident": 0b11, "buffered": 0b10, "waiting": 0b01}
    steps = [{"resident": 0b01}, {"resident": 0b01, "buffered": 0}, {"resident": 0b01, "buffered": 0}, waits]
    assert states(TwoLevel(cfg), steps)[-1] == {"placed": 1, "ready": 0b10, "suspend_barrier": 1}


def test_a_place_freed_by_an_exit_is_given_away_in_the_next_cycle():
    cfg = CFG.replace(active_warps=1)
    steps = [
        {"resident": 0b11},
        {"resident": 0b11, "eligible": 0b01, "taken": 1, "exit": 0b01},
        {"resident": 0b10},
        {"resident": 0b10},
    ]
    assert states(TwoLevel(cfg), steps) == [
        {"ready": 0b11, "activate": 0b01},
        {"ready": 0b10, "placed": 1},
        {"ready": 0b10, "activate": 0b10},
        {"placed": 1},
    ]


def test_always_suspends_a_marked_beat_once():
    cfg = CFG.replace(suspend="always")
    head = {"resident": 1, "buffered": 1, "marked": 1}
    rows = states(TwoLevel(cfg), [{"resident": 1}, head, {**head, "eligible": 1, "taken": 1}, head, head])
    assert [row.get("suspend_long", 0) for row in rows] == [0, 0, 0, 1, 0]


def test_a_scoreboard_is_told_which_pending_registers_wait_for_a_load():
    part = WarpScoreboard(CFG.replace(long_from="miss", resume="all"))

    async def bench(ctx):
        def seen():
            return ctx.get(part.touches_long), ctx.get(part.outstanding), ctx.get(part.short_pending)

        async def cycle(**inputs):
            for name in ("reserve", "reserve_registers", "missed", "missed_registers", "release"):
                ctx.set(getattr(part, name) if name != "release" else part.release[0], inputs.get(name, 0))
            await ctx.tick()

        ctx.set(part.valid, 1)
        ctx.set(part.head.source_valid, 0b001)
        ctx.set(part.head.sources[0], 9)
        await cycle(reserve=1, reserve_registers=0b11 << 8)
        assert seen() == (0, 0, 1)
        await cycle(missed=1, missed_registers=0b1111 << 8)  # two of them are not pending
        assert seen() == (1, 1, 0)
        await cycle(reserve=1, reserve_registers=0b11 << 10)
        assert seen() == (1, 1, 1)
        ctx.set(part.release_registers[0], 0b11 << 8)
        await cycle(release=1)
        assert seen() == (0, 0, 1)
        ctx.set(part.release_registers[0], 0b11 << 10)
        await cycle(release=1, missed=1, missed_registers=0b11 << 10)  # back in the cycle of the notice
        assert seen() == (0, 0, 0)

    run(part, bench)


def test_a_scoreboard_knows_which_pending_registers_wait_for_a_load():
    part = WarpScoreboard(CFG)

    async def bench(ctx):
        def seen():
            return ctx.get(part.touches_long), ctx.get(part.short_pending)

        def reserve(registers, long):
            ctx.set(part.reserve, 1)
            ctx.set(part.reserve_registers, registers)
            ctx.set(part.reserve_long, long)

        ctx.set(part.valid, 1)
        ctx.set(part.head.source_valid, 0b010)
        ctx.set(part.head.sources[1], 9)
        ctx.set(part.head.dest, 4)
        ctx.set(part.head.dest_count, 2)
        reserve(1 << 9, 0)
        await ctx.tick()
        assert seen() == (0, 1)
        reserve(1 << 5, 1)
        await ctx.tick()
        assert seen() == (1, 1)
        ctx.set(part.reserve, 0)
        ctx.set(part.release, 1)
        ctx.set(part.release_registers[0], 1 << 9)
        await ctx.tick()
        assert seen() == (1, 0)
        ctx.set(part.release_registers[0], 1 << 5)
        await ctx.tick()
        assert seen() == (0, 0)
        ctx.set(part.release, 0)
        reserve(1 << 9, 1)
        await ctx.tick()
        assert seen() == (1, 0)

    run(part, bench)

"""ACQ, REL and EXIT against the rules of the page, written down once more as plain Python."""

import random
from dataclasses import dataclass, field

import pytest

from tests.hdl.rf.regmutex.bench import config, run
from warpfile.hdl.rf.regmutex.sections import sharing

ACQ, REL, OTHER = "acquiring", "releasing", "other"


@dataclass
class Rules:
    """docs/schemes/regmutex.md, section 5: sets and lists in place of masks."""

    warps: int
    fair: bool = False
    paired: bool = False
    proven: bool = False
    sections: int = 0
    has: dict[int, int] = field(default_factory=dict)  #: warp: section
    waiting: list[int] = field(default_factory=list)

    def free(self):
        return [section for section in range(self.sections) if section not in self.has.values()]

    def closed(self, warp):
        if self.paired:
            return warp ^ 1 in self.has or (self.proven and warp in self.has)
        return not self.free() or (self.fair and bool(self.waiting) and self.waiting[0] != warp)

    def holds(self, warp):
        return not self.proven and warp in self.has

    def refuses(self, warp):
        return not self.holds(warp) and self.closed(warp)

    def issue(self, warp, beat):
        """The beat of a warp that is not refused issues."""
        if beat == ACQ and warp not in self.has:
            self.has[warp] = 0 if self.paired else self.free()[0]
            if warp in self.waiting:
                self.waiting.remove(warp)
        elif beat == REL:
            self.has.pop(warp, None)

    def leave(self, warp):
        if not self.proven:
            self.has.pop(warp, None)


def mask(warps):
    return sum(1 << warp for warp in warps)


def compare(ctx, part, rules, heads):
    """What the part shows of a state with these head beats."""
    for name in (ACQ, REL):
        ctx.set(getattr(part, name), mask(warp for warp, head in enumerate(heads) if head == name))
    warps = range(rules.warps)
    seen = {name: ctx.get(getattr(part, name)) for name in ("closed", "waiting", "refuses", "held", "owned")}
    assert seen["closed"] == mask(warp for warp in warps if rules.closed(warp))
    assert seen["waiting"] == mask(rules.waiting)
    assert seen["refuses"] == mask(warp for warp in warps if heads[warp] == ACQ and rules.refuses(warp))
    assert seen["held"] == mask(warp for warp in warps if rules.holds(warp))
    assert seen["owned"] == (mask(warps) if rules.proven else seen["held"])
    if not rules.paired:
        assert ctx.get(part.taken) == mask(warps) & ~mask(rules.free())
        assert all(ctx.get(part.table[warp]) == section for warp, section in rules.has.items())


async def step(ctx, part, rules, warp, heads, ends=False):
    """One warp is chosen; its head beat is refused, or issues. Returns whether it issues."""
    compare(ctx, part, rules, heads)
    refused = heads[warp] == ACQ and rules.refuses(warp)
    takes, gives = (heads[warp] == name and not refused for name in (ACQ, REL))
    values = {"offered": 0 if refused else 1 << warp, "refused": refused << warp, "issues": not refused}
    values["ends"] = ends
    for name, value in values.items():
        ctx.set(getattr(part, name), value)
    assert ctx.get(part.takes) == (takes and not rules.holds(warp)) << warp
    assert ctx.get(part.gives) == (gives and (rules.proven or warp in rules.has)) << warp
    await ctx.tick()
    for name in values:
        ctx.set(getattr(part, name), 0)
    if refused:
        rules.waiting.append(warp)
    elif ends:
        rules.leave(warp)
    else:
        rules.issue(warp, heads[warp])
    return not refused


async def start(ctx, part, rules, sections):
    """A kernel with so many sections begins."""
    if not rules.paired:
        ctx.set(part.start, 1)
        ctx.set(part.count, sections)
        await ctx.tick()
        ctx.set(part.start, 0)
    rules.sections = sections


def built(warps, **changes):
    """A part and its rules."""
    cfg = config(warps=warps, **changes)
    return sharing(cfg), Rules(warps, bool(cfg.fair), cfg.paired, cfg.pair_state == "pair")


MODES = ({}, {"fair": 1}, {"sharing": "pairs"}, {"sharing": "pairs", "pair_state": "pair"})


@pytest.mark.parametrize("changes", MODES, ids=str)
@pytest.mark.parametrize("warps", (5, 8))
def test_random_warps_take_and_give_as_the_rules_say(changes, warps):
    rng = random.Random(warps)
    part, rules = built(warps, **changes)

    async def bench(ctx):
        for sections in (1, warps // 2, warps):
            await start(ctx, part, rules, sections)
            refusals = 0
            for _ in range(150):
                beats = [_beat(rng, rules, warp) for warp in range(warps)]
                for warp in rules.waiting:
                    beats[warp] = ACQ
                able = [w for w in range(warps) if w not in rules.waiting or not rules.closed(w)]
                warp = rng.choice(able)
                ends = beats[warp] == OTHER and rng.random() < 0.3
                refusals += not await step(ctx, part, rules, warp, beats, ends)
            assert refusals or sections == warps
            await _empty(ctx, part, rules)

    run(part, bench)


def _beat(rng, rules, warp):
    if rules.proven:  # code that takes a section that it has, or gives back another's, is not for it
        return rng.choice((REL, OTHER) if warp in rules.has else (ACQ, OTHER))
    return rng.choice((ACQ, REL, OTHER))


async def _empty(ctx, part, rules):
    """All give back what they have, and who waits gets it before."""
    while rules.has or rules.waiting:
        able = [warp for warp in rules.waiting if not rules.closed(warp)]
        warp, beat = (able[0], ACQ) if able else (next(iter(rules.has)), REL)
        await step(ctx, part, rules, warp, [beat if one == warp else OTHER for one in range(rules.warps)])


def scene(part, rules, sections, steps):
    """Chosen warps with their head beats; each is told whether it issues. Others wait with an ACQ if they wait."""

    async def bench(ctx):
        await start(ctx, part, rules, sections)
        for warp, beat, issues in steps:
            heads = [ACQ if other in rules.waiting else OTHER for other in range(rules.warps)]
            heads[warp] = beat
            assert await step(ctx, part, rules, warp, heads, ends=beat == OTHER) == issues
        compare(ctx, part, rules, [OTHER] * rules.warps)

    run(part, bench)


def test_one_section_goes_round():
    """Refused, a REL, and a retry: the level opens, whoever asks first has it."""
    part, rules = built(4)
    scene(part, rules, 1, [(0, ACQ, 1), (1, ACQ, 0), (2, ACQ, 0), (0, REL, 1), (2, ACQ, 1), (2, OTHER, 1), (1, ACQ, 1)])
    assert (rules.has, rules.waiting) == ({1: 0}, [])


def test_with_fair_a_newcomer_is_refused_while_others_wait():
    part, rules = built(4, fair=1)
    scene(part, rules, 1, [(0, ACQ, 1), (2, ACQ, 0), (0, REL, 1), (3, ACQ, 0), (0, ACQ, 0), (2, ACQ, 1)])
    assert (rules.has, rules.waiting) == ({2: 0}, [3, 0])


def test_a_repeated_acq_and_a_stray_rel_change_nothing():
    part, rules = built(4)
    scene(part, rules, 2, [(0, ACQ, 1), (0, ACQ, 1), (1, REL, 1), (1, ACQ, 1), (2, ACQ, 0), (0, ACQ, 1)])
    assert (rules.has, rules.waiting) == ({0: 0, 1: 1}, [2])


def test_partners_wait_for_each_other_alone_and_an_odd_last_warp_does_not_wait():
    part, rules = built(5, sharing="pairs")
    scene(part, rules, 0, [(0, ACQ, 1), (1, ACQ, 0), (2, ACQ, 1), (4, ACQ, 1), (0, OTHER, 1), (1, ACQ, 1)])
    assert sorted(rules.has) == [1, 2, 4]


def test_before_the_first_kernel_no_section_is_free():
    part, rules = built(4)

    async def bench(ctx):
        compare(ctx, part, rules, [ACQ] * 4)
        assert ctx.get(part.taken) == 0b1111

    run(part, bench)

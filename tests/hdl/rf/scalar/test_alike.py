"""The comparison of lanes against the set of their words."""

import random

import pytest

from tests.hdl.rf.packed.bench import run
from tests.hdl.rf.scalar.bench import config
from warpfile.hdl.rf.scalar.alike import AlikeLanes

LANES = 4


class ToFirst(AlikeLanes):
    """It compares with lane 0, whether or not that is written."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        first = self.values.word_select(0, 32)
        words = [self.values.word_select(lane, 32) for lane in range(1, LANES)]
        m.d.comb += self.alike.eq(
            sum(self.mask[lane] & (word != first) for lane, word in enumerate(words, 1)) == 0,
        )
        return m


def compare(part) -> None:
    """Equal words of which one lane has another bit, in any lane and any bit, with every mask."""
    rng = random.Random(3)

    async def bench(ctx) -> None:
        for mask in range(1 << LANES):
            for odd in range(LANES + 1):
                words = [rng.getrandbits(32)] * LANES
                if odd < LANES:
                    words[odd] ^= 1 << rng.randrange(32)
                ctx.set(part.mask, mask)
                ctx.set(part.values, sum(word << 32 * lane for lane, word in enumerate(words)))
                await ctx.delay(1e-9)
                written = {word for lane, word in enumerate(words) if mask >> lane & 1}
                assert ctx.get(part.alike) == (len(written) == 1)
                assert len(written) != 1 or ctx.get(part.word) in written

    run(part, bench, clocked=False)


def test_lanes_are_alike_if_those_that_are_written_have_one_word() -> None:
    compare(AlikeLanes(config(lanes=LANES)))


def test_a_comparison_with_the_first_lane_is_found() -> None:
    with pytest.raises(AssertionError):
        compare(ToFirst(config(lanes=LANES)))

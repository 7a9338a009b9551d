"""Results of several targets, and the banks between them, against docs/schemes/shrf.md, section 5, "Results"."""

import random
from collections import Counter
from dataclasses import dataclass

import pytest

from tests.hdl.rf.shrf.bench import config, run, word
from tests.hdl.rf.shrf.test_hold import FILES
from warpfile.hdl.rf.shrf.results import ResultTargets, write_ports

BANKS = PLACES = 2


@dataclass(frozen=True)
class Offered:
    """What a write-back port has: a result to be stored or none, its hints, its bank, and the place of its warp."""

    stored: bool
    entry: int  #: 0: none
    skips: bool
    bank: int
    place: int

    def asks(self, orf):
        """Resources that it needs: a bank, the write port of the operand register file, a last-result file."""
        if not self.stored:
            return set()
        banks = set() if self.skips else {("bank", self.bank)}
        return banks | ({_file(orf, self.entry)} if self.entry else set())


def _file(orf, entry):
    return ("orf", 0) if entry <= orf else ("lrf", entry - orf - 1)


def offered(cfg, rng):
    entry = rng.randrange(cfg.place_entries + 1)
    skips = entry > 0 and rng.random() < 0.5
    return Offered(rng.random() < 0.8, entry, skips, rng.randrange(BANKS), rng.randrange(PLACES))


def accepted(asked, taken):
    """Per port whether its result is accepted. ``asked``: resources per port; ``taken``: those that are not free."""
    chosen = {one: max(port for port, asks in enumerate(asked) if one in asks) for asks in asked for one in asks}
    return [
        bool(asks) and all(one not in taken and chosen[one] == port for one in asks) for port, asks in enumerate(asked)
    ]


def drive(ctx, part, cfg, results, bring):
    for port, one in enumerate(results):
        ctx.set(part.results[port].hints, word(cfg, result_entry=one.entry, mrf_skipped=one.skips))
        ctx.set(part.holders[port], 1 << one.place)
    ctx.set(part.store, sum(one.stored << port for port, one in enumerate(results)))
    if cfg.orf_entries:
        ctx.set(part.bring, bring)


def grant(ctx, part, results, busy):
    """The banks as hdl.rf.bank has them: the highest port that asks, if it may."""
    asking, may, granted = ctx.get(part.to_bank), ctx.get(part.may), 0
    for bank in range(BANKS):
        mine = [port for port, one in enumerate(results) if asking >> port & 1 and one.bank == bank]
        if mine and may >> mine[-1] & 1 and not busy >> bank & 1:
            granted |= 1 << mine[-1]
    ctx.set(part.bank_accept, granted)


def targets(one, taken, orf):
    """What an offered result writes if it is ``taken``."""
    return {
        "bank_write": taken and not one.skips,
        "orf_write": taken and 0 < one.entry <= orf,
        "lrf_write": taken and one.entry > orf,
    }


def check(ctx, part, cfg, results, expected):
    orf, written = cfg.orf_entries, 0
    assert [ctx.get(part.accept) >> port & 1 for port in range(cfg.write_ports)] == expected
    for port, (one, taken) in enumerate(zip(results, expected, strict=True)):
        if taken and one.entry:
            written |= 1 << one.place * cfg.place_entries + one.entry - 1
        for name, value in targets(one, taken, orf).items():
            assert ctx.get(getattr(part, name)) >> port & 1 == value
    assert ctx.get(part.written) == written
    for number in range(write_ports(cfg)):
        file = ("orf", 0) if orf and not number else ("lrf", number - (orf > 0))
        takers = [port for port, one in enumerate(results) if expected[port] and file in one.asks(orf)]
        assert all(ctx.get(part.writers[number]) == 1 << port for port in takers)


@pytest.mark.parametrize(("orf", "lrf"), FILES)
def test_a_result_is_accepted_by_all_that_it_asks_or_held(orf, lrf):
    cfg, rng, met = config(orf_entries=orf, lrf=lrf, banks=BANKS), random.Random(f"{orf} {lrf}"), Counter()
    part = ResultTargets(cfg)

    async def bench(ctx):
        for _ in range(500):
            bring, busy = orf > 0 and rng.random() < 0.3, rng.randrange(1 << BANKS)
            results = [offered(cfg, rng) for _ in range(cfg.write_ports)]
            asked = [one.asks(orf) for one in results]
            taken = {("bank", bank) for bank in range(BANKS) if busy >> bank & 1} | ({("orf", 0)} if bring else set())
            expected = accepted(asked, taken)
            drive(ctx, part, cfg, results, bring)
            grant(ctx, part, results, busy)
            check(ctx, part, cfg, results, expected)
            for one, asks, accept in zip(results, asked, expected, strict=True):
                met[sum(targets(one, accept, orf).values()), bool(asks)] += 1

    run(part, bench, clocked=False)
    assert min(met[1, True], met[2, True], met[0, True]) > 20  # one target, two, held

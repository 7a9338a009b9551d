"""Results of several targets, and the banks between them, against docs/schemes/shrf.md, section 5, "Results"."""

import random
from collections import Counter

import pytest

from tests.hdl.rf.shrf.bench import config, run, word
from tests.hdl.rf.shrf.test_hold import FILES
from warpfile.hdl.rf.shrf.results import ResultTargets, write_ports


def accepted(results, free):
    """Per port whether its result is accepted. ``results``: the resources that each asks; ``free``: those that are."""
    chosen = {
        resource: max(p for p, asks in enumerate(results) if resource in asks) for asks in results for resource in asks
    }
    return [bool(asks) and all(free(one) and chosen[one] == port for one in asks) for port, asks in enumerate(results)]


@pytest.mark.parametrize(("orf", "lrf"), FILES)
def test_a_result_is_accepted_by_all_that_it_asks_or_held(orf, lrf):
    cfg, rng, met = config(orf_entries=orf, lrf=lrf, banks=2), random.Random(f"{orf} {lrf}"), Counter()
    part, ports = ResultTargets(cfg), range(cfg.write_ports)

    async def bench(ctx):
        for _ in range(500):
            bring, busy = orf > 0 and rng.random() < 0.3, rng.randrange(4)
            store = [rng.random() < 0.8 for _ in ports]
            entries = [rng.randrange(cfg.place_entries + 1) for _ in ports]
            skips = [entry > 0 and rng.random() < 0.5 for entry in entries]
            banks, places = [rng.randrange(2) for _ in ports], [rng.randrange(2) for _ in ports]
            results = []
            for port in ports:
                entry = entries[port] - 1
                near = "orf" if entry < orf else entry
                asks = set() if skips[port] else {f"bank {banks[port]}"}
                results.append((asks | ({near} if entry >= 0 else set())) if store[port] else set())
                ctx.set(part.results[port].hints, word(cfg, result_entry=entries[port], mrf_skipped=skips[port]))
                ctx.set(part.holders[port], 1 << places[port])
            ctx.set(part.store, sum(has << port for port, has in enumerate(store)))
            if orf:
                ctx.set(part.bring, bring)

            def free(resource, busy=busy, bring=bring):
                return (
                    not (busy >> int(resource[-1]) & 1)
                    if str(resource).startswith("bank")
                    else resource != "orf" or not bring
                )

            expected = accepted(results, free)
            # The banks as hdl.rf.bank has them: the highest port that asks, if it may.
            asking, may, granted = ctx.get(part.to_bank), ctx.get(part.may), 0
            for bank in range(2):
                mine = [port for port in ports if asking >> port & 1 and banks[port] == bank]
                if mine and may >> mine[-1] & 1 and not busy >> bank & 1:
                    granted |= 1 << mine[-1]
            ctx.set(part.bank_accept, granted)
            assert [ctx.get(part.accept) >> port & 1 for port in ports] == expected
            written = 0
            for port in ports:
                if expected[port] and entries[port]:
                    written |= 1 << places[port] * cfg.place_entries + entries[port] - 1
                targets = {
                    "bank_write": expected[port] and not skips[port],
                    "orf_write": expected[port] and 0 < entries[port] <= orf,
                    "lrf_write": expected[port] and entries[port] > orf,
                }
                for name, value in targets.items():
                    assert ctx.get(getattr(part, name)) >> port & 1 == value
                met[sum(targets.values()), bool(results[port])] += 1
            assert ctx.get(part.written) == written
            for number in range(write_ports(cfg)):
                target = "orf" if orf and not number else orf + number - (orf > 0)
                takers = [port for port in ports if expected[port] and target in results[port]]
                assert all(ctx.get(part.writers[number]) == 1 << port for port in takers)

    run(part, bench, clocked=False)
    assert min(met[1, True], met[2, True], met[0, True]) > 20  # one target, two, held

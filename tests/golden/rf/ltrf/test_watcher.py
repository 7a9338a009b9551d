"""The watcher of the cache objects to a wrong bit of every probe; the runs themselves are sound."""

from __future__ import annotations

import pytest

from tests.golden.invariants import Broken
from tests.golden.machines import Ltrf, layout_of
from tests.golden.rf.ltrf.invariants import LtrfWatcher
from tests.golden.rf.ltrf.scenario import hinted, load, plus, prefetch
from tests.golden.scenario import Step, hand_trace, op
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.ltrf import MOVING, ltrf_probes
from warpfile.spec.workload import prepare

CFG = plus(active_warps=2, cache_lines=0, miss_latency=50)
PROBES = [probe.name for probe in ltrf_probes(CFG)]
#: One that comes and goes, keeps a register and reads another behind a load.
BUSY: list[Step] = [prefetch(0, 1, 2), op((), 0), op((0,), 1), prefetch(1, 3), load(3, (1,)), op((3, 1), 3), op((3,))]


def check(probe: str, wrong: int) -> int:
    """Watch three warps; the probe is wrong in the first cycle in which it is not zero, or in the tenth if it never is.

    Returns how often it was wrong.
    """
    layout, workload = layout_of("ltrf", CFG), prepare(CFG, hinted(CFG, hand_trace(BUSY, BUSY, BUSY)))
    environment, model, watcher = Environment(CFG, workload, layout), Ltrf(CFG, layout), LtrfWatcher(CFG, workload)
    spoiled = 0
    while not environment.done:
        stimulus = environment.stimulus()
        word = model.step(stimulus)
        fields = layout.unpack(word)
        if not spoiled and (fields[probe] or (probe == "error" and watcher.cycle == 10)):
            spoiled += 1
            fields[probe] ^= wrong
        watcher.check(stimulus, fields)
        environment.observe(word)
    watcher.check_end(model.counters)
    return spoiled


@pytest.mark.parametrize("probe", PROBES)
def test_a_wrong_bit_is_objected_to(probe: str) -> None:
    assert check(probe, 0) == 1
    with pytest.raises(Broken):
        check(probe, 1)


def test_a_transfer_that_never_ends_is_objected_to() -> None:
    watcher = LtrfWatcher(CFG, prepare(CFG, hinted(CFG, hand_trace(BUSY))))
    share = watcher.shares[0]
    share.turn(MOVING, 7)
    share.check(7)
    with pytest.raises(Broken, match="comes to an end"):
        share.check(8)

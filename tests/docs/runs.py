"""Runs of the golden models that the pages' timing diagrams show, each from the first cycle of its diagram on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests.golden.collectors.bow.scenario import bow_run, machine
from tests.golden.collectors.bow.test_rows import LEFT, rows, run_rows
from tests.golden.collectors.malekeh.scenario import NEAR, run_malekeh
from tests.golden.collectors.malekeh.scenario import hinted as malekeh_hinted
from tests.golden.collectors.malekeh.test_units import ONE as ONE_UNIT
from tests.golden.collectors.read_window.test_example import example
from tests.golden.collectors.sticky.test_cycles import example as example_of_sticky
from tests.golden.rf.ltrf.scenario import make as make_ltrf
from tests.golden.rf.ltrf.test_example import TIMES
from tests.golden.rf.ltrf.test_example import example as example_of_ltrf
from tests.golden.rf.owf.test_cycles import example as example_of_owf
from tests.golden.rf.packed.scenario import get, nops, put
from tests.golden.rf.packed.test_release import sweep_meets_kill
from tests.golden.rf.pilot.scenario import pilot_config, run_pilot
from tests.golden.rf.pilot.test_example import ONE_BANK
from tests.golden.rf.regmutex.scenario import ACQ, REL, make, run_shared, shared
from tests.golden.rf.rfc.scenario import one_warp
from tests.golden.rf.rfc.test_reads import CFG as CACHE
from tests.golden.rf.scalar.test_cycles import example as example_of_scalar
from tests.golden.rf.shared.bench import BASE, Bench
from tests.golden.rf.shared.test_examples import shared_row
from tests.golden.rf.shared.test_reader import Idle
from tests.golden.rf.shrf.test_example import example as example_of_shrf
from tests.golden.scenario import NOP, hand_trace, op, run
from tests.golden.test_timing import PLAIN
from warpfile.spec.schemes import las, ltrf
from warpfile.spec.schemes import shared as shared_spec
from warpfile.spec.schemes.packed import ALLOCATE

Fields = list[dict[str, int]]

#: Stages of the access port, the merge slot, and what is decided about a result of port 0, as docs/schemes/larf.md
#: calls them: probe and value.
STAGES = {
    **{"C": ("access_search", shared_spec.COMPARE), "S": ("access_search", shared_spec.SELECT)},
    **{"U": ("access_search", shared_spec.SPAN), "K": ("access_search", shared_spec.DELETE)},
    **{"D": ("access_act", shared_spec.DECIDE), "E": ("access_act", shared_spec.ACT)},
    **{"R": ("access_act", shared_spec.RECHECK), "F": ("access_act", shared_spec.DONE)},
    **{name: ("merge_state", getattr(shared_spec, name)) for name in ("READ1", "READ2", "WRITE")},
    "renew": ("decision", 3),
}
#: The same for the reader and the probe of ``las``.
LOOKAHEAD = {
    **{name: ("reader_state", getattr(las, name)) for name in ("ASK", "READ", "DATA")},
    **{name: ("probe_state", getattr(las, name)) for name in ("P1", "P2")},
}
PLACE = {name: ("place_state", getattr(ltrf, name)) for name in ("PREFETCH", "MOVING", "OPEN")}


def levels(fields: Fields, states: dict[str, tuple[str, int]]) -> Fields:
    """The cycles with a level for each of these states of a probe."""
    return [one | {name: int(one[probe] == state) for name, (probe, state) in states.items()} for one in fields]


def any_of(fields: Fields, *probes: str) -> Fields:
    """The cycles with these probes as levels: whether any of their bits is 1."""
    return [one | {probe: int(one[probe] > 0) for probe in probes} for one in fields]


def stages(bench: Bench) -> Fields:
    """What the diagrams of docs/schemes/larf.md show."""
    return any_of(levels(bench.fields, STAGES), "table_reads", "table_writes")


def regmutex() -> Fields:
    cfg = make()
    return run_shared(cfg, shared(cfg, [ACQ, NOP, REL], [ACQ, REL])).fields[3:]


def owf() -> Fields:
    """Two CTAs of two warps, from the first issue on."""
    return example_of_owf().fields[4:]


def scalar() -> Fields:
    """One warp, from the first scalar result on."""
    return example_of_scalar().fields[5:]


def sticky() -> Fields:
    """One warp, from the first issue on."""
    run = example_of_sticky()
    return run.fields[run.issues()[0][0] :]


def modern(first: int) -> Fields:
    """From this cycle of section 13 on."""
    run = example()
    return [
        {
            **one,
            "bank 0": int(one["reserved"] & 0b11 > 0),
            "bank 1": int(one["reserved"] >> 6 & 0b11 > 0),
            "SB0": one["counting"] & 1,
            "SB1": one["counting"] >> 1 & 1,
        }
        for one in run.fields[run.issues()[0][0] + first :]
    ]


def ltrf_prefetch(number: int) -> Fields:
    run = example_of_ltrf(make_ltrf(**TIMES | {"crossbar_beats": 4}))
    return levels(run.fields[run.when("enter")[number] :], PLACE)


def larf_hit() -> Fields:
    bench = Bench()
    bench.settle(bench.load(2, 4))
    bench.begin(bench.load(7, 4))
    bench.step()
    bench.step(access=bench.load(1, 3, BASE + 0x4000))
    bench.steps(8)
    return stages(bench)


def larf_miss() -> Fields:
    """Its result is in X in 8."""
    bench = Bench()
    bench.settle(bench.load(2, 4))
    load = bench.load(7, 4, BASE + 0x4000)
    bench.begin(load)
    bench.steps(8)
    bench.step({2: bench.answer(load)})
    bench.steps(5)
    return stages(bench)


def larf_same() -> Fields:
    bench = Bench()
    bench.settle(bench.load(2, 4))
    bench.begin(bench.load(7, 4, BASE + 0x4000))
    bench.step()
    bench.step(access=bench.load(5, 6, BASE + 0x4000))
    bench.steps(8)
    return stages(bench)


def larf_in_flight() -> Fields:
    """The result of the first load is in X in 6."""
    bench = Bench()
    first = bench.load(7, 4, BASE + 0x4000)
    bench.step(access=first)
    bench.steps(6)
    bench.begin(bench.load(3, 6, BASE + 0x4000))
    bench.steps(6)
    bench.step({2: bench.answer(first)})
    bench.steps(6)
    return stages(bench)


def larf_merge() -> Fields:
    bench = Bench()
    bench.settle(bench.load(2, 4), bench.load(2, 5, BASE + 0x80))
    bench.begin(bench.load(7, 4, BASE + 0xC))
    bench.steps(12)
    return stages(bench)


def larf_store() -> Fields:
    bench = Bench()
    bench.begin(bench.load(2, 4, BASE + 0x4000))
    bench.step()
    bench.step(access=bench.store(BASE + 0x4000, mask=1))
    bench.step()
    bench.step(access=bench.load(2, 6, BASE + 0x4000))
    bench.steps(8)
    return stages(bench)


def larf_pins() -> Fields:
    """``sent.ready`` is 0 from 5 to 18."""
    bench = Bench()
    bench.begin(bench.load(0, 1, BASE + 0x1000))
    for cycle in range(28):
        access = bench.load(0, 2 + cycle // 2, BASE + 0x2000 + 0x1000 * cycle) if cycle in (1, 3, 5) else None
        bench.step(access=access, ready=cycle < 5 or cycle >= 19)
    return stages(bench)


def larf_partial() -> Fields:
    bench = Bench()
    shared_row(bench)
    bench.step({0: bench.result(7, 4, 5, mask=0xF)})
    bench.steps(8)
    return stages(bench)


def las_reader() -> Fields:
    """A result is in W1 in 2, in the bank of the address."""
    bench = Idle()
    warp, register = bench.store_into(bench.bank)
    bench.settle(bench.result(warp, register))
    bench.ready(bench.load(7, 5))
    bench.step({0: bench.result(warp, register)})
    bench.steps(10)
    return any_of(levels(bench.fields, LOOKAHEAD), "lookahead_hit", "probed")


def corf_sweep() -> Fields:
    return any_of(sweep_meets_kill(another=False).fields, "swept", "retired")


def corf_miss() -> Fields:
    run = run_rows(rows(), [*LEFT, get(1)])
    return any_of(run.fields[run.issues()[len(LEFT)][0] :], "filling", "lacking")


def corf_eviction() -> Fields:
    run = run_rows(rows(), [put(1, 0x1234), *nops(1), get(1)])
    return levels(run.fields[run.when("evict")[0] :], {"allocate": ("decision", ALLOCATE)})


def baseline() -> Fields:
    return run(PLAIN, hand_trace([op((2, 3), 4), op((4,), 5)])).fields[1:]


def bow() -> Fields:
    """R3 is in the window, R2 is not."""
    run = bow_run(machine(), hand_trace([op((), 3), op((3, 2), 4), op((4,), 5)]))
    return any_of(run.fields[run.issues()[1] :], "undispatched", "filling", "lacking")


def rfc() -> Fields:
    """R4 is in the cache, R2 is not."""
    run = one_warp(CACHE, [op((), 4), op((2, 4), 5), op((5,), 6)])
    return run.fields[run.issues()[1][0] :]


def shrf() -> Fields:
    """The worked example of the page."""
    run = example_of_shrf()
    probes = ("grant", "bring", "near_read", "orf_read", "lrf_read", "orf_write", "lrf_write", "bank_write")
    return any_of(run.fields[run.issues()[0][0] :], *probes)


def malekeh() -> Fields:
    """R2 and R3 are in the unit; so is R9, when it is written."""
    program = [op((2, 3)), *[NOP] * 8, op((2, 3), 9), op((9,), 10)]
    run = run_malekeh(ONE_UNIT, malekeh_hinted(hand_trace(program), [NEAR] * (len(program) + 1)))
    return run.fields[run.issues()[9][0] :]


def pilot(threshold: int, occupancy: str) -> Fields:
    """R8 is slow, R0 and R1 are fast. No epoch has as many issues as the threshold 50, so that the mode is low."""
    cfg = pilot_config(profile="none", epoch_threshold=threshold, bank_occupancy=occupancy, **ONE_BANK)
    run = run_pilot(cfg, hand_trace([*[NOP] * 60, op((8, 0, 1))]))
    return [
        {
            **one,
            "R8 slow": one["grant"] & ~one["fast_grant"] & 1,
            "R0 fast": one["fast_grant"] >> 1 & 1,
            "R1 fast": one["fast_grant"] >> 2 & 1,
        }
        for one in run.fields[run.when("grant")[0] :]
    ]


#: By page and number of the diagram on it: what it shows.
RUNS: dict[tuple[str, int], Callable[[], Fields]] = {
    ("regmutex", 0): regmutex,
    ("modern", 0): partial(modern, 0),
    ("modern", 1): partial(modern, 19),
    ("baseline", 0): baseline,
    ("bow", 0): bow,
    ("rfc", 0): rfc,
    ("malekeh", 0): malekeh,
    ("shrf", 0): shrf,
    ("owf", 0): owf,
    ("scalar", 0): scalar,
    ("sticky", 0): sticky,
    ("pilot", 0): partial(pilot, 0, "length"),
    ("pilot", 1): partial(pilot, 50, "length"),
    ("pilot", 2): partial(pilot, 0, "one"),
    ("pilot", 3): partial(pilot, 50, "one"),
    ("corf", 0): corf_sweep,
    ("corf", 1): corf_miss,
    ("corf", 2): corf_eviction,
    ("ltrf", 0): partial(ltrf_prefetch, 0),
    ("ltrf", 1): partial(ltrf_prefetch, 1),
    ("larf", 0): larf_hit,
    ("larf", 1): larf_miss,
    ("larf", 2): larf_same,
    ("larf", 3): larf_in_flight,
    ("larf", 4): larf_merge,
    ("larf", 5): larf_store,
    ("larf", 6): larf_pins,
    ("larf", 7): larf_partial,
    ("larf", 8): las_reader,
}

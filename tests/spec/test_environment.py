"""The environment, seen through a machine: memory, ports, CTA dispatch (docs/machine.md, section 9)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.golden.machines import Baseline, layout_of
from tests.golden.scenario import BAR, NOP, hand_trace, op, run
from warpfile.sim.stimulus import StimulusPacker, positions, stimulus_fields
from warpfile.spec.beat import missed_fields, unpack_fields
from warpfile.spec.config import Config
from warpfile.spec.contract import Gives
from warpfile.spec.environment import Environment
from warpfile.spec.execution import Execution
from warpfile.spec.memory import Memory
from warpfile.spec.presets import PRESETS
from warpfile.spec.stimulus import Missed, Origin, Stimulus
from warpfile.spec.timing import Timings
from warpfile.spec.trace import LANES, Access, Port, Space, StaticInstruction, Trace
from warpfile.spec.workload import prepare

SLOW = Config(hit_latency=10, miss_latency=100, sector_interval=4, shared_latency=7, cache_lines=8)


def access(dest: int | None = None, kind: Access = Access.LOAD, space: Space = Space.GLOBAL) -> StaticInstruction:
    return op((), dest, port=Port.LSU, space=space, access=kind, bytes=4)


def with_lines(*accesses: tuple[StaticInstruction, list[int]]) -> Trace:
    """A warp of accesses, each to the first sectors of the named lines."""
    return with_sectors(*((a, [4 * line for line in lines]) for a, lines in accesses))


def with_sectors(*accesses: tuple[StaticInstruction, list[int]]) -> Trace:
    """A warp of accesses, each to the named sectors of 32 bytes."""
    rows = np.array([[named[k % len(named)] * 32 for k in range(LANES)] for _, named in accesses], dtype=np.uint64)
    return hand_trace([a for a, _ in accesses], addresses=rows, address_row=np.array([*range(len(rows)), -1]))


def latency(trace: Trace) -> int:
    """Cycles from the last dispatch to the last write of a run."""
    result = run(SLOW, trace)
    return result.when("write")[-1] - result.when("dispatch")[-1]


def test_sectors_are_distinct_and_ascending() -> None:
    beat = prepare(SLOW, with_lines((access(4), [5, 1, 5]))).beats[0]
    assert [sector & 0xFFFF for sector in beat.sectors] == [1 * 4, 5 * 4]


def test_a_miss_waits_for_its_last_sector() -> None:
    assert latency(with_lines((access(4), [1]))) == 100
    assert latency(with_lines((access(4), [1, 2, 3]))) == 108


def test_the_channel_serves_one_sector_per_interval() -> None:
    # Dispatched one cycle apart: the second sector enters the channel four cycles after the first.
    assert latency(with_lines((access(4), [1]), (access(5), [2]))) == 103


TOLD = SLOW.replace(scheduler="two_level", long_from="miss", notice_latency=3, cache_lines=4)


def notices(trace: Trace) -> tuple[list[tuple[int, int, int, int]], list[int]]:
    """Cycle, warp and destinations of every notice, and the cycles of all dispatches."""
    layout = layout_of("baseline", TOLD)
    environment, model = Environment(TOLD, prepare(TOLD, trace), layout), Baseline(TOLD, layout)
    told, dispatched = [], []
    while not environment.done:
        stimulus = environment.stimulus()
        if missed := stimulus.missed:
            told.append((environment.cycle, missed.warp, missed.dest, missed.dest_count))
        word = model.step(stimulus)
        dispatched += [environment.cycle] if layout.unpack(word)["dispatch"] else []
        environment.observe(word)
    return told, dispatched


def test_every_load_that_misses_is_told_of_once_and_as_late_as_any_other() -> None:
    wide = op((), 8, dest_count=4, port=Port.LSU, space=Space.GLOBAL, access=Access.LOAD, bytes=16)
    shared, texture = access(6, space=Space.SHARED), access(7, space=Space.TEXTURE)
    late = op((4,), 5, port=Port.LSU, space=Space.GLOBAL, access=Access.LOAD, bytes=4)
    told, at = notices(
        with_lines(
            (access(4), [1]), (wide, [2]), (access(kind=Access.STORE), [3]), (shared, [4]), (texture, [5]),
            (late, [1]),
        )
    )  # fmt: skip
    # The last access waits for the line that the first brings, and hits it; stores and shared memory are told of never.
    assert told == [(at[0] + 3, 0, 4, 1), (at[1] + 3, 0, 8, 4), (at[4] + 3, 0, 7, 1)]


def test_only_a_scheme_that_asks_is_told_of_misses() -> None:
    assert not TOLD.replace(long_from="issue").sees_misses and not TOLD.replace(scheduler="gto").sees_misses
    assert "missed" not in dict(stimulus_fields(TOLD.replace(long_from="issue")))


def test_the_pins_carry_a_notice() -> None:
    fields, packer = positions(stimulus_fields(TOLD)), StimulusPacker(TOLD)
    stimulus = Stimulus(results=[None] * TOLD.write_ports, missed=Missed(3, 8, 4))
    word = packer.pack(stimulus)
    low, width = fields["missed"]
    assert word >> fields["missed_valid"][0] & 1
    assert unpack_fields(missed_fields(TOLD), word >> low & (1 << width) - 1) == {"warp": 3, "dest": 8, "dest_count": 4}
    assert not packer.pack(Stimulus(results=[None] * TOLD.write_ports))


def accesses(cfg: Config, *timed: tuple[int, StaticInstruction, list[int]]) -> list[tuple[int, bool]]:
    """Latency and origin of accesses that are dispatched in these cycles, each to the named lines."""
    return sector_accesses(cfg, *((cycle, a, [4 * line for line in lines]) for cycle, a, lines in timed))


def sector_accesses(cfg: Config, *timed: tuple[int, StaticInstruction, list[int]]) -> list[tuple[int, bool]]:
    """The same, each to the named sectors of 32 bytes."""
    memory, beats = Memory(cfg), prepare(cfg, with_sectors(*((a, named) for _, a, named in timed))).beats
    return [memory.access(beat, cycle) for beat, (cycle, _, _) in zip(beats, timed, strict=False)]


TURING = PRESETS["turing"].config


def test_a_gather_moves_a_sector_per_line() -> None:
    """32 lines, one sector each: 32 places of the channel of 4 cycles each; whole lines (control) take 512 cycles."""
    gathers = [(0, access(4 + k), [4 * (32 * k + lane) for lane in range(LANES)]) for k in range(2)]
    assert sector_accesses(TURING, *gathers) == [(290 + 31 * 4, True), (290 + 63 * 4, True)]
    lines = TURING.replace(sector_bytes=128, sector_interval=16)
    assert sector_accesses(lines, *gathers) == [(290 + 31 * 16, True), (290 + 63 * 16, True)]
    # What is contiguous takes as long in both, up to the last sector.
    row = [(0, access(4 + k), [4 * k + sector for sector in range(4)]) for k in range(2)]
    assert sector_accesses(TURING, *row) == [(290 + 3 * 4, True), (290 + 7 * 4, True)]
    assert sector_accesses(lines, *row) == [(290, True), (290 + 16, True)]


def test_a_line_has_the_sectors_that_were_asked_for() -> None:
    timed = [(0, access(4), [8]), (500, access(5), [9]), (1000, access(6), [8, 9]), (1500, access(7), [8, 9, 10])]
    assert sector_accesses(SLOW, *timed) == [(100, True), (100, True), (10, False), (100, True)]
    # Where memory moves whole lines, the first access brings all of them.
    assert sector_accesses(SLOW.replace(sector_bytes=128), *timed) == [(100, True), *[(10, False)] * 3]


def test_a_line_leaves_the_cache_with_all_its_sectors() -> None:
    # Lines 0, 2, 4, 6 and 8 share one set; sector 1 makes line 0 the most recent, so that line 2 gives way to line 8.
    fill = [(1000 * k, access(4), [sector]) for k, sector in enumerate([0, 8, 16, 24, 1, 32])]
    asked = [(6000 + 1000 * k, access(4), [sector]) for k, sector in enumerate([0, 1, 8])]
    assert sector_accesses(SLOW, *fill, *asked)[-3:] == [(10, False), (10, False), (100, True)]


def test_a_store_moves_and_leaves_its_sectors() -> None:
    store = access(kind=Access.STORE)
    timed = [(0, store, [8, 9]), (20, access(4), [8, 9]), (40, access(5), [10]), (60, store, [0]), (60, access(6), [4])]
    # The channel is free from 8 on, and at 60 the store holds it until 64.
    found = sector_accesses(stores("through"), *timed)
    assert found == [(10, False), (10, False), (100, True), (10, False), (104, True)]


@pytest.mark.parametrize(("sectors", "transfers"), [(1, 1), (4, 1), (5, 2), (16, 4), (32, 8)])
def test_a_transfer_takes_four_sectors_wherever_they_lie(sectors: int, transfers: int) -> None:
    far, near = ([step * number for number in range(sectors)] for step in (4, 1))
    for named in (far, near):
        assert prepare(SLOW, with_sectors((access(4), named))).beats[0].transfers == transfers
    lines = SLOW.replace(sector_bytes=128)
    assert prepare(lines, with_sectors((access(4), far))).beats[0].transfers == sectors


@pytest.mark.parametrize(("policy", "whole"), [("through", True), ("around", True), ("back", False)])
def test_a_run_ends_when_its_stores_have_left_the_channel(policy: str, whole: bool) -> None:
    """512 lines of four sectors, each of which keeps the channel for four cycles, from the first dispatch on."""
    cfg = TURING.replace(domains=1, stores=policy)
    row = [*range(4)]
    trace = with_sectors(*[(access(kind=Access.STORE), row)] * 512)
    result = run(cfg, trace)
    dispatches = result.when("dispatch")
    # Written back (control), the four sectors are fetched once.
    channel = 512 * 4 * 4 if whole else 4 * 4
    assert result.cycles == max(dispatches[0] + channel, result.when("exit")[-1] + 1)
    assert whole == (result.cycles == dispatches[0] + 8192)


def test_a_run_without_stores_ends_with_its_last_result() -> None:
    result = run(SLOW, with_lines((access(4), [1, 2, 3])))
    assert result.cycles == result.when("write")[-1] + 2  # the EXIT issues in the cycle after the write


def test_a_machine_that_waits_for_its_stores_does_not_hang() -> None:
    for policy, waits in (("through", True), ("back", False)):
        cfg = stores(policy).replace(sector_interval=50)
        layout, trace = layout_of("baseline", cfg), with_lines(*[(access(kind=Access.STORE), [1])] * 4)
        environment, model = Environment(cfg, prepare(cfg, trace), layout), Baseline(cfg, layout)
        gone, awaited = False, []
        while not environment.done:
            word = model.step(environment.stimulus())
            environment.observe(word)
            gone = gone or bool(layout.unpack(word)["exit"])
            awaited += [environment.awaits] if gone and not environment.done else []
        assert all(awaited) and (len(awaited) > 100) == waits


def test_a_line_hits_once_it_is_there() -> None:
    assert latency(with_lines((access(kind=Access.STORE), [1]), *[(access(4), [2])] * 30, (access(5), [1]))) == 10
    stores = [(cycle, access(kind=Access.STORE), [3]) for cycle in (0, 1, 500)]
    assert accesses(SLOW, *stores, (501, access(4), [3])) == [(10, False)] * 4


def test_a_line_on_its_way_is_waited_for() -> None:
    # It enters the channel in 0 and arrives in 100; who asks from 91 on waits longer for the cache than for the line.
    asked = [(cycle, access(4), [1]) for cycle in (0, 1, 90, 91, 100)]
    assert accesses(SLOW, *asked) == [(100, True), (99, True), (10, True), (10, False), (10, False)]
    # Both results are there in the same cycle, and the second is written in the next.
    assert latency(with_lines((access(4), [1]), (access(5), [1]))) == 99 + 1


def test_a_line_that_a_store_fetches_is_waited_for_by_loads_only() -> None:
    store = access(kind=Access.STORE)
    timed = [(0, store, [1]), (20, access(4), [1]), (30, store, [1]), (40, access(4), [1])]
    assert accesses(SLOW, *timed) == [(10, False), (80, True), (10, False), (60, True)]


@pytest.mark.parametrize("policy", ["back", "through", "around"])
def test_an_atomic_is_served_beyond_the_cache_and_leaves_nothing_in_it(policy: str) -> None:
    atomic = access(4, Access.ATOMIC)
    timed = [(0, access(5), [1]), (500, access(6), [1]), (600, atomic, [1]), (800, atomic, [1]), (1000, access(7), [1])]
    found = accesses(stores(policy), *timed)
    assert found == [(100, True), (10, False), (100, True), (100, True), (100, True)]
    # Loads in their place (control) hit.
    plain = [(cycle, access(4), lines) for cycle, _, lines in timed]
    assert accesses(stores(policy), *plain)[1:] == [(10, False)] * 4


def test_an_atomic_takes_only_its_own_sectors_from_the_cache() -> None:
    atomic = access(4, Access.ATOMIC)
    timed = [(0, access(5), [4, 5]), (500, atomic, [5]), (1000, access(6), [4]), (1000, access(7), [5])]
    assert sector_accesses(SLOW, *timed) == [(104, True), (100, True), (10, False), (100, True)]


def test_an_atomic_waits_for_no_load_and_no_later_load_for_an_earlier_one() -> None:
    """The load's sector enters the channel in 0, the atomic's in 4, and that of the load behind it in 8."""
    atomic = access(4, Access.ATOMIC)
    assert accesses(SLOW, (0, access(5), [1]), (1, atomic, [1]), (2, access(6), [1])) == [
        (100, True),
        (103, True),
        (106, True),
    ]


def test_atomics_without_a_result_keep_the_channel() -> None:
    reds = [(0, access(kind=Access.ATOMIC), [1])] * 3
    assert accesses(SLOW, *reds, (0, access(4), [2]))[-1] == (112, True)


def stores(policy: str) -> Config:
    return SLOW.replace(stores=policy)


def test_stores_that_write_through_fetch_nothing_and_leave_their_line() -> None:
    timed = [(0, access(kind=Access.STORE), [1]), (1, access(4), [1]), (2, access(5), [3])]
    # Line 1 is there at once; line 3 waits for the channel until 4.
    assert accesses(stores("through"), *timed) == [(10, False), (10, False), (102, True)]
    # A line on its way stays on its way when it is written.
    timed = [(0, access(4), [1]), (50, access(kind=Access.STORE), [1]), (60, access(5), [1])]
    assert accesses(stores("through"), *timed) == [(100, True), (10, False), (40, True)]


def test_stores_around_the_cache_leave_it_as_it_is() -> None:
    store = access(kind=Access.STORE)
    timed = [(0, store, [1]), (1, access(4), [1]), (2, access(5), [3])]
    # The load of line 1 enters the channel behind the store, in 4, and that of line 3 in 8.
    assert accesses(stores("around"), *timed) == [(10, False), (103, True), (106, True)]
    # 0, 2, 4 and 6 fill a set; the store hits 0 and does not make it the most recent, so that 8 takes its place.
    lines = [(1000 * k, access(4), [line]) for k, line in enumerate([0, 2, 4, 6])]
    timed = [*lines, (4000, store, [0]), (5000, access(4), [8]), (6000, access(4), [0])]
    assert accesses(stores("around"), *timed)[-1] == (100, True)
    assert accesses(stores("through"), *timed)[-1] == (10, False)


def test_every_stored_line_takes_a_place_of_the_channel_unless_it_is_written_back() -> None:
    timed = [(0, access(4), [1]), *((500, access(kind=Access.STORE), [1]) for _ in range(3)), (500, access(5), [3])]
    assert [accesses(stores(policy), *timed)[-1][0] for policy in ("back", "through", "around")] == [100, 112, 112]


def test_the_last_of_several_lines_decides() -> None:
    # Line 2 enters the channel in 0; line 1 in 4, because its access comes in 3; line 2 has 97 cycles to go by then.
    assert accesses(SLOW, (0, access(4), [2]), (3, access(5), [1, 2])) == [(100, True), (101, True)]
    assert accesses(SLOW, (0, access(4), [2]), (300, access(5), [4]), (350, access(6), [2, 4])) == [
        (100, True),
        (100, True),
        (50, True),
    ]


def test_a_line_on_its_way_is_fetched_once() -> None:
    # The second access takes no place of the channel, so the third enters it in 4 and not in 8.
    assert accesses(SLOW, *((cycle, access(4), [line]) for cycle, line in enumerate([1, 1, 3]))) == [
        (100, True),
        (99, True),
        (102, True),
    ]


def test_a_line_that_loses_its_place_on_its_way_is_not_fetched_again() -> None:
    # All lines share one set of four places: 0 has lost its own to 8, takes that of 2, and still arrives in 100.
    lines = [0, 2, 4, 6, 8, 0]
    assert [found[0] for found in accesses(SLOW, *((k, access(4), [line]) for k, line in enumerate(lines)))] == [
        *(100 + 3 * k for k in range(5)),
        95,
    ]


def test_the_least_recently_used_way_is_replaced() -> None:
    lines = [access(4 + k) for k in range(7)]
    beats = prepare(SLOW, with_lines(*zip(lines, [[0], [2], [4], [6], [0], [8], [2]], strict=True))).beats
    memory = Memory(SLOW)
    latencies = [memory.access(beat, 1000 * k)[0] for k, beat in enumerate(beats[:7])]
    assert latencies == [100, 100, 100, 100, 10, 100, 100]  # two sets: all of these lines share one


def test_a_miss_waits_for_an_entry_and_all_behind_it_wait_too() -> None:
    """Lines 1 and 2 arrive in 100 and in 104: then lines 3 and 4 have their entries, and line 1 hits."""
    timed = [(0, access(4 + k), [line]) for k, line in enumerate([1, 2, 3, 4, 1])]
    assert accesses(SLOW.replace(mshrs=2), *timed) == [(100, True), (104, True), (200, True), (204, True), (114, False)]
    # With an entry for each of them (control) nothing waits but for the channel, and line 1 is on its way.
    free = [(100, True), (104, True), (108, True), (112, True), (100, True)]
    assert accesses(SLOW.replace(mshrs=4), *timed) == accesses(SLOW, *timed) == free


def test_sectors_of_an_access_wait_for_entries_one_by_one() -> None:
    timed = [
        (0, access(4), [1, 2, 3]),
        (30, access(5), [1]),
        (30, access(6, Access.ATOMIC), [4]),
        (250, access(7), [2]),
    ]
    # Line 3 is looked up in 200, and so is what comes in 30; in 250 nothing waits any more.
    assert accesses(SLOW.replace(mshrs=1), *timed) == [(300, True), (180, False), (274, True), (10, False)]
    assert accesses(SLOW, *timed) == [(108, True), (70, True), (100, True), (10, False)]


def test_an_entry_takes_as_many_accesses_as_it_can() -> None:
    timed = [
        (0, access(4), [1]),
        (5, access(5), [1]),
        (10, access(6), [1]),
        (20, access(7), [2]),
        (300, access(8), [1]),
    ]
    # The third access to line 1 is looked up when the line is there, in 100, and line 2 enters the channel behind it.
    found = [(100, True), (95, True), (100, False), (180, True), (10, False)]
    assert accesses(SLOW.replace(mshr_merges=2), *timed) == found
    for merges in (0, 3):
        found = [(100, True), (95, True), (90, True), (100, True), (10, False)]
        assert accesses(SLOW.replace(mshr_merges=merges), *timed) == found


def test_a_line_that_lost_its_place_while_its_entry_was_full_is_fetched_again() -> None:
    # All lines share one set of four places: 8 takes that of 0, whose entry has room for the first access alone.
    timed = [(cycle, access(4), [line]) for cycle, line in enumerate([0, 2, 4, 6, 8, 0])]
    assert accesses(SLOW.replace(mshr_merges=1), *timed)[-1] == (195, True)
    assert accesses(SLOW.replace(mshr_merges=1), *timed[:4], (5, access(4), [0]))[-1] == (105, False)  # it kept it


@pytest.mark.parametrize(("policy", "waits"), [("back", True), ("through", False), ("around", False)])
def test_stores_take_entries_for_what_they_fetch(policy: str, waits: bool) -> None:
    timed = [(0, access(kind=Access.STORE), [1]), (0, access(4), [2])]
    assert accesses(stores(policy).replace(mshrs=1), *timed)[-1] == (200 if waits else 104, True)


def test_what_the_cache_is_not_for_takes_no_entry() -> None:
    lines = [(0, access(4 + k), [k]) for k in range(3)]
    atomics = [(0, access(4 + k, Access.ATOMIC), [k]) for k in range(3)]
    one = SLOW.replace(mshrs=1)
    for cfg, timed in ((one.replace(cached="local"), lines), (one.replace(cache_lines=0), lines), (one, atomics)):
        assert accesses(cfg, *timed) == [(100, True), (104, True), (108, True)]
    # Control: the same loads of a cache that is for them, and one of local memory, whose line has four sectors.
    assert accesses(one, *lines) == [(100, True), (200, True), (300, True)]
    assert accesses(one.replace(cached="local"), (0, access(4, space=Space.LOCAL), [1]))[0] == (400, True)


def test_as_many_sectors_wait_in_the_cache_as_a_hit_takes_cycles() -> None:
    """With one entry, lines are looked up in 0, 100, 200 and so on. Two may wait; the third keeps the port."""
    beats = prepare(SLOW, with_lines(*((access(4 + k), [k]) for k in range(6)))).beats
    short = SLOW.replace(hit_latency=2, mshrs=1)
    for cfg, starts, kept in ((short, (0, 1, 2, 3, 100, 200), (1, 1, 1, 97, 100, 100)), (SLOW, range(6), [1] * 6)):
        timings = Timings(cfg)
        assert [timings.of(beat, start)[1] for beat, start in zip(beats, starts, strict=False)] == list(kept)
    # One access of five lines keeps the port until the third is looked up.
    whole = prepare(SLOW, with_lines((access(4), [*range(5)]))).beats[0]
    assert Timings(short).of(whole, 0) == (500, 200, Origin.MISS)
    assert Timings(SLOW).of(whole, 0) == (116, 2, Origin.MISS)


def test_a_bank_waits_apart() -> None:
    """Sectors of even numbers are in one bank, odd ones in the other; each entry takes one access."""
    two = SLOW.replace(l1_banks=2, mshr_merges=1)
    timed = [
        (0, access(4), [0]),
        (10, access(5), [0]),
        (20, access(6), [2]),
        (30, access(7), [1]),
        (300, access(8), [1]),
    ]
    # Sector 0 is looked up again in 100 and sector 2 behind it; sector 1 enters the channel in 30, long before.
    assert sector_accesses(two, *timed) == [(100, True), (100, False), (180, True), (100, True), (10, False)]
    # In one bank (control) sector 1 waits behind them, too, and enters the channel four cycles after sector 2.
    found = sector_accesses(two.replace(l1_banks=1), *timed)
    assert found == [(100, True), (100, False), (180, True), (174, True), (10, False)]
    # An access to both banks ends with the one that waits.
    both = sector_accesses(two, *timed[:2], (20, access(6), [2, 3]))
    assert both[-1] == (180, True)


def test_entries_are_those_of_all_banks() -> None:
    one = SLOW.replace(l1_banks=2, mshrs=1)
    assert sector_accesses(one, *((0, access(4 + k), [k]) for k in range(3))) == [(100, True), (200, True), (300, True)]


def test_room_to_wait_is_shared_by_the_domains_and_is_that_of_a_bank() -> None:
    """With a merge per entry all accesses to a sector but the first wait for it; those to the other bank never do."""
    beats = prepare(SLOW, with_sectors(*((access(4 + k), [0]) for k in range(6)))).beats
    short = SLOW.replace(hit_latency=8, l1_banks=2, mshr_merges=1)
    for domains, room in ((1, 8), (4, 2), (8, 1)):
        timings = Timings(short.replace(domains=domains))
        kept = [timings.of(beat, start)[1] for start, beat in enumerate(beats[:6])]
        # The first one does not wait, and as many as have room keep the port for their transfer alone.
        assert kept == [1 if start <= room else 100 - start for start in range(6)]


def test_shared_memory_waits_behind_an_access_that_keeps_the_port() -> None:
    trace = with_lines(*((access(4 + k), [k]) for k in range(4)), (access(8, space=Space.SHARED), [0]))
    for cfg, later in ((SLOW.replace(hit_latency=2, mshrs=1), 100), (SLOW.replace(mshrs=1), 4)):
        at = run(cfg, trace).when("dispatch")
        assert [cycle - at[0] for cycle in at] == [0, 1, 2, 3, later]


def test_without_a_cache_every_sector_misses() -> None:
    memory = Memory(SLOW.replace(cache_lines=0))
    beat = prepare(SLOW, with_lines((access(4), [1]))).beats[0]
    assert [memory.access(beat, cycle) for cycle in (0, 1, 1000)] == [(100, True), (103, True), (100, True)]


def test_a_cache_for_local_memory_does_not_know_loads_of_global_memory() -> None:
    local = SLOW.replace(cached="local")
    twice = [(0, access(4), [1]), (1000, access(5), [1])]
    assert accesses(local, *twice) == [(100, True), (100, True)]
    assert accesses(SLOW, *twice) == [(100, True), (10, False)]
    kept = [(at, access(4 + n, space=Space.LOCAL), [1]) for n, (at, *_) in enumerate(twice)]
    assert [found[1] for found in accesses(local, *kept)] == [True, False]


def test_a_set_has_as_many_lines_as_ways() -> None:
    lines = [0, 2, 4, 6, 8, 0]
    for ways, last in ((4, 100), (8, 10)):
        steps = ((1000 * k, access(4 + k), [line]) for k, line in enumerate(lines))
        assert accesses(SLOW.replace(cache_ways=ways), *steps)[-1][0] == last


def test_an_access_without_addresses_hits() -> None:
    assert latency(hand_trace([access(4)])) == 10


@pytest.mark.parametrize("space", [Space.SHARED, Space.CONSTANT])
def test_shared_and_constant_accesses_take_their_own_latency(space: Space) -> None:
    assert latency(hand_trace([access(4, space=space)])) == 7


def test_an_access_occupies_its_port_for_its_transfers() -> None:
    result = run(SLOW, with_lines((access(4), [*range(12)]), (access(5), [1])))
    assert result.when("dispatch") == [3, 6]


SHARED_LSU = SLOW.replace(domains=4, lsu_interval=8)


def test_the_domains_of_an_sm_share_its_lsu() -> None:
    """Eight warps a domain, all loading: one access in eight cycles from shared memory, and as many hits."""
    rows = np.arange(LANES, dtype=np.uint64)[None] * 4
    for space in (Space.SHARED, Space.GLOBAL):
        # All registers differ, so that nothing waits for a result. The first half fills the cache and is waited for.
        loads = [access(4 + k, space=space) for k in range(24)]
        trace = hand_trace(*[loads] * 32, addresses=rows, address_row=np.array(([0] * 24 + [-1]) * 32))
        for cfg, apart in ((TURING, 8), (TURING.replace(domain=3), 8), (TURING.replace(lsu_interval=1), None)):
            at = run(cfg, trace).when("dispatch")[8 * 12 :]
            assert len(at) == 8 * 12
            if apart:
                assert {after - before for before, after in pairwise(at)} == {apart}
            else:
                assert at[-1] - at[0] < 4 * len(at)  # control: bound by something else, and faster


def test_the_transfers_of_an_access_keep_the_port_and_follow_each_other() -> None:
    conflict = np.arange(LANES, dtype=np.uint64)[None] * 16  # eight banks, four words in each
    trace = hand_trace([access(4, space=Space.SHARED)] * 2, addresses=conflict, address_row=np.array([0, 0, -1]))
    for cfg, port, later in ((SHARED_LSU, 4 * 8, 3 * 2), (SHARED_LSU.replace(domains=1), 4 * 8, 3 * 8), (SLOW, 4, 3)):
        assert Timings(cfg).of(prepare(cfg, trace).beats[0], 0) == (7 + later, port, Origin.SHARED)
    # Hits of twelve sectors, long after their misses.
    row = [*range(12)]
    beats = prepare(SHARED_LSU, with_sectors((access(4), row), (access(5), row))).beats
    timings = Timings(SHARED_LSU)
    assert timings.of(beats[0], 0) == (100 + 11 * 4, 3 * 8, Origin.MISS)
    assert timings.of(beats[1], 1000) == (10 + 2 * 2, 3 * 8, Origin.HIT)


def test_what_has_no_address_is_one_transfer() -> None:
    beats = prepare(SHARED_LSU, hand_trace([access(4), access(4, space=Space.CONSTANT)])).beats
    assert [Timings(SHARED_LSU).of(beat, 0) for beat in beats[:2]] == [(10, 8, Origin.HIT), (7, 8, Origin.SHARED)]


def test_a_full_result_queue_stalls_its_port() -> None:
    # Loads keep the only bank busy with writes, so the results of the ALU pile up.
    cfg = Config(banks=1, bank_ports="1R1W", alu_latency=1, shared_latency=2, result_queue=1, collectors=8)
    loads = [access(4 + k, space=Space.SHARED) for k in range(4)]
    moves = [op((), 16 + k) for k in range(4)]
    program = [step for pair in zip(loads, moves, strict=True) for step in pair]
    result = run(cfg, hand_trace(program))
    assert result.model.counters["write_waits"] > 0
    assert result.model.counters["dispatch_waits"] > 0


def test_a_cta_starts_when_all_its_warps_find_slots() -> None:
    result = run(Config(warps=3), hand_trace([NOP] * 4, [NOP] * 9, [NOP], [NOP], ctas=[0, 0, 1, 1]))
    exits = result.when("exit")
    assert result.when("launch") == [0, 1, exits[0] + 1, exits[0] + 2]


def test_a_cta_waits_for_a_cta_slot_and_for_shared_memory() -> None:
    warps = [[NOP], [NOP]]
    for cfg in (Config(ctas=1), Config(shared_bytes=150)):
        result = run(cfg, hand_trace(*warps, ctas=[0, 1], shared_bytes=100))
        assert result.when("launch") == [0, result.when("exit")[0] + 1]
    assert run(Config(), hand_trace(*warps, ctas=[0, 1], shared_bytes=100)).when("launch") == [0, 1]


def test_decode_begins_when_the_whole_cta_is_launched() -> None:
    result = run(Config(), hand_trace([BAR], [BAR], [BAR], [BAR]))
    assert result.when("launch") == [0, 1, 2, 3]
    assert result.when("buffered")[0] == 5
    assert [f["waiting"] for f in result.fields if f["waiting"]][-1] == 0b1111


def test_decode_goes_round_the_slots_that_have_credit() -> None:
    result = run(Config(buffer_depth=1, scheduler="lrr"), hand_trace([NOP] * 3, [NOP] * 3))
    assert [warp for _, warp in result.issues()] == [0, 1, 0, 1, 0, 1, 0, 1]


class Early(Config):
    """A register file that is shown results two cycles before they are due."""

    @property
    def gives(self) -> Gives:
        """A lead."""
        return Gives(lead=2)


def test_results_with_a_register_come_earlier_by_the_lead() -> None:
    """Those without one, and whatever else goes by a latency, come as ever; registers of one instruction in turn."""
    lines = {"cache_lines": 8, "hit_latency": 10, "miss_latency": 100, "alu_latency": 6}
    program = [op((), 4), op((), 8, dest_count=4), op(token_writes=1)]
    program += [access(12), access(13), access(14, space=Space.SHARED)]
    rows = np.full((1, LANES), 128, dtype=np.uint64)
    trace = hand_trace(program, addresses=rows, address_row=np.array([-1, -1, -1, 0, 0, -1, -1]))
    came = [arrivals(kind(**lines), trace) for kind in (Config, Early)]
    assert {token for _, token, _ in came[0]} == {0, 1}
    for plain, early in zip(*(sorted(one, key=lambda result: result[1:]) for one in came), strict=True):
        assert early[1:] == plain[1:]
        assert plain[0] - early[0] == (0 if plain[1] else 2), plain


def arrivals(cfg: Config, trace: Trace) -> list[tuple[int, int, int]]:
    """Of every result the cycle in which it is ready behind the first dispatch, its tokens and its register."""
    layout = layout_of("baseline", cfg)
    environment, execution = Environment(cfg, prepare(cfg, trace), layout), Execution(cfg, trace)
    beats, cycle = environment.workload.beats[:-1], 10
    for beat in beats:
        execution.issued(0, beat, cycle)
        execution.dispatched(cfg.port_of[beat.port], beat, cycle)
    found, stimulus = [], Stimulus(results=[None] * cfg.write_ports)
    while execution.in_flight:
        execution.drive(cycle, stimulus)
        for port, result in enumerate(stimulus.results):
            if result is not None:
                found.append((result.ready, result.tokens, result.register))
                execution.accepted(port)
        cycle += 1
    return found

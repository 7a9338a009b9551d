"""The file at its ports: the worked examples of the page, cycle by cycle, and what happens at its edges.

Cycles are derived by hand from sections 4 to 6, with 3 cycles per access and 4 beats.
"""

import pytest

from tests.hdl.rf.ltrf.bench import Driver, config, registers, run, whole
from warpfile.hdl.rf.ltrf.file import PrefetchedFile
from warpfile.spec.schemes.ltrf import EMPTY, OPEN, RELEASING

FILL, BACK = False, True
FULL_LOAD = {"dest_count": 1, "long": 1, "full": 1}

#: What the worked example speaks of.
WATCHED = ("step_in", "step_out", "fill_pick", "fill_grant", "back_pick", "back_grant", "channel_read")
WATCHED += ("channel_write", "main_write", "main_beat")
LATE = 20


@pytest.fixture(autouse=True)
def one_tree(monkeypatch):
    whole(monkeypatch)


def simulate(bench, **changes):
    """Run a test over a file with four main banks, one warp launched and its place open."""
    cfg = config(**{"banks": 4} | changes)
    part = PrefetchedFile(cfg)

    async def started(ctx):
        drive = Driver(ctx, part, cfg)
        await drive.launch(0, 0)
        drive.hold(0, 0)
        assert drive.get("start") == 1
        await drive.tick()
        assert drive.get("place_state") == OPEN
        drive.watched = WATCHED
        await bench(drive)

    run(part, started)


async def give_up(drive):
    """The scheduler asks for the place until it gets it; returns the cycle of the release and what is written back."""
    drive.begin()
    drive.ctx.set(drive.part.release, 1)
    while not drive.get("released"):
        await drive.tick(release=1)
        drive.ctx.set(drive.part.release, 1)
        assert drive.cycle < 200, "the place must be released in time"
    at = drive.cycle
    await drive.tick(release=1)
    drive.hold(0, None)
    assert drive.get("place_state") == EMPTY and drive.get("bank_occupied") == 0
    return at, registers(*(register for _, register, back in drive.moved if back))


def beats(bit, first, last):
    """Beats of one way through the crossbar: fills by cache bank, above them write-backs."""
    return {(cycle, 1 << bit) for cycle in range(first, last + 1)}


def passed(drive):
    """All beats, each by itself."""
    return {
        (cycle, 1 << bit)
        for cycle, name, bits in drive.seen
        if name == "main_beat"
        for bit in range(bits.bit_length())
        if bits >> bit & 1
    }


def events(drive):
    """All else."""
    return [event for event in drive.seen if event[1] != "main_beat"]


async def first_prefetch(drive):
    """R0, R1, R2, each of which then gets a value."""
    await drive.prefetch(0, registers(0, 1, 2))
    opened = await drive.until_open()
    noted = events(drive), passed(drive)
    for register in (0, 1, 2):
        await drive.write(0, register, 100 * register + 1)
    return opened, *noted


def test_registers_of_different_banks_come_at_once():
    async def bench(drive):
        opened, seen, beaten = await first_prefetch(drive)
        assert opened == 15
        assert seen == [
            (2, "step_in", 0b0111),
            (4, "fill_pick", 0b0111),
            (5, "fill_grant", 0b0111),
            (13, "channel_write", 0b0111),
        ]
        assert beaten == beats(0, 9, 12) | beats(1, 9, 12) | beats(2, 9, 12)
        assert drive.get("bank_occupied") == 0b0111

    simulate(bench)


def test_a_bank_sends_and_receives_at_once():
    async def bench(drive):
        await first_prefetch(drive)
        await drive.prefetch(0, registers(1, 3, 4))
        assert await drive.until_open() == 17
        assert events(drive) == [
            (2, "step_out", 0b0101),
            (4, "step_in", 0b1001),
            (4, "back_pick", 0b0101),
            (5, "channel_read", 0b0101),
            (6, "fill_pick", 0b0101),
            (6, "back_grant", 0b0101),
            (7, "fill_grant", 0b0101),
            (11, "main_write", 0b0101),
            (15, "channel_write", 0b0101),
        ]
        assert passed(drive) == beats(4, 7, 10) | beats(6, 7, 10) | beats(0, 11, 14) | beats(2, 11, 14)
        # R4 took bank 0, R3 bank 2: part 0 steps before part 3.
        drive.watched = ()
        await drive.write(0, 3, 301)
        await drive.write(0, 4, 401)
        for register, value in ((1, 101), (3, 301), (4, 401)):
            lanes = await drive.read(0, register)
            assert lanes == [value + lane for lane in range(len(lanes))]

    simulate(bench)


@pytest.mark.parametrize("changes", [{}, {"lanes": 8}, {"lanes": 1, "crossbar_beats": 1}, {"bank_cycles": 1}], ids=str)
def test_what_was_saved_comes_back(changes):
    async def bench(drive):
        await drive.prefetch(0, registers(0, 1, 2, 5))
        await drive.until_open()
        for register in (0, 1, 2, 5):
            await drive.write(0, register, 16 * register)
        await drive.prefetch(0, registers(3, 4, 6, 7))
        await drive.until_open()
        assert (await give_up(drive))[1] == registers(3, 4, 6, 7)
        # A result of a warp without a place goes through a latch: only some lanes of it.
        await drive.write(0, 5, 1024, mask=1)
        drive.hold(0, 0)
        for _ in range(LATE):
            await drive.tick()
        await drive.until_open()
        await drive.prefetch(0, registers(0, 1, 2, 5))
        await drive.until_open()
        for register in (0, 1, 2, 5):
            kept = [16 * register + lane for lane in range(drive.cfg.lanes)]
            assert await drive.read(0, register) == (kept if register != 5 else [1024, *kept[1:]])

    simulate(bench, **changes)


def test_an_exit_gives_all_banks_back_at_once():
    async def bench(drive):
        await first_prefetch(drive)
        await drive.tick(exits=1)
        assert drive.get("place_state") == EMPTY and drive.get("bank_occupied") == 0
        assert drive.get("start") == 1

    simulate(bench)


def test_what_is_dead_is_not_moved():
    """The worked example of section 11."""

    async def bench(drive):
        dead = 1 << drive.cfg.hint_at("dead")
        await drive.prefetch(0, registers(0, 1, 2))
        # Steps in 2 that move nothing; they are entered in 3, and in 4 all is done.
        assert await drive.until_open() == 5 and not drive.moved
        for register in (0, 1, 2):
            await drive.issue(0, dest=register, dest_count=1)
            await drive.write(0, register, 100 * register)
        await drive.issue(0, sources=(0,), hints=dead, converged=1)
        await drive.prefetch(0, registers(1, 3, 4))
        # The write-back of R2 is in the directory from 4 on, in LOAD in 5, in ASK in 6, and passes from 7 to 10.
        assert await drive.until_open() == 12
        assert drive.moved == [(2, 2, BACK)]
        await drive.issue(0, dest=3, dest_count=1)
        await drive.write(0, 3, 300)
        await drive.issue(0, dest=4, **FULL_LOAD)
        await drive.tick()
        # RELEASING from 1 on: steps in 1, in the directory from 3 on, beats from 6 to 9.
        assert await give_up(drive) == (10, registers(1, 3))
        drive.begin()
        # A parked result starts in 0 and has its beats until 4.
        assert await drive.write(0, 4, 400) == 4
        drive.begin()
        drive.hold(0, 0)
        # RECALL in 1, and steps in 2, as behind a PREFETCH.
        assert await drive.until_open() == 15
        assert drive.moved == [(2, 4, FILL), (2, 1, FILL), (2, 3, FILL)]
        for register in (1, 3, 4):
            assert await drive.read(0, register) == [100 * register + lane for lane in range(4)]
        assert not drive.get("error")

    simulate(bench, liveness=1)


@pytest.mark.parametrize(("full", "saved"), [(1, registers(1)), (0, registers(1, 2))])
def test_only_a_full_load_keeps_a_register_from_being_saved(full, saved):
    async def bench(drive):
        await drive.prefetch(0, registers(1, 2))
        await drive.until_open()
        await drive.issue(0, dest=2, dest_count=1, long=1, full=full)
        await drive.tick()
        assert (await give_up(drive))[1] == saved

    simulate(bench)


def test_a_load_that_returns_in_time_is_saved():
    async def bench(drive):
        await drive.prefetch(0, registers(1, 2))
        await drive.until_open()
        await drive.issue(0, dest=2, **FULL_LOAD)
        await drive.write(0, 2, 7)
        assert (await give_up(drive))[1] == registers(1, 2)

    simulate(bench)


def test_clean_registers_are_not_moved_back():
    async def bench(drive):
        await drive.prefetch(0, registers(1, 2, 3))
        await drive.until_open()
        await drive.write(0, 2, 7)
        await drive.prefetch(0, registers(2, 4))
        await drive.until_open()
        assert all(not back for _, _, back in drive.moved)
        assert (await give_up(drive))[1] == registers(2)

    simulate(bench, moved_back="dirty")


def test_a_partial_result_that_is_parked_changes_its_lanes_alone():
    async def bench(drive):
        await drive.prefetch(0, registers(5))
        await drive.until_open()
        await drive.write(0, 5, 50)
        await drive.issue(0, dest=5, dest_count=1, long=1)
        await drive.tick()
        await give_up(drive)
        await drive.write(0, 5, 90, mask=0b0110)
        drive.hold(0, 0)
        await drive.tick()
        await drive.until_open()
        assert await drive.read(0, 5) == [50, 91, 92, 53]

    simulate(bench)


def test_results_wait_while_their_place_is_not_open():
    async def bench(drive):
        await drive.prefetch(0, registers(1))
        assert drive.get("hold") & 1
        # One fill, whose row is written in cycle 13.
        assert await drive.write(0, 1, 3) == 15

    simulate(bench)


def test_a_warp_that_ends_leaves_nothing():
    async def bench(drive):
        await drive.prefetch(0, registers(1, 2))
        await drive.until_open()
        drive.begin()
        await drive.tick(exits=1)
        drive.hold(0, None)
        assert drive.get("place_state") == EMPTY and drive.get("bank_occupied") == 0
        await drive.tick()
        drive.hold(0, 1)
        assert drive.get("start")
        await drive.tick()
        assert drive.get("place_state") == OPEN and not drive.moved

    simulate(bench)


def test_a_slot_forgets_the_working_set_at_its_launch():
    async def bench(drive):
        await drive.prefetch(0, registers(1, 2))
        await drive.until_open()
        await give_up(drive)
        await drive.launch(0, 0)
        drive.hold(0, 0)
        await drive.tick()
        assert drive.get("place_state") == OPEN

    simulate(bench)


def test_what_is_not_cached_is_an_error():
    async def bench(drive):
        await drive.prefetch(0, registers(1, 2))
        await drive.until_open()
        assert not drive.get("error")
        drive.ctx.set(drive.part.check_registers[0], 3)
        await drive.tick(check_valid=1)
        assert drive.get("error")
        await drive.tick()
        assert drive.get("error")

    simulate(bench)


def test_a_result_for_no_cached_register_is_an_error():
    async def bench(drive):
        await drive.write(0, 1, 3)
        assert drive.get("error")

    simulate(bench)


def test_more_registers_than_banks_are_an_error():
    """R4 is in the part of R0, and steps behind it."""

    async def bench(drive):
        await drive.prefetch(0, registers(0, 1, 2, 3, 4))
        for _ in range(2):
            assert not drive.get("error")
            await drive.tick()
        assert drive.get("error") and drive.get("bank_occupied") == 0b1111

    simulate(bench)


def test_a_main_bank_begins_a_fill_every_four_cycles():
    """R0 and R2 are in main bank 0 of two, and have a bank of the cache each."""

    async def bench(drive):
        await drive.prefetch(0, registers(0, 2))
        await drive.until_open()
        assert [event for event in events(drive) if event[1] == "fill_grant"] == [
            (5, "fill_grant", 1),
            (9, "fill_grant", 2),
        ]

    simulate(bench, banks=2)


def test_places_start_and_save_one_by_one():
    cfg = config(active_warps=2, warps=3)

    async def bench(ctx):
        drive = Driver(ctx, part, cfg)
        for warp in range(2):
            await drive.launch(warp, 8 * warp)
            drive.hold(warp, warp)
        assert drive.get("start") == 0b10  # the first one has started in the cycle of the launch of the other
        await drive.tick()
        for warp in range(2):
            await drive.prefetch(warp, registers(warp + 1))
        await drive.until_open(0)
        await drive.until_open(1)
        drive.ctx.set(part.release, 0b11)
        assert drive.get("save") == 0b01
        await drive.tick(release=0b11)
        drive.ctx.set(part.release, 0b11)
        assert drive.get("save") == 0b10
        assert drive.get("place_state") == RELEASING | OPEN << 3
        await drive.tick(release=0b11)
        assert drive.get("place_state") == RELEASING | RELEASING << 3

    part = PrefetchedFile(cfg)
    run(part, bench)


@pytest.mark.parametrize("asked", ["source", "result"])
def test_what_is_not_in_the_cache_is_an_error_for_ever(asked):
    async def bench(drive):
        async def ask(register):
            await (drive.read(0, register) if asked == "source" else drive.write(0, register, 9))

        await drive.prefetch(0, registers(5))
        await drive.until_open()
        await ask(5)
        assert not drive.get("error")
        await ask(6)
        assert drive.get("error")
        await ask(5)
        assert drive.get("error")

    simulate(bench)

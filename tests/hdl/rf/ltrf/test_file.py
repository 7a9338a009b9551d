"""The file at its ports: the worked example of the page, cycle by cycle, and what happens at its edges.

Cycles are derived by hand from sections 4 to 6 with 2 main banks, 3 cycles per access and 4 beats: of a fill granted in
t the channel is idle from t + 9 on, of a write-back from t + 10 on; so long the main bank is taken but for the last
cycle of a fill.
"""

import pytest

from tests.hdl.rf.ltrf.bench import Driver, config, registers, run, whole
from warpfile.hdl.rf.ltrf.file import PrefetchedFile
from warpfile.spec.schemes.ltrf import EMPTY, MOVING, OPEN, RELEASING

FILL, BACK = False, True
FULL_LOAD = {"dest_count": 1, "long": 1, "full": 1}


@pytest.fixture(autouse=True)
def one_tree(monkeypatch):
    whole(monkeypatch)


def simulate(cfg, bench):
    """Run a test over a file with one warp launched and its place open."""
    part = PrefetchedFile(cfg)

    async def started(ctx):
        drive = Driver(ctx, part, cfg)
        await drive.launch(0, 0)
        drive.hold(0, 0)
        assert drive.get("start") == 1
        await drive.tick()
        assert drive.get("place_state") == OPEN
        await bench(drive)

    run(part, started)


async def give_up(drive):
    """The scheduler asks for the place until it gets it; returns the cycle of the release and what is saved."""
    drive.begin()
    drive.ctx.set(drive.part.release, 1)
    saved = drive.get("save_set")
    for _ in range(200):
        if drive.get("released"):
            break
        await drive.tick(release=1)
        drive.ctx.set(drive.part.release, 1)
    at = drive.cycle
    await drive.tick(release=1)
    drive.hold(0, None)
    return at, saved


def test_the_worked_example():
    async def bench(drive):
        await drive.prefetch(0, registers(0, 1, 2))
        # R0 waits for nobody, R1 has the other main bank, R2 waits for that of R0.
        assert await drive.until_open() == 22
        assert drive.transfers == [(4, 0, FILL), (5, 1, FILL), (12, 2, FILL)]
        assert drive.free_banks() == [3]
        for register in (0, 1, 2):
            drive.begin()
            assert await drive.write(0, register, 100 * register) == 0
        await drive.prefetch(0, registers(1, 3, 4))
        assert await drive.until_open() == 34
        assert drive.transfers == [(4, 0, BACK), (14, 2, BACK), (15, 3, FILL), (24, 4, FILL)]
        assert drive.free_banks() == [2]
        await drive.write(0, 3, 300)
        await drive.issue(0, dest=4, **FULL_LOAD)
        await drive.tick()
        assert await give_up(drive) == (22, registers(1, 3))
        assert drive.transfers == [(2, 1, BACK), (12, 3, BACK)]
        assert drive.free_banks() == [2, 0, 1, 3] and drive.get("place_state") == EMPTY
        drive.begin()
        assert await drive.write(0, 4, 400) == 4
        drive.begin()
        drive.hold(0, 0)
        # R3 waits for the main bank of R1, and R4 behind it.
        assert await drive.until_open() == 23
        assert drive.transfers == [(4, 1, FILL), (12, 3, FILL), (13, 4, FILL)]
        assert drive.free_banks() == [3]
        for register in (1, 3, 4):
            assert await drive.read(0, register) == [100 * register + lane for lane in range(4)]
        assert not drive.get("error")

    simulate(config(), bench)


def test_the_worked_example_with_liveness():
    async def bench(drive):
        dead = 1 << drive.cfg.hint_at("dead")
        await drive.prefetch(0, registers(0, 1, 2))
        # Three steps from cycle 2 on, and one cycle in which all is done.
        assert await drive.until_open() == 6 and not drive.transfers
        for register in (0, 1, 2):
            await drive.issue(0, dest=register, dest_count=1)
            await drive.write(0, register, 100 * register)
        await drive.issue(0, sources=(0,), hints=dead, converged=1)
        await drive.prefetch(0, registers(1, 3, 4))
        # The channel of R2 works from 6 to 14: its register leaves in 3.
        assert await drive.until_open() == 16
        assert drive.transfers == [(5, 2, BACK)]
        assert drive.free_banks() == [2]
        await drive.issue(0, dest=3, dest_count=1)
        await drive.write(0, 3, 300)
        await drive.issue(0, dest=4, **FULL_LOAD)
        await drive.tick()
        assert await give_up(drive) == (22, registers(1, 3))
        assert drive.free_banks() == [2, 0, 1, 3]
        await drive.write(0, 4, 400)
        drive.begin()
        drive.hold(0, 0)
        assert await drive.until_open() == 23
        assert [register for _, register, _ in drive.transfers] == [1, 3, 4]
        for register in (1, 3, 4):
            assert await drive.read(0, register) == [100 * register + lane for lane in range(4)]
        assert not drive.get("error")

    simulate(config(liveness=1), bench)


@pytest.mark.parametrize(("full", "saved"), [(1, registers(1)), (0, registers(1, 2))])
def test_only_a_full_load_keeps_a_register_from_being_saved(full, saved):
    async def bench(drive):
        await drive.prefetch(0, registers(1, 2))
        await drive.until_open()
        await drive.issue(0, dest=2, dest_count=1, long=1, full=full)
        await drive.tick()
        assert (await give_up(drive))[1] == saved

    simulate(config(), bench)


def test_a_load_that_returns_in_time_is_saved():
    async def bench(drive):
        await drive.prefetch(0, registers(1, 2))
        await drive.until_open()
        await drive.issue(0, dest=2, **FULL_LOAD)
        await drive.write(0, 2, 7)
        assert (await give_up(drive))[1] == registers(1, 2)

    simulate(config(), bench)


def test_clean_registers_are_not_moved_back():
    async def bench(drive):
        await drive.prefetch(0, registers(1, 2, 3))
        await drive.until_open()
        await drive.write(0, 2, 7)
        await drive.prefetch(0, registers(2, 4))
        await drive.until_open()
        assert all(not back for _, _, back in drive.transfers)
        assert (await give_up(drive))[1] == registers(2)

    simulate(config(moved_back="dirty"), bench)


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

    simulate(config(), bench)


def test_results_wait_while_their_place_is_not_open():
    async def bench(drive):
        await drive.prefetch(0, registers(1))
        assert drive.get("hold") & 1
        # One fill: its channel is idle from cycle 13 on.
        assert await drive.write(0, 1, 3) == 14

    simulate(config(), bench)


def test_a_warp_that_ends_leaves_nothing():
    async def bench(drive):
        await drive.prefetch(0, registers(1, 2))
        await drive.until_open()
        drive.begin()
        await drive.tick(exits=1)
        drive.hold(0, None)
        assert drive.get("place_state") == EMPTY
        await drive.tick()
        drive.hold(0, 1)
        assert not drive.get("start")  # bank 1 is still to be given back
        await drive.tick()
        assert drive.free_banks() == [2, 3, 0, 1] and drive.get("start")
        await drive.tick()
        assert drive.get("place_state") == OPEN and not drive.transfers

    simulate(config(), bench)


def test_a_slot_forgets_the_working_set_at_its_launch():
    async def bench(drive):
        await drive.prefetch(0, registers(1, 2))
        await drive.until_open()
        await give_up(drive)
        await drive.launch(0, 0)
        drive.hold(0, 0)
        await drive.tick()
        assert drive.get("place_state") == OPEN

    simulate(config(), bench)


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

    simulate(config(), bench)


def test_a_result_for_no_cached_register_is_an_error():
    async def bench(drive):
        await drive.write(0, 1, 3)
        assert drive.get("error")

    simulate(config(), bench)


def test_more_registers_than_banks_are_an_error():
    async def bench(drive):
        await drive.prefetch(0, registers(0, 1, 2, 3, 4))
        for _ in range(5):
            assert not drive.get("error")
            await drive.tick()
        assert drive.get("error") and drive.free_banks() == []

    simulate(config(), bench)


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


def test_a_transfer_waits_for_its_main_bank_and_for_its_channel():
    cfg = config(active_warps=2, warps=2)

    async def bench(ctx):
        drive = Driver(ctx, part, cfg)
        for warp in range(2):
            await drive.launch(warp, 8 * warp)
            drive.hold(warp, warp)
        await drive.tick()
        await drive.prefetch(0, registers(0, 2))
        await drive.issue(1, executes=0, kind=1, port=3)
        await drive.tick(operand_valid=1, operand=registers(1, 3))
        assert drive.get("place_state") == MOVING | MOVING << 3
        await drive.until_open(0)
        # All in main bank 0. In 12 the bank of the cache that both places take first still has a channel at work.
        assert drive.transfers == [(4, 0, FILL), (12, 2, FILL), (20, 1, FILL)]

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

    simulate(config(), bench)

"""The file whose banks move registers by themselves, at its ports: the worked example of section 14, cycle by cycle."""

import pytest

from tests.hdl.rf.ltrf.bench import Driver, config, registers, run, whole
from warpfile.hdl.rf.ltrf.banks.file import BankedFile
from warpfile.spec.schemes.ltrf import EMPTY, OPEN

#: What the worked example speaks of.
WATCHED = ("step_in", "step_out", "fill_pick", "fill_grant", "back_pick", "back_grant", "channel_read")
WATCHED += ("channel_write", "main_write", "main_beat")
LATE = 20


@pytest.fixture(autouse=True)
def one_tree(monkeypatch):
    whole(monkeypatch)


def simulate(bench, **changes):
    """Run a test over a file with four main banks, one warp launched and its place open."""
    cfg = config(engine="banks", banks=4, **changes)
    part = BankedFile(cfg)

    async def started(ctx):
        drive = Driver(ctx, part, cfg)
        await drive.launch(0, 0)
        drive.hold(0, 0)
        await drive.tick()
        assert drive.get("place_state") == OPEN
        drive.watched = WATCHED
        await bench(drive)

    run(part, started)


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
        drive.begin()
        drive.ctx.set(drive.part.release, 1)
        while not drive.get("released"):
            await drive.tick(release=1)
            drive.ctx.set(drive.part.release, 1)
            assert drive.cycle < 100
        await drive.tick(release=1)
        drive.hold(0, None)
        assert drive.get("place_state") == EMPTY and drive.get("bank_occupied") == 0
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

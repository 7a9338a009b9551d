"""One write-back port: the table of decisions, merges, when a result moves on; and what X knows of the kernel."""

from __future__ import annotations

import itertools

import pytest

from tests.hdl.rf.packed.bench import config, run
from warpfile.hdl.rf.packed.metadata import PairTable, SideTable
from warpfile.hdl.rf.packed.port import ResultPort
from warpfile.spec.schemes.packed import PackedConfig

NONE, IN_PLACE, SHRINK, RESIZE, ALLOCATE = range(5)
MASKS = [(1 << size) - 1 << anchor for size in range(1, 5) for anchor in range(5 - size)]
PLACE, FOUND = 0b101, 0b010


async def offer(ctx, part, size: int, *, full: bool = True, side: int = 0) -> None:
    """A result is in the first cycle of T when this returns."""
    ctx.set(part.offered, 1)
    ctx.set(part.size, 1 << size - 1)
    ctx.set(part.result.full, full)
    ctx.set(part.result.mask, 0b01)
    if hasattr(part, "side"):
        ctx.set(part.side, side)
    assert ctx.get(part.accept)
    await ctx.tick()
    ctx.set(part.offered, 0)
    assert ctx.get(part.reading)


async def enter(ctx, part, size: int, old: int, *, full: bool = True, side: int = 0) -> None:
    """A result is in the first cycle of W0 when this returns, and the table says nothing of it any more."""
    await offer(ctx, part, size, full=full, side=side)
    ctx.set(part.old_entry, PLACE | old << 4)
    assert ctx.get(part.advances) and not ctx.get(part.deciding)
    await ctx.tick()
    ctx.set(part.old_entry, 0)
    ctx.set(part.found_place.row, FOUND)
    assert ctx.get(part.deciding) and not ctx.get(part.reading)


def decided(size: int, old: int, full: bool) -> int:
    """The table of section 5; a merge counts as the resize behind it."""
    if not old:
        return ALLOCATE
    had = old.bit_count()
    if full:
        return IN_PLACE if size == had else SHRINK if size < had else RESIZE
    return IN_PLACE if size <= had else RESIZE


def kept(size: int, old: int, side: int) -> int:
    """Slices that a smaller value keeps."""
    fits = [mask for mask in MASKS if mask.bit_count() == size and not mask & ~old]
    high = side == 2 or (side != 1 and old & 8 and not old & 1)
    return fits[-1] if high else fits[0]


@pytest.mark.parametrize("scheme", ["packing", "corf_plus"])
def test_decisions_are_those_of_the_table(scheme: str) -> None:
    part = ResultPort(config(scheme, rows=8))
    sides = range(4) if scheme == "corf_plus" else (0,)

    async def bench(ctx) -> None:
        for size, old, full, side in itertools.product(range(1, 5), [0, *MASKS], (True, False), sides):
            await enter(ctx, part, size, old, full=full, side=side)
            expected, target = decided(size, old, full), (1 << size) - 1
            merges = not full and expected == RESIZE
            assert not ctx.get(part.merges)
            if merges:
                assert not ctx.get(part.could) and not ctx.get(part.moves)
                await ctx.tick()
                assert ctx.get(part.merges) and ctx.get(part.merge_place.row) == PLACE >> 1
                assert not ctx.get(part.could) and not ctx.get(part.moves)
                ctx.set(part.merge_served, 1)
                await ctx.tick()
                ctx.set(part.merge_served, 0)
                assert ctx.get(part.merging) and not ctx.get(part.merges) and not ctx.get(part.could)
                await ctx.tick()
            searches, shrinks = expected in (RESIZE, ALLOCATE), expected == SHRINK
            assert (ctx.get(part.could), ctx.get(part.searches)) == (searches or shrinks, searches)
            assert ctx.get(part.moves) == (expected == IN_PLACE)
            ctx.set(part.changes, searches or shrinks)
            ctx.set(part.found_mask, target)
            assert ctx.get(part.moves) == ctx.get(part.effective) == (not searches)
            ctx.set(part.found, searches)
            assert ctx.get(part.moves) and ctx.get(part.effective) and ctx.get(part.decision) == expected
            mask = target if searches else kept(size, old, side) if shrinks else old
            assert ctx.get(part.mask) == mask
            assert ctx.get(part.freed) == (old if searches else old & ~mask)
            assert ctx.get(part.place.row) == (FOUND if searches else PLACE >> 1)
            await ctx.tick()
            for name in ("changes", "found"):
                ctx.set(getattr(part, name), 0)
            assert ctx.get(part.storing) and not ctx.get(part.deciding) and ctx.get(part.store_mask) == mask
            all_lanes = merges or (not full and not old)
            assert ctx.get(part.lanes) == (0b11 if all_lanes else 0b01)
            ctx.set(part.stored, 1)
            await ctx.tick()
            ctx.set(part.stored, 0)
            assert not ctx.get(part.storing)

    run(part, bench)


def test_a_result_waits_for_w1_and_the_next_ones_for_it() -> None:
    """The answers of the table stay in T, whatever the table says later."""
    part = ResultPort(config("packing"))

    async def bench(ctx) -> None:
        ctx.set(part.offered, 1)
        ctx.set(part.size, 1)
        for old in (0, 0b0001, 0b0010):  # three results in three cycles: of W1, of W0, of T
            ctx.set(part.old_entry, PLACE | old << 4)
            assert ctx.get(part.accept)
            await ctx.tick()
        ctx.set(part.old_entry, PLACE | 0b0100 << 4)
        assert ctx.get(part.reading) and ctx.get(part.deciding) and ctx.get(part.storing)
        for _ in range(3):
            assert not (ctx.get(part.moves) or ctx.get(part.advances) or ctx.get(part.accept))
            assert ctx.get(part.store_mask) == 0b0001 and ctx.get(part.old_mask) == 0b0010
            await ctx.tick()
            ctx.set(part.old_entry, 0)
        ctx.set(part.stored, 1)
        for mask in (0b0010, 0b0100):
            assert ctx.get(part.moves) and ctx.get(part.advances) and ctx.get(part.room)
            await ctx.tick()
            ctx.set(part.offered, 0)
            assert ctx.get(part.store_mask) == mask and ctx.get(part.storing)

    run(part, bench)


def test_a_result_moves_on_from_t_while_w0_is_empty_although_w1_waits() -> None:
    part = ResultPort(config("packing"))

    async def bench(ctx) -> None:
        await enter(ctx, part, 1, 0b0001)
        await offer(ctx, part, 1)
        assert ctx.get(part.storing) and not ctx.get(part.deciding) and ctx.get(part.advances)
        await ctx.tick()
        assert ctx.get(part.deciding) and not ctx.get(part.reading) and not ctx.get(part.moves)
        assert ctx.get(part.room)
        await offer(ctx, part, 1)
        assert not ctx.get(part.room) and not ctx.get(part.advances)

    run(part, bench)


WARP, PARTNER, NEW, READ = 1, 5, 0b110 | 0b1100 << 4, 0b011 | 0b0001 << 4  #: its entry afterwards and before


async def read_partner(ctx, part: ResultPort, cfg: PackedConfig, *, paired: bool = True) -> None:
    """A result with a partner is in the first cycle of T, and W0 is empty or in the way."""
    ctx.set(part.result.warp, WARP)
    ctx.set(part.result.register, 3)
    ctx.set(part.paired, paired)
    ctx.set(part.partner, PARTNER)
    await offer(ctx, part, 1)
    ctx.set(part.partner_entry, READ)
    for name in ("paired", "partner"):
        ctx.set(getattr(part, name), 0)
    for port in range(cfg.write_ports):  # all of them would change the entry of another register
        ctx.set(part.change_warps[port], WARP)
        ctx.set(part.change_registers[port], PARTNER ^ 1)
    ctx.set(part.change_entry, NEW)


def change(ctx, part: ResultPort, port: int, warp: int, register: int, counts: bool) -> None:
    """A port changes the entry of a register."""
    ctx.set(part.change_by, 1 << port)
    ctx.set(part.change_counts, counts)
    ctx.set(part.change_warps[port], warp)
    ctx.set(part.change_registers[port], register)


def partner_of(ctx, part: ResultPort) -> int:
    return ctx.get(part.partner_place.as_value()) | ctx.get(part.partner_mask) << 4


#: Port, warp, register, whether it is effective, whether the result has a partner; whether T follows.
CHANGES = [
    *((port, WARP, PARTNER, True, True, True) for port in range(3)),
    (1, WARP, PARTNER, False, True, False),
    (1, 1 - WARP, PARTNER, True, True, False),
    (1, WARP, PARTNER ^ 4, True, True, False),
    (1, WARP, 3, True, True, False),
    (1, WARP, PARTNER, True, False, False),
]


@pytest.mark.parametrize(("port", "warp", "register", "counts", "paired", "follows"), CHANGES)
@pytest.mark.parametrize("late", [0, 1, 2])
def test_t_follows_a_change_of_the_partner(late, port, warp, register, counts, paired, follows) -> None:
    """In the cycle in which the answers come, in the one in which T moves on to W0, or in between: W0 is in the way."""
    cfg = config("corf")
    part = ResultPort(cfg)

    async def bench(ctx) -> None:
        if late:
            await enter(ctx, part, 4, 0)  # it finds no slices, and stays
            ctx.set(part.changes, 1)
        await read_partner(ctx, part, cfg, paired=paired)
        for cycle in range(late + 1):
            changing = cycle == min(late, 1)
            if changing:
                change(ctx, part, port, warp, register, counts)
            ctx.set(part.found, cycle == late)
            assert ctx.get(part.advances) == (cycle == late)
            await ctx.tick()
            ctx.set(part.change_by, 0)
            ctx.set(part.partner_entry, 0)
        assert ctx.get(part.deciding) and not ctx.get(part.reading)
        assert ctx.get(part.with_partner) == paired
        assert partner_of(ctx, part) == (NEW if follows else READ)

    run(part, bench)


def test_w0_follows_nothing() -> None:
    cfg = config("corf")
    part = ResultPort(cfg)

    async def bench(ctx) -> None:
        await read_partner(ctx, part, cfg)
        await ctx.tick()
        change(ctx, part, 2, WARP, PARTNER, True)
        for _ in range(2):
            assert ctx.get(part.deciding) and partner_of(ctx, part) == READ
            await ctx.tick()

    run(part, bench)


def test_the_last_of_several_changes_of_the_partner_counts() -> None:
    cfg = config("corf")
    part = ResultPort(cfg)

    async def bench(ctx) -> None:
        await enter(ctx, part, 4, 0)
        ctx.set(part.changes, 1)
        await read_partner(ctx, part, cfg)
        for entry in (0b001 | 0b0011 << 4, NEW):
            change(ctx, part, 1, WARP, PARTNER, True)
            ctx.set(part.change_entry, entry)
            await ctx.tick()
        ctx.set(part.change_by, 0)
        ctx.set(part.found, 1)
        await ctx.tick()
        assert partner_of(ctx, part) == NEW

    run(part, bench)


def test_registers_of_a_pair_are_partners_and_the_later_pair_counts() -> None:
    cfg = config("corf")
    part = PairTable(cfg)

    async def bench(ctx) -> None:
        async def tell(*pairs: tuple[int, int]) -> None:
            ends = [end for pair in pairs for end in pair]
            ctx.set(part.told, 1)
            ctx.set(part.operand, sum(end << cfg.register_bits * at for at, end in enumerate(ends)))
            await ctx.tick()
            ctx.set(part.told, 0)

        def partners() -> dict[int, int]:
            found = {}
            for register in range(cfg.register_names):
                ctx.set(part.registers[0], register)
                if ctx.get(part.paired) & 1:
                    found[register] = ctx.get(part.partners[0])
            return found

        await tell((1, 2), (3, 3), (2, 4), (5, 5))
        assert partners() == {1: 2, 2: 4, 4: 2}
        await tell((6, 7), (0, 0), (0, 0), (5, 1))
        assert partners() == {1: 5, 2: 4, 4: 2, 5: 1, 6: 7, 7: 6}
        ctx.set(part.clear, 1)
        await ctx.tick()
        assert partners() == {}

    run(part, bench)


def test_sides_come_in_chunks() -> None:
    cfg = config("corf_plus", register_names=64)
    part = SideTable(cfg)

    async def bench(ctx) -> None:
        def side(register: int) -> int:
            ctx.set(part.registers[1], register)
            return ctx.get(part.sides[1])

        ctx.set(part.told, 1)
        ctx.set(part.operand, 1 << 52 | 2 << 2 | 1)
        await ctx.tick()
        ctx.set(part.told, 0)
        assert [side(register) for register in (0, 1, 25, 26, 27, 28, 52)] == [0, 0, 0, 1, 2, 0, 0]
        ctx.set(part.clear, 1)
        await ctx.tick()
        assert side(26) == 0

    run(part, bench)

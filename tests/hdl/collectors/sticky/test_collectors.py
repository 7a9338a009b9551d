"""Sticky collectors between a frame and a register file: a chain of beats, bits of storage, and lint at the edges."""

from pathlib import Path

import pytest

from tests.hdl.collectors.bench import accept, offer, simulate
from tests.hdl.collectors.sticky.bench import config
from tests.warpfile.verilog.test_generate import lint
from warpfile.hdl.collectors import allocation, dispatch
from warpfile.hdl.collectors.sticky import collectors, forwarding, unit
from warpfile.hdl.collectors.sticky.collectors import StickyUnits
from warpfile.hdl.stamp import convert
from warpfile.schemes import find
from warpfile.synth.netlist import instance_counts, read_modules

STAMPED = (allocation, dispatch, collectors, forwarding, unit)
#: R4 = R0 + R1, then R6 = R4 + R1 (docs/schemes/sticky.md, section 9).
A = {"source_valid": 0b11, "sources": [0, 1, 0], "dest": 4, "dest_count": 1, "full": 1}
B = {"source_valid": 0b11, "sources": [4, 1, 0], "dest": 6, "dest_count": 1, "full": 1}


def seen(ctx, part, *names):
    return tuple(ctx.get(getattr(part, name)) for name in names)


async def issue(ctx, part, beat, warp=0):
    """The beat is offered, and taken; returns what happens to its sources."""
    offer(ctx, part, warp, **beat)
    found = seen(ctx, part, "allocate", "hit", "expects", "late")
    await ctx.tick()
    offer(ctx, part, **beat)
    return found


async def serve(ctx, part, slots):
    for name in ("grant", "fill"):
        ctx.set(getattr(part, name), slots)
        await ctx.tick()
        ctx.set(getattr(part, name), 0)


def result(ctx, part, register=None, warp=0):
    """A result on port 0 that its bank accepts, or none."""
    payload = {} if register is None else {"writes": 1, "warp": warp, "register": register}
    ctx.set(part.result[0].payload, payload)
    ctx.set(part.result[0].valid, register is not None)
    ctx.set(part.result_accept, register is not None)


async def collect_and_leave(ctx, part):
    """A issues, is served by the banks, and leaves."""
    accept(ctx, part, 0)
    assert await issue(ctx, part, A) == (0b001, 0, 0, 0)
    assert seen(ctx, part, "kept", "request") == (0b11, 0b11)
    await serve(ctx, part, 0b11)
    assert ctx.get(part.marks) == 0b001
    await ctx.tick()


def test_the_reader_issues_when_its_producer_has_left_and_takes_its_result(monkeypatch):
    async def scene(ctx, part):
        await collect_and_leave(ctx, part)
        assert [ctx.get(some) for some in part.coming_registers] == [1 << 4, 0, 0]
        assert await issue(ctx, part, B) == (0b001, 0b10, 0b01, 0)
        assert seen(ctx, part, "request", "awaiting", "lacking") == (0, 0b001, 0b001)
        result(ctx, part, 4, warp=1)
        assert ctx.get(part.forward) == 0
        result(ctx, part, 4)
        assert ctx.get(part.forward) == 0b001
        await ctx.tick()
        result(ctx, part)
        assert seen(ctx, part, "coming", "awaiting", "lacking") == (0, 0, 0)
        assert ctx.get(part.chosen[0]) == 0b001

    simulate(monkeypatch, lambda: StickyUnits(config()), STAMPED, scene)


def test_a_reader_that_issues_as_the_result_is_accepted_asks_its_bank(monkeypatch):
    async def scene(ctx, part):
        await collect_and_leave(ctx, part)
        result(ctx, part, 4)
        assert await issue(ctx, part, B) == (0b001, 0b10, 0, 0b01)
        result(ctx, part)
        assert seen(ctx, part, "awaiting", "request") == (0, 0b001)

    simulate(monkeypatch, lambda: StickyUnits(config()), STAMPED, scene)


@pytest.mark.parametrize("warp", (0, 1))
def test_a_beat_of_another_warp_finds_nothing_and_takes_the_unit_allocated_longest_ago(monkeypatch, warp):
    async def scene(ctx, part):
        await collect_and_leave(ctx, part)
        result(ctx, part, 4)
        await ctx.tick()
        result(ctx, part)
        again = await issue(ctx, part, A | {"dest": 5}, warp)
        assert again == ((0b010, 0, 0, 0) if warp else (0b001, 0b11, 0, 0))

    simulate(monkeypatch, lambda: StickyUnits(config()), STAMPED, scene)


def modules_of(**changes):
    return read_modules(convert(lambda: StickyUnits(config(**changes)), "collectors"))


def bits(modules):
    """Flip-flops of all instances of each kind of module."""
    counts = instance_counts(modules, "collectors")
    return {name: counts[name] * facts.flip_flops for name, facts in modules.items()}


def test_storage_is_that_of_the_page():
    found, cfg = bits(modules_of(collectors=2)), config(collectors=2)
    plain = bits(modules_of(collectors=2, forward_results="none", keep_operands="none"))
    near = cfg.collectors * cfg.near_slots
    assert (near, cfg.warp_bits, cfg.register_bits) == (6, 2, 4)
    assert found["coming_bits"] == cfg.warps * cfg.register_names
    assert found["kept_slot"] == near * (1 + cfg.warp_bits + cfg.register_bits)
    # Awaiting slots and full; the names are in the slots.
    assert found["sticky_unit"] - plain["sticky_unit"] == near + cfg.collectors - near * cfg.register_bits
    assert found["collectors.ages"] == 1 and "collectors.ages" not in plain
    assert found["sticky_lane"] == plain["sticky_lane"]
    assert not {"coming_bits", "kept_slot"} & set(plain)


@pytest.mark.check
@pytest.mark.parametrize(
    "changes",
    [
        {"source_slots": 1, "collectors": 1},
        {"source_slots": 8, "ports": 6, "write_back_ports": 4, "retake": "same"},
        {"forward_results": "none"},
        {"keep_operands": "none", "collect": "lowest"},
        {"forward_results": "none", "keep_operands": "none"},
    ],
    ids=["least", "most", "keeps", "forwards", "neither"],
)
def test_configurations_at_the_edges_lint_clean(changes, tmp_path: Path):
    file = tmp_path / "design.v"
    file.write_text(find("sticky").verilog(config(**changes), probes=True))
    assert lint(file) == ""

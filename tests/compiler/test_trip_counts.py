"""Trip counts of loops against what warps execute, and loops that show none."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings

from tests.compiler.generated import graph, structured
from tests.emulator.harness import run
from warpfile.compiler.cfg import Cfg
from warpfile.compiler.loops import natural_loops
from warpfile.compiler.trip_counts import trip_counts
from warpfile.emulator.errors import ExecutionError
from warpfile.emulator.record import WarpRecords

COUNTED = """{start}
    top:
    {before}
    IADD3 R1, R1, {step}, RZ
    {after}
    {guard} BRA `(top)"""
PLAIN = {
    "start": "MOV R1, RZ", "before": "NOP", "step": "0x1", "after": "ISETP.LT.AND P0, PT, R1, 0x7, PT", "guard": "@P0",
}  # fmt: skip


def found(code: str) -> dict[int, int]:
    """Trips of all loops of a code that have constant ones, by header."""
    cfg = graph(code)
    return trip_counts(cfg, natural_loops(cfg))


def counted(**lines: str) -> dict[int, int]:
    return found(COUNTED.format(**PLAIN | lines))


def executed(cfg: Cfg, records: WarpRecords) -> Iterator[tuple[int, int, int]]:
    """By loop its header, and of each lane how often it enters and how often it is at the header."""
    for loop in natural_loops(cfg):
        for lane in range(32):
            way = [cfg.block_of[index] for index in lane_of(records, lane) if begins(cfg, index)]
            inside = [block in loop.blocks for block in way]
            entered = sum(now and not before for before, now in zip([False, *inside], inside, strict=False))
            yield loop.header, entered, way.count(loop.header)


def lane_of(records: WarpRecords, lane: int) -> list[int]:
    return [index for index, mask in zip(records.instruction, records.active, strict=True) if mask >> lane & 1]


def begins(cfg: Cfg, index: int) -> bool:
    return cfg.blocks[cfg.block_of[index]].start == index


def checked(code: str, records: WarpRecords) -> int:
    """How many loops have constant trips; every lane must have run so often through them."""
    trips = found(code)
    for header, entered, arrived in executed(graph(code), records):
        assert header not in trips or arrived == trips[header] * entered
    return len(trips)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(structured())
def test_lanes_run_through_loops_as_often_as_said(code: str) -> None:
    checked(code, run(code, live=0xFFFF).records)


def test_loops_of_all_kinds_run_as_often_as_said() -> None:
    rng, constant, without = random.Random(3), 0, 0
    for _ in range(400):
        start, bound = (rng.choice((0, 1, 5, -1, -7, 30, 0x7FFFFFFE, -0x80000000)) for _ in range(2))
        step = rng.choice((0, 1, 1, 2, 3, -1, -2, 0x10000000))
        relation = rng.choice(("LT", "LE", "GT", "GE", "EQ", "NE")) + rng.choice(("", ".U32"))
        test = f"ISETP.{relation}.AND P0, PT, R1, {bound & 0xFFFFFFFF:#x}, PT"
        lines = {
            "start": f"MOV R1, {start & 0xFFFFFFFF:#x}",
            "step": f"{step:#x}",
            "guard": rng.choice(("@P0", "@!P0")),
        }
        lines |= rng.choice(({"before": test, "after": "NOP"}, {"after": test}))
        code = COUNTED.format(**PLAIN | lines)
        trips = found(code).get(graph(code).block_of[1])
        try:
            records = run(code, limit=400).records
            constant += checked(code, records)
        except ExecutionError:
            without += trips is None
            assert trips is None or trips > 50, code
    assert constant > 100 and without > 50


def test_a_wrong_count_is_noticed() -> None:
    code = COUNTED.format(**PLAIN)
    assert checked(code, run(code).records) == 1
    with pytest.raises(AssertionError):
        checked(code, run(code.replace("0x7", "0x8")).records)


@pytest.mark.parametrize(
    ("lines", "trips"),
    [
        ({}, 7),
        ({"start": "IMAD.MOV.U32 R1, RZ, RZ, 0x2"}, 5),
        ({"start": "CS2R R0, SRZ"}, 7),
        ({"start": "MOV R1, 0x7", "step": "-0x1", "after": "ISETP.NE.AND P0, PT, R1, RZ, PT"}, 7),
        ({"before": "ISETP.LT.AND P0, PT, R1, 0x7, PT", "after": "NOP"}, 8),
        ({"after": "ISETP.GE.U32.AND P0, PT, R1, 0x7, PT", "guard": "@!P0"}, 7),
        ({"before": "NOP\ninner:\n@P1 BRA `(inner)"}, 7),
    ],
)
def test_counters_of_many_forms_are_read(lines: dict[str, str], trips: int) -> None:
    assert trips in counted(**lines).values()


def test_a_counter_of_sm_90_is_read() -> None:
    code = COUNTED.replace("IADD3 R1, R1, {step}, RZ", "VIADD R1, R1, {step}").format(**PLAIN)
    assert checked(code, run(code).records) == 1
    assert 7 in found(code).values()
    assert not found(code.replace("VIADD R1, R1, 0x1", "VIADD R1, R1, R2"))


@pytest.mark.parametrize(
    "lines",
    [
        {"start": "MOV R1, R2"},
        {"start": "@P1 MOV R1, RZ"},
        {"start": "MOV R1, 0x1\n@P1 MOV R1, RZ"},
        {"step": "R2"},
        {"after": "ISETP.LT.AND P0, PT, R1, R2, PT"},
        {"after": "@P1 ISETP.LT.AND P0, PT, R1, 0x7, PT"},
        {"after": "ISETP.LT.AND P0, PT, R1, 0x7, P1"},
        {"after": "ISETP.LT.AND.EX P0, PT, R1, 0x7, PT, P2"},
        {"after": "FSETP.LT.AND P0, PT, R1, 0x7, PT"},
        {"after": "ISETP.NE.AND P0, PT, R1, 0x7, PT", "step": "0x2"},
        {"after": "ISETP.EQ.AND P0, PT, R1, 0x1, PT"},
        {"before": "@P1 EXIT"},
        {"before": "@P1 BRA `(out)", "guard": "@P0 BRA `(top)\nout:\n@P2"},
        {"before": "@P1 IADD3 R1, R1, 0x1, RZ"},
        {"before": "NOP\ninner:\nIADD3 R1, R1, 0x1, RZ\n@P1 BRA `(inner)"},
        {"before": "CALL.REL.NOINC `(sub)", "guard": "@P0 BRA `(top)\nEXIT\nsub:\nRET.REL.NODEC R20 `(k)\n@P0"},
        {"start": "MOV R1, RZ\nouter:\nNOP", "guard": "@P0 BRA `(top)\n@P1 BRA `(outer)\n@P2"},
        {"guard": "@P0 BRA `(top)\n@P1 BRA `(b)\na:\nNOP\nb:\n@P2 BRA `(a)\n@!PT"},
    ],
)
def test_loops_that_show_no_constant_have_none(lines: dict[str, str]) -> None:
    assert not counted(**lines)


def test_a_counter_that_is_set_in_every_round_of_the_loop_around_it_is_a_constant() -> None:
    code = COUNTED.format(**PLAIN)
    assert set(found(f"outer:\n{code}\n@P1 BRA `(outer)").values()) == {7}

"""Rewritten kernels and generated programs under an interpreter that takes the extended set away at every REL."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiler.generated import BEGIN, _Writer, graph
from tests.compiler.irregular import irregular
from tests.compiler.passes.regmutex.crowded import SCATTERED, SHORT, crowded
from tests.compiler.passes.regmutex.harness import KERNELS, config, kernel, plan_for, with_base
from tests.compiler.passes.regmutex.interpreter import Interpreter, judged
from tests.compiler.passes.regmutex.scheduler import finishes
from tests.emulator.harness import run
from warpfile.compiler.passes.regmutex import layout
from warpfile.compiler.passes.regmutex.annotate import annotate
from warpfile.compiler.passes.regmutex.stretches import Stretches
from warpfile.emulator.record import WarpRecords
from warpfile.emulator.warp import Warp
from warpfile.spec.rewrite import original
from warpfile.spec.trace import Kind, StaticInstruction, Trace


def fitting(trace: Trace, **changes: object) -> Trace:
    """A trace with the largest extended set, up to 35 of 100, that its code allows; without if there is none."""
    for size in range(trace.registers * 35 // 100, 0, -1):
        try:
            return annotate(config(rows=256, es_override=size, **changes), trace, None)
        except ValueError as error:
            refused = str(error)
    assert any(why in refused for why in ("may wait for another warp", "pair_state", "barrier", "for all lanes"))
    return annotate(config(es_rule="off"), trace, None)


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_bundled_kernels_find_what_they_read(name: str) -> None:
    trace = fitting(kernel(name))
    verdict = judged(trace)
    assert not verdict.wrong
    assert verdict.counts["ACQ"] >= verdict.counts["REL"]
    assert same(original(trace), kernel(name))


def same(one: Trace, other: Trace) -> bool:
    return np.array_equal(one.values, other.values) and np.array_equal(one.instruction, other.instruction)


def test_most_bundled_kernels_borrow_registers() -> None:
    counts = {name: judged(fitting(kernel(name))).counts["extended"] for name in ("chacha", "matmul_tiled", "nbody")}
    assert min(counts.values()) > 500


def test_names_that_change_places_while_all_are_live_are_exchanged() -> None:
    trace = annotate(config(rows=256, es_override=10), kernel("chacha"), None)
    assert any(static.inserted and static.opcode == "LOP3.LUT" for static in trace.program)
    assert not judged(trace).wrong


@pytest.mark.regress
@pytest.mark.parametrize("name", sorted(KERNELS))
@pytest.mark.parametrize(
    "changes", [{"merge_gap": 8}, {"hoist": 1}, {"sharing": "pairs"}, {"sharing": "pairs", "pair_state": "pair"}]
)
def test_bundled_kernels_find_what_they_read_with_other_settings(name: str, changes: dict[str, object]) -> None:
    assert not judged(fitting(kernel(name), **changes), strict="pair_state" in changes).wrong


@pytest.mark.regress
@pytest.mark.parametrize("name", sorted(KERNELS))
@pytest.mark.parametrize("rows", [8, 16, 32])
def test_bundled_kernels_find_what_they_read_in_small_files(name: str, rows: int) -> None:
    assert not judged(annotate(config(rows=rows), kernel(name), None)).wrong


def first_warp(trace: Trace, records: Iterable[int]) -> Interpreter:
    """The verdict about these records of one warp."""
    interpreter = Interpreter(trace.descriptor["base_registers"])
    interpreter.warp(trace, records)
    return interpreter


def inserted(trace: Trace, opcode: str) -> list[int]:
    """Records of the first warp that were inserted with this opcode."""
    records = range(int(trace.warp_start[1]))
    found = ((record, trace.program[trace.instruction[record]]) for record in records)
    return [record for record, static in found if static.inserted and static.opcode == opcode]


@pytest.mark.parametrize(("opcode", "least"), [("MOV", 5), ("ACQ", 2)])
def test_an_instruction_left_out_is_noticed(opcode: str, least: int) -> None:
    trace = fitting(kernel("chacha"))
    records = range(int(trace.warp_start[1]))
    assert not first_warp(trace, records).wrong
    places = inserted(trace, opcode)
    assert sum(bool(first_warp(trace, [r for r in records if r != place]).wrong) for place in places) >= least


def test_an_early_release_is_noticed() -> None:
    trace = fitting(kernel("chacha"))
    records, again = range(int(trace.warp_start[1])), inserted(trace, "REL")[-1]
    for place in range(inserted(trace, "ACQ")[0] + 40, again, 100):
        assert first_warp(trace, [*records[:place], again, *records[place:]]).wrong


@st.composite
def barriered(draw: st.DrawFn) -> str:
    """Structured code with barriers between its parts and up to ten more registers that live across some of them."""
    writer = _Writer(draw)
    writer.lines += BEGIN
    for part in range(draw(st.integers(1, 3))):
        more = draw(st.integers(0, 5))
        writer.lines += [f"IADD3 R{14 + 2 * part + number}, R2, {number:#x}, RZ" for number in range(more)]
        if more > 1 and draw(st.booleans()):
            writer.lines.append(f"IMAD.WIDE R{14 + 2 * part}, R3, R4, R{14 + 2 * part}")
        writer.statements(draw(st.integers(0, 2)))
        writer.lines += [f"IADD3 R2, R2, R{14 + 2 * part + number}, RZ" for number in range(more)]
        if draw(st.booleans()):
            writer.lines.append("BAR.SYNC 0x0")
    return "\n".join(writer.lines)


def records_of(code: str, taken_first: bool) -> WarpRecords:
    """What a warp of half its lanes executes, with the sides of branches in this order."""
    with pytest.MonkeyPatch.context() as patch:
        if taken_first:
            patch.setattr(Warp, "jump", _taken_first)
        return run(code, live=0xFFFF).records


_FALLING_FIRST = Warp.jump


def _taken_first(warp: Warp, index: int, target: int, active: int, taken: int) -> int:
    if taken in (0, active):
        return _FALLING_FIRST(warp, index, target, active, taken)
    warp.lanes.fork(index + 1, active & ~taken)
    warp.mask = taken
    return target


def bases(code: str) -> Iterator[int]:
    """Base sets that a program can do with, the smallest first."""
    for base in range(4, 18, 2):
        try:
            plan_for(graph(code).function, base)
        except ValueError:
            continue
        yield base


@settings(max_examples=40, deadline=None, derandomize=True)
@given(barriered(), st.booleans(), st.sampled_from([{}, {}, {"merge_gap": 3}, {"hoist": 1}]))
def test_generated_programs_find_what_they_read(code: str, taken_first: bool, changes: dict[str, int]) -> None:
    function, records = graph(code).function, records_of(code, taken_first)
    for base in islice(bases(code), 2):
        try:
            trace = with_base(function, base, [records], **changes)
        except ValueError:
            continue
        assert not judged(trace).wrong


@settings(max_examples=25, deadline=None, derandomize=True)
@given(barriered(), st.integers(0, 9))
def test_generated_programs_end_with_one_section(code: str, seed: int) -> None:
    function = graph(code).function
    records = [records_of(code, False), records_of(code, True), records_of(code, False)]
    for base in islice(bases(code), 1):
        trace = with_base(function, base, records)
        assert finishes(streams(trace), 1, seed)


def streams(trace: Trace) -> list[list[StaticInstruction]]:
    ends = zip(trace.warp_start[:-1].tolist(), trace.warp_start[1:].tolist(), strict=True)
    return [[trace.program[k] for k in trace.instruction[start:end].tolist()] for start, end in ends]


def test_a_section_held_at_a_barrier_hangs() -> None:
    trace = fitting(kernel("matmul_tiled"))
    warps = streams(trace)[:4]
    assert finishes(warps, 1, 0)
    assert not finishes([[one for one in warp if one.opcode != "REL"] for warp in warps], 1, 0)


@pytest.mark.check
@settings(max_examples=40, deadline=None, derandomize=True)
@given(barriered(), st.booleans())
def test_code_for_one_bit_per_pair_never_repeats_itself(code: str, taken_first: bool) -> None:
    function, records = graph(code).function, records_of(code, taken_first)
    for base in islice(bases(code), 2):
        try:
            trace = with_base(function, base, [records], sharing="pairs", pair_state="pair")
        except ValueError as error:
            assert "pair_state must be warp" in str(error)
            continue
        assert not judged(trace, strict=True).wrong


def judged_seed(seed: int) -> Interpreter | None:
    """The verdict about a program with any control flow; None if the pass does not take it."""
    execution, base = irregular(seed), random.Random(seed).randint(4, 9)
    try:
        return judged(with_base(execution.function, base, [execution.records]))
    except ValueError:
        return None


def test_programs_with_any_control_flow_find_what_they_read() -> None:
    counts: Counter[str] = Counter()
    for seed in range(300):
        verdict = judged_seed(seed)
        assert verdict is None or not verdict.wrong, seed
        counts += verdict.counts if verdict else Counter()
    assert counts["extended"] > 300 and counts["REL"] > 40


def test_a_release_while_lanes_elsewhere_need_the_section_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stretches, "crowded", lambda self: set())
    assert [seed for seed in (505, 644, 658) if (verdict := judged_seed(seed)) and verdict.wrong] == [505, 644, 658]


def judged_crowd(seed: int) -> Interpreter:
    """The verdict about a program with many registers and wide operands; with a base set of any size."""
    code = crowded(seed)
    records, base = records_of(code, bool(seed % 2)), random.Random(seed).randint(5, 18)
    return judged(with_base(graph(code).function, base, [records]))


def test_programs_with_scattered_registers_find_what_they_read(monkeypatch: pytest.MonkeyPatch) -> None:
    reserved = Counter[bool]()

    def counted(*facts: Any) -> dict[int, frozenset[int]]:
        found = more_reserved(*facts)
        reserved[facts[-1] in found.values()] += 1
        return found

    more_reserved = layout._more_reserved
    monkeypatch.setattr(layout, "_more_reserved", counted)
    for seed in range(300):
        assert not judged_crowd(seed).wrong, seed
    assert reserved[False] > 10 and reserved[True] > 5


def test_names_that_change_without_a_move_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "parallel_copy", lambda *facts: [])
    assert sum(bool(judged_crowd(seed).wrong) for seed in range(20)) > 10


def test_a_register_that_is_not_moved_out_of_the_way_is_noticed() -> None:
    code = SCATTERED.format(first=SHORT, top="", again="")
    function, records = graph(code).function, records_of(code, False)
    trace = with_base(function, 5, [records])
    place = next(record for record in inserted(trace, "MOV") if record > inserted(trace, "ACQ")[1])
    kept = range(int(trace.warp_start[1]))
    assert not first_warp(trace, kept).wrong
    assert first_warp(trace, [record for record in kept if record != place]).wrong


def test_a_barrier_of_the_rewritten_stream_is_never_reached_with_a_section() -> None:
    trace = fitting(kernel("matmul_tiled"))
    assert any(static.kind == Kind.BARRIER for static in trace.program)
    assert not [line for line in judged(trace).wrong if "barrier" in line]

"""Loads that race, by hand and against a search through all pairs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.compiler.passes.regmutex.harness import kernel
from tests.golden.scenario import BAR, LANES, hand_trace, op
from warpfile.compiler.passes.shared.accesses import accesses
from warpfile.compiler.passes.shared.races import hidden_conflicts, racy
from warpfile.schemes.compose import find
from warpfile.spec.schemes.shared import FLUSH, LOAD, PLAIN, STORE
from warpfile.spec.trace import Access, Kind, Port, Space, StaticInstruction, Trace


def access(kind: Access, at: int, stride: int = 4, size: int = 4) -> StaticInstruction:
    """A load to R4 or a store of R4; its text has the address of lane 0 and the stride."""
    name = "LDG.E" if kind == Access.LOAD else "STG.E"
    where = {"dest": 4, "dest_count": 1} if kind == Access.LOAD else {}
    sources = () if kind == Access.LOAD else (4,)
    return op(
        sources,
        **where,
        port=Port.LSU,
        space=Space.GLOBAL,
        access=kind,
        bytes=size,
        opcode=name,
        text=f"{at} {stride}",
    )


def load(at: int, **other: int) -> StaticInstruction:
    return access(Access.LOAD, at, **other)


def store(at: int, **other: int) -> StaticInstruction:
    return access(Access.STORE, at, **other)


def addressed(*warps: list[StaticInstruction], ctas: list[int] | None = None) -> Trace:
    """These accesses at the addresses that their texts say. The registers hold nothing that is known."""
    trace = hand_trace(*warps, ctas=ctas)
    rows, found = [], []
    for static in (trace.program[index] for index in trace.instruction.tolist()):
        rows.append(len(found) if static.access else -1)
        if static.access:
            at, stride = map(int, static.text.split())
            found.append(at + stride * np.arange(LANES))
    addresses = np.array(found, dtype=np.uint64)
    return dataclasses.replace(trace, address_row=np.array(rows, dtype=np.int64), addresses=addresses)


def races(trace: Trace) -> list[bool]:
    """By access, whether it races; all are taken for loads and stores whose addresses are known."""
    found = accesses(trace)
    loads = np.array([trace.program[trace.instruction[one]].access == Access.LOAD for one in found.record])
    return racy(trace, dataclasses.replace(found, kind=np.where(loads, LOAD, STORE))).tolist()


@pytest.mark.parametrize(
    ("warps", "ctas", "expected"),
    [
        ([[load(0)], [load(0)]], None, [False, False]),
        ([[store(0), load(0)]], None, [False, False]),
        ([[store(0)], [load(0)]], None, [False, True]),
        ([[store(0)], [load(128)]], None, [False, False]),
        ([[store(0)], [load(124)]], None, [False, True]),
        ([[store(0, stride=16, size=16)], [load(508)]], None, [False, True]),
        ([[store(0), BAR], [BAR, load(0)]], None, [False, False]),
        ([[store(0), BAR], [load(0), BAR]], None, [False, True]),
        ([[store(0), BAR], [BAR, load(0)]], [0, 1], [False, True]),
        ([[load(0), BAR, store(0)], [load(0), BAR]], None, [False, False, False]),
    ],
)
def test_a_race_is_a_store_of_another_warp_without_a_barrier_between(
    warps: list[list[StaticInstruction]], ctas: list[int] | None, expected: list[bool]
) -> None:
    assert races(addressed(*warps, ctas=ctas)) == expected


def slowly(trace: Trace) -> list[bool]:
    """The same by comparing every two accesses."""
    found = []
    for warp in range(trace.warps):
        epoch = 0
        for record in range(trace.warp_start[warp], trace.warp_start[warp + 1]):
            static = trace.program[trace.instruction[record]]
            if static.kind == Kind.BARRIER:
                epoch += 1
            if static.access:
                words = {int(one) // 4 for one in trace.addresses[trace.address_row[record]]}
                found.append((static.access, words, warp, trace.warp_cta[warp], epoch))
    return [
        kind == Access.LOAD
        and any(
            other == Access.STORE and words & written and warp != writer and (cta != there or epoch == then)
            for other, written, writer, there, then in found
        )
        for kind, words, warp, cta, epoch in found
    ]


@pytest.mark.parametrize("seed", range(12))
def test_races_are_those_of_all_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def drawn() -> StaticInstruction:
        what = rng.integers(0, 4)
        return BAR if what == 0 else (store if what == 1 else load)(4 * int(rng.integers(0, 200)))

    trace = addressed(*([drawn() for _ in range(8)] for _ in range(4)), ctas=[0, 0, 1, 1])
    assert races(trace) == slowly(trace)


def test_a_racy_kernel_gets_a_note_and_its_loads_stay_in_memory() -> None:
    cfg = find("larf").configuration("tiny")
    trace = addressed([store(0, stride=0)], [load(0, stride=0), load(256, stride=0)])
    annotated = find("larf").annotated(cfg, trace)
    assert annotated.notes == (
        "1 of 2 global loads read words that other warps write without order: they are not shared",
    )
    assert (annotated.hints & 3).tolist() == [STORE, 0, PLAIN, LOAD, 0]
    again = find("larf").annotated(cfg, dataclasses.replace(annotated, annotation=""))
    assert again.notes == annotated.notes


def test_products_that_other_warps_have_stored_are_ordered_by_barriers() -> None:
    trace = kernel("matmul_3mm")
    found = accesses(trace)
    assert (found.kind == LOAD).any() and not racy(trace, found).any()
    program = tuple(dataclasses.replace(one, kind=Kind.NORMAL) for one in trace.program)
    assert racy(dataclasses.replace(trace, program=program), found).any()


def test_words_of_lanes_that_are_not_built_end_all_entries() -> None:
    trace = addressed([load(0), store(-32 + 1024), store(1024)])
    found = accesses(trace)
    found.kind[:] = [LOAD, STORE, STORE]
    assert hidden_conflicts(trace, found, 4).tolist() == [False, False, False]
    other = addressed([load(1024), store(1024 - 64), store(4096)])
    found = accesses(other)
    found.kind[:] = [LOAD, STORE, STORE]
    assert hidden_conflicts(other, found, 4).tolist() == [False, True, False]
    assert hidden_conflicts(other, found, LANES).tolist() == [False, False, False]


def test_a_fence_beyond_the_cta_ends_all_entries_and_one_of_the_cta_none() -> None:
    cfg = find("larf").configuration("tiny")
    fence = op(port=Port.NONE, opcode="MEMBAR.SC.GPU", text="MEMBAR.SC.GPU")
    within = dataclasses.replace(fence, opcode="MEMBAR.SC.CTA")
    trace = find("larf").annotated(cfg, hand_trace([fence, within]))
    assert [static.port for static in trace.program] == [Port.LSU, Port.NONE, Port.NONE]
    assert (trace.hints & 3).tolist() == [FLUSH, PLAIN, PLAIN]

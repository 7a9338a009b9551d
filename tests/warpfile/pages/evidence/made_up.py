"""Studies without runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from warpfile.pages.evidence.reuse import Reuse
from warpfile.pages.evidence.study import Outcome, Point, Run, Study
from warpfile.spec.trace import Kind, Port, StaticInstruction, Trace

KERNELS = ("one", "other")


class Sevens(Counter[str]):
    """Counters that are all seven."""

    def __missing__(self, key: str) -> int:
        return 7


class Asked(Mapping[Run, Outcome]):
    """Answers every run with something that differs from seed to seed, and remembers what was asked."""

    def __init__(self) -> None:
        self.runs: set[Run] = set()

    def __getitem__(self, run: Run) -> Outcome:
        self.runs.add(run)
        cycles = 1000 + 37 * run.seed + sum(map(ord, repr((run.point, run.kernel)))) % 101
        return Outcome(cycles, 500, Sevens(bank_reads=1000 + run.seed), ((1, 2, 3),))

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)


def answering() -> tuple[Study, set[Run]]:
    """A study that answers everything, and the runs that it was asked for."""
    asked = Asked()
    return Study(asked, KERNELS, lambda _: Reuse(straight(((1, 2), (3,)), ((3,), (4,))))), asked.runs


def counted(counts: Mapping[tuple[Point, str], Mapping[str, int]]) -> Study:
    """A study with these counts at seed 0."""
    kernels = tuple(dict.fromkeys(kernel for _, kernel in counts))
    outcomes = {Run(point, kernel): Outcome(1, 1, found) for (point, kernel), found in counts.items()}
    return Study(outcomes, kernels, lambda _: Reuse(straight()))


def straight(
    *accesses: tuple[tuple[int, ...], tuple[int, ...]],
    warps: int = 1,
    branches: tuple[int, ...] = (),
    order: tuple[int, ...] = (),
    execute: int = 0xFFFFFFFF,
) -> Trace:
    """A trace of instructions with these sources and consecutive destinations, executed in order by every warp."""
    program = tuple(
        StaticInstruction(
            offset=16 * number,
            opcode="OP",
            text="",
            port=Port.ALU,
            kind=Kind.BRANCH if number in branches else Kind.NORMAL,
            sources=sources,
            dest=dests[0] if dests else 0,
            dest_count=len(dests),
        )
        for number, (sources, dests) in enumerate(accesses)
    )
    once = list(order or range(len(program)))
    instruction = np.array(once * warps, dtype=np.int32)
    masks, rows = np.full(len(instruction), execute, np.uint32), np.full(len(instruction), -1, np.int64)
    return Trace(
        kernel="made up",
        grid=(1, 1, 1),
        block=(32 * warps, 1, 1),
        shared_bytes=0,
        registers=8,
        source="accelsim",
        listing="",
        program=program,
        warp_start=np.arange(warps + 1) * len(once),
        warp_cta=np.zeros(warps, np.int32),
        instruction=instruction,
        active=masks,
        execute=masks,
        live=masks,
        value_row=rows,
        values=np.zeros((0, 32), np.uint32),
        written=np.zeros(0, np.uint32),
        address_row=rows,
        addresses=np.zeros((0, 32), np.uint64),
    )

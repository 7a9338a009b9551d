"""``python -m tests.machines FIRST LAST``: random machines of these numbers, and what they reached, scheme by scheme.

Every machine runs in lockstep; with ``--wide`` it is generated at full width and passes lint instead.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tests.machines.draw import drawn
from tests.machines.run import lockstep, passes_lint
from warpfile.output.display import say, show_table
from warpfile.schemes import SCHEMES
from warpfile.sim.plan import Outcome
from warpfile.sim.simulators import RUNTIMES

_KEPT = Path("build") / "machines"


@dataclass(frozen=True)
class Run:
    """What a machine reached: compared cycles and operands, or what went wrong; and the seconds of its processors."""

    name: str
    number: int
    cycles: int = 0
    operands: int = 0
    problem: str = ""
    seconds: float = 0.0


def main() -> int:
    """Run them; the status is 1 if something went wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.machines", description=__doc__)
    parser.add_argument("first", type=int, metavar="FIRST")
    parser.add_argument("last", type=int, metavar="LAST")
    parser.add_argument("--scheme", action="append", choices=tuple(SCHEMES), help="may be repeated; default: all")
    parser.add_argument("--wide", action="store_true", help="generation and lint at full width in place of lockstep")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if not 0 <= options.first <= options.last:
        parser.error(f"FIRST and LAST must be numbers from 0 on in this order, not {options.first} and {options.last}")
    os.environ.setdefault(RUNTIMES, str(Path("build/sim").resolve()))
    numbers = range(options.first, options.last + 1)
    todo = [(name, number, options.wide) for number in numbers for name in options.scheme or SCHEMES]
    runs = sorted(_all(todo, options.jobs), key=lambda run: (list(SCHEMES).index(run.name), run.number))
    show_table(("scheme", "machines", "cycles", "operands compared", "went wrong", "CPU s"), _rows(runs))
    for run in runs:
        if run.problem:
            say(f"machine {run.number} of {run.name}: {run.problem}")
    return int(any(run.problem for run in runs))


def _all(todo: list[tuple[str, int, bool]], jobs: int) -> Iterator[Run]:
    """Run all, by number; says so after every number."""
    with ProcessPoolExecutor(jobs) as pool:
        done: list[Run] = []
        for run in pool.map(_one, *zip(*todo, strict=True)):
            if done and run.number != done[-1].number:
                say(f"{done[-1].number}: {len(done)} machines, {sum(bool(one.problem) for one in done)} went wrong")
            done.append(run)
            yield run


def _one(name: str, number: int, wide: bool) -> Run:
    """A machine in a folder of its own, which a failure leaves behind."""
    _KEPT.mkdir(parents=True, exist_ok=True)
    folder, before = Path(tempfile.mkdtemp(prefix=f"{name}-{number}-", dir=_KEPT)).resolve(), _cpu()
    found: list[Outcome] = []
    try:
        if wide:
            passes_lint(name, number, folder)
        else:
            found = lockstep(name, number, drawn(name, number), folder)
    except Exception as problem:
        (folder / "problem.txt").write_text(traceback.format_exc())
        return Run(name, number, problem=f"{type(problem).__name__} {problem}"[:500], seconds=_cpu() - before)
    shutil.rmtree(folder)
    cycles, operands = (sum(getattr(one, what) for one in found) for what in ("cycles", "operands_checked"))
    return Run(name, number, cycles, operands, seconds=_cpu() - before)


def _cpu() -> float:
    """Seconds of this process and of the programs that it has started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _rows(runs: Iterable[Run]) -> Iterator[tuple[object, ...]]:
    for name, group in groupby(runs, key=lambda run: run.name):
        own = list(group)
        yield (
            name,
            len(own),
            *(sum(getattr(one, what) for one in own) for what in ("cycles", "operands")),
            sum(bool(one.problem) for one in own),
            round(sum(one.seconds for one in own), 1),
        )


if __name__ == "__main__":
    sys.exit(main())

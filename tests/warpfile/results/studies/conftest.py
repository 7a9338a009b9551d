"""Studies that take no time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from warpfile.results.points import Outcome
from warpfile.results.studies.plan import Plan, study_plan
from warpfile.results.studies.tasks import GOLDEN, Done, Task, finished

Planned = Callable[..., Plan]
GROUP = {"schemes": ["bow"], "presets": ["tiny"]}


class Sevens(dict[str, int]):
    """Counters that are all seven."""

    def __missing__(self, key: str) -> int:
        return 7


def plan(*groups: Mapping[str, Any], **fields: Any) -> Plan:
    """The plan of a table; bow at tiny on saxpy if nothing else is said."""
    table = {"kernels": ["saxpy"], "machines": list(groups) or [GROUP], **fields}
    return study_plan(table, Path(), "study")


def ran(cycles: int = 100, **facts: Any) -> Done:
    """A golden run of fifty instructions."""
    return finished(asdict(Outcome(cycles, 50, {})) | {"counters": Sevens(), **facts})


def answered(asked: Plan, **of: Done) -> dict[Task, Done]:
    """Outcomes of all tasks: a golden run of 100 cycles, or what is given for a scheme."""
    return {task: of.get(task.run.point.scheme, ran()) for task in asked.tasks if task.kind == GOLDEN}


@pytest.fixture(scope="session")
def threads() -> Iterator[str]:
    """Address of a scheduler whose worker is in this process."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0") as cluster:
        yield cluster.scheduler_address

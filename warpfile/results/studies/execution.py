"""Tasks on a Dask cluster: one of this machine's processes, or the user's own. Only this process keeps outcomes."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from warpfile.output.display import Report, left
from warpfile.results import result_cache
from warpfile.results.studies.tasks import FAILED, REFUSED, Done, Task, finished, run_task

if TYPE_CHECKING:
    from distributed import Client

_PATIENCE = "10 s"  #: for a scheduler to answer


class Pace:
    """For how long a study goes on, by how long tasks of each kind took so far."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._open = Counter(task.kind for task in tasks)
        self._ended: Counter[str] = Counter()
        self._seconds: Counter[str] = Counter()

    def note(self, kind: str, seconds: float) -> None:
        """A task has ended."""
        self._open[kind] -= 1
        self._ended[kind] += 1
        self._seconds[kind] += seconds  # type: ignore[assignment]  # seconds are no whole number

    def left(self, workers: int) -> str:
        """The estimate; kinds of which nothing has ended yet are not in it."""
        known = [kind for kind, count in self._ended.items() if count]
        seconds = sum(self._open[kind] * self._seconds[kind] / self._ended[kind] for kind in known) / max(workers, 1)
        unknown = [kind for kind, count in self._open.items() if count and kind not in known]
        return " and ".join((left(seconds), *unknown))


def outcomes(
    tasks: Iterable[Task], connected: Callable[[], Iterator[Client]], report: Report, *, fresh: bool = False
) -> dict[Task, Done]:
    """What comes of all tasks: kept facts, unless ``fresh``, and those of tasks that run now.

    ``connected`` makes the context of a cluster, only if something has to run. Facts are kept as they come, so that
    the next call goes on behind an interrupt. Raises ``ValueError`` for workers with other sources than this process.
    """
    keys, found = _keys(tasks)
    found |= {
        task: finished(facts)
        for task, key in keys.items()
        if not fresh and (facts := result_cache.find(key)) is not None
    }
    missing = [task for task in keys if task not in found]
    if not missing:
        return found
    pace, total = Pace(missing), len(found) + len(missing)
    report("begins", len(found), total)
    with contextmanager(connected)() as client:
        for task, one in _run(client, {keys[task]: task for task in missing}):
            if one.facts:
                result_cache.keep(keys[task], one.facts)
            found[task] = one
            pace.note(task.kind, one.seconds)
            workers = sum(cast("Mapping[str, int]", client.nthreads()).values())
            report(f"{task.label} ended, {workers} at work, {pace.left(workers)}", len(found), total)
    return found


def _keys(tasks: Iterable[Task]) -> tuple[dict[Task, str], dict[Task, Done]]:
    """Keys of tasks, and what comes of those whose machine is impossible at their seed."""
    keys, refused = {}, {}
    for task in tasks:
        try:
            keys[task] = task.key
        except ValueError as error:
            refused[task] = Done(REFUSED, {}, str(error))
    return keys, refused


def _run(client: Client, tasks: Mapping[str, Task]) -> Iterator[tuple[Task, Done]]:
    """Every task with what came of it, in the order in which they end. Dask repeats those of a worker that dies."""
    from distributed import as_completed

    futures = (client.submit(run_task, task, key, key=key) for key, task in tasks.items())
    for future, one in as_completed(futures, with_results=True, raise_errors=False):
        if not isinstance(one, Done):
            one = Done(FAILED, {}, _killed(one))
        if one.foreign:
            raise ValueError(
                "workers of the cluster must have the sources and kernels of this process, and have others"
            )
        yield tasks[future.key], one


def _killed(error: object) -> str:
    """Why a task has not ended at all."""
    found = error[1] if isinstance(error, tuple) else error
    return f"{type(found).__name__}: {_line(found)}"


def local(workers: int) -> Iterator[Client]:
    """As many processes of this machine, each with one task at a time."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        memory_limit=0,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
        preload=["warpfile.results.studies.preload"],
    )
    with cluster, Client(cluster) as client:
        yield client


def remote(address: str) -> Iterator[Client]:
    """The user's own cluster. Raises ``ValueError`` if its scheduler does not answer, or does no longer."""
    from distributed import Client

    for name in ("distributed", "distributed.client"):  # what is wrong is said in one line
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"--scheduler must be the address of a Dask scheduler that answers, like tcp://host:8786, not {address}:"
            f" {_line(error)}"
        ) from None
    try:
        with client:
            yield client
    except OSError as error:
        if error.filename:
            raise
        raise ValueError(
            f"the scheduler at {address} must answer to the end: {_line(error)}; what has ended is kept"
        ) from None


def _line(error: object) -> str:
    return " ".join(str(error).split())

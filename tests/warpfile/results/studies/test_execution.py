"""Nothing is lost and nothing counted twice: tasks on clusters whose workers die, differ or were interrupted."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pyarrow.parquet
import pytest
from distributed import Client, LocalCluster

from tests.warpfile.conftest import Invoke
from tests.warpfile.results.studies.conftest import plan
from warpfile.output.display import silent
from warpfile.results import result_cache
from warpfile.results.points import golden
from warpfile.results.studies import tasks
from warpfile.results.studies.execution import Pace, outcomes, remote
from warpfile.results.studies.tasks import AREA, DIFFERENT, FAILED, GOLDEN, LOCKSTEP, OK, REFUSED, Task, run_task

SEEDS = (-4, -2, 0, 2, 4, 6)
#: A machine whose baseline has as many units as it has windows, so that it is the matched baseline, too.
PAIR = {"schemes": ["bow"], "presets": ["tiny"], "set": {"collectors": 5}}


@pytest.fixture
def processes(folder: Path) -> Iterator[LocalCluster]:
    """A cluster of two processes that are started again when they die."""
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0") as cluster:
        yield cluster


def no_client() -> Iterator[Client]:
    """The cluster of a study that has nothing to run."""
    raise AssertionError("nothing must run")
    yield


def killed_half_way(address: str, enough: int, killed: list[str]) -> None:
    """Kill a worker that is at work as soon as so much is kept; notes the tasks that it had."""
    deadline = time.monotonic() + 60
    with Client(address, set_as_default=False) as client:
        pids = client.run(os.getpid)
        while len(list(result_cache.KEPT.glob("*.json"))) < enough and time.monotonic() < deadline:
            time.sleep(0.02)
        while not killed and time.monotonic() < deadline:
            for worker, some in client.processing().items():
                if some and worker in pids:
                    os.kill(pids[worker], signal.SIGKILL)
                    killed.extend(some)
                    break


@pytest.mark.check
def test_a_worker_that_dies_half_way_costs_no_point_and_doubles_none(invoke: Invoke, processes: LocalCluster) -> None:
    killed: list[str] = []
    killer = threading.Thread(target=killed_half_way, args=(processes.scheduler_address, 4, killed))
    killer.start()
    arguments = ("--kernel", "collatz", "--scheme", "bow", "--preset", "tiny", "--seeds", ",".join(map(str, SEEDS)))
    result = invoke("study", *arguments, "--scheduler", processes.scheduler_address, "-o", "out")
    killer.join()
    assert result.exit_code == 0, result.output
    study = plan(kernels=["collatz"], seeds=list(SEEDS))
    keys = {task.key for task in study.tasks}
    assert killed and keys.issuperset(killed)
    assert {path.stem for path in result_cache.KEPT.iterdir()} == keys and len(keys) == 3 * len(SEEDS)
    rows = pyarrow.parquet.read_table("out/results.parquet").to_pylist()
    assert [row["seed"] for row in rows] == list(SEEDS)
    for row, case in list(zip(rows, study.cases, strict=True))[::5]:
        assert (row["cycles"], row["status"]) == (golden(case.task(GOLDEN).run).cycles, "ok")


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], dict[str, object]]], list[int]]:
    """Replaces the work of golden runs; returns the seeds for which it was done."""

    def replace(answer: Callable[[], dict[str, object]]) -> list[int]:
        seen: list[int] = []
        kind = tasks.Kind(lambda run: (seen.append(run.seed), answer())[1], tasks.KINDS[GOLDEN].sources)
        monkeypatch.setitem(tasks.KINDS, GOLDEN, kind)
        return seen

    return replace


def test_what_is_kept_is_not_run_again_unless_asked(threads: str, work: Callable) -> None:
    seen, wanted = work(lambda: {"cycles": 3}), plan(PAIR, seeds=[0, 2]).tasks
    first = outcomes(wanted[:2], partial(remote, threads), silent)
    assert sorted(seen) == [0, 0] and {one.status for one in first.values()} == {OK}
    later = outcomes(wanted, partial(remote, threads), silent)
    assert sorted(seen) == [0, 0, 2, 2] and len(later) == 4
    assert outcomes(wanted, no_client, silent).keys() == later.keys()
    outcomes(wanted[:1], partial(remote, threads), silent, fresh=True)
    assert len(seen) == 5


def test_a_point_that_fails_is_no_end_and_is_run_again(threads: str, work: Callable) -> None:
    def fail() -> dict[str, object]:
        raise OSError("no room\nat all")

    seen, wanted = work(fail), plan(PAIR, seeds=[0, 2]).tasks
    found = outcomes(wanted, partial(remote, threads), silent)
    assert [(one.status, one.error) for one in found.values()] == [(FAILED, "OSError: no room at all")] * 4
    assert not result_cache.KEPT.exists()
    outcomes(wanted[:1], partial(remote, threads), silent)
    assert len(seen) == 5


def test_a_program_that_leaves_python_is_a_point_that_failed(work: Callable) -> None:
    def leave() -> dict[str, object]:
        raise SystemExit(3)

    work(leave)
    (task, _) = plan(PAIR).tasks
    assert (run_task(task, task.key).status, run_task(task, task.key).error) == (FAILED, "SystemExit: 3")


def test_a_task_that_dask_gives_up_is_a_row_too(threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(task: Task, key: str) -> None:
        raise OverflowError("four workers died")

    monkeypatch.setattr("warpfile.results.studies.execution.run_task", give_up)
    for one in outcomes(plan(PAIR).tasks, partial(remote, threads), silent).values():
        assert one.status == FAILED and one.error == "OverflowError: four workers died"


def test_a_scheduler_that_ends_is_one_line_and_a_full_disk_is_none_of_it(threads: str) -> None:
    for error, words in ((OSError("timed out"), "must answer to the end: timed out"), (OSError(28, "full", "x"), "x")):
        with pytest.raises((ValueError, OSError), match=words) as ended, contextmanager(remote)(threads):
            raise error
        assert isinstance(ended.value, OSError) == (words == "x")


def test_what_has_ended_before_an_interrupt_is_kept(threads: str, work: Callable) -> None:
    def interrupted(stage: str, ended: int = 0, total: int = 0) -> None:
        if ended == 2:
            raise KeyboardInterrupt

    work(lambda: {"cycles": 3})
    wanted = plan(PAIR, seeds=[0, 2, 4]).tasks
    with pytest.raises(KeyboardInterrupt):
        outcomes(wanted, partial(remote, threads), interrupted)
    there = {path.stem for path in result_cache.KEPT.iterdir()}
    assert len(there) == 2
    assert len(outcomes(wanted, partial(remote, threads), silent)) == 6


def test_a_worker_with_other_sources_ends_the_study(threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = itertools.count()
    monkeypatch.setattr(Task, "key", property(lambda task: str(next(keys))))
    with pytest.raises(ValueError, match="workers of the cluster must have the sources and kernels of this process"):
        outcomes(plan(PAIR).tasks, partial(remote, threads), silent)
    assert not result_cache.KEPT.exists()


def test_a_kernel_that_has_changed_is_foreign(kernel: Path) -> None:
    (task, _) = plan(PAIR, kernels=[str(kernel)]).tasks
    assert run_task(task, task.key).status == OK
    (kernel / "kernel.sass").write_text("")
    assert run_task(task, task.key).foreign


def test_a_scheduler_that_is_not_there_is_one_line(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpfile.results.studies.execution._PATIENCE", "1 s")
    result = invoke("study", "--kernel", "saxpy", "--scheme", "bow", "--scheduler", "tcp://127.0.0.1:9")
    assert result.exit_code == 2 and result.stderr.count("\n") == 1
    assert "must be the address of a Dask scheduler that answers" in result.stderr and "127.0.0.1:9" in result.stderr


def test_a_machine_that_does_not_fit_is_refused_and_one_that_is_impossible_at_a_seed_too() -> None:
    (task, _) = plan(PAIR).tasks
    found = run_task(task, task.key)
    assert found.status == REFUSED and "use smaller CTAs" in found.error and found.facts
    (early, _) = plan(PAIR, seeds=[-1000]).tasks
    (one,) = outcomes([early], no_client, silent).values()
    assert one.status == REFUSED and "miss_latency must be" in one.error


def test_a_difference_is_no_success() -> None:
    found = tasks.finished({"mismatches": 1, "first_mismatch": {"cycle": 42}})
    assert (found.status, found.error) == (DIFFERENT, "RTL and golden model differ in cycle 42")


def test_the_estimate_goes_by_the_kind_of_the_work() -> None:
    wanted = plan(PAIR, seeds=[0, 2], golden=True, lockstep=True, area=True).tasks
    pace = Pace(wanted)
    pace.note(GOLDEN, 4.0)
    assert pace.left(2) == "about 6 s left and lockstep and area"
    pace.note(LOCKSTEP, 100.0)
    pace.note(AREA, 500.0)
    assert pace.left(1) == "about 10 min left"

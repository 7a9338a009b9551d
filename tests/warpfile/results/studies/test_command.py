"""``warpfile study`` from file and options to files and exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from tests.warpfile.conftest import Invoke
from tests.warpfile.results.studies.conftest import ran
from warpfile.cli.commands import study as command
from warpfile.results.pipeline_log import LoggedBeat
from warpfile.results.studies.tasks import DIFFERENT, FAILED, PIPELINE_LOG, REFUSED, Done, Task, finished

ASKED = ("study", "--kernel", "saxpy", "--scheme", "bow", "--preset", "tiny")
FILE = """kernels = ["saxpy"]
[[machines]]
schemes = ["bow"]
presets = ["tiny"]
"""


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Task], Done]], list[Task]]:
    """Replaces the execution by one that answers; returns the tasks that it was asked for."""

    def replace(of: Callable[[Task], Done]) -> list[Task]:
        asked: list[Task] = []

        def outcomes(tasks: list[Task], *_: Any, **__: Any) -> dict[Task, Done]:
            asked.extend(tasks)
            return {task: of(task) for task in tasks}

        monkeypatch.setattr("warpfile.results.studies.execution.outcomes", outcomes)
        return asked

    return replace


def test_options_are_a_study_of_their_own(invoke: Invoke, answer: Any, folder: Path) -> None:
    asked = answer(lambda task: ran())
    result = invoke(*ASKED, "--set", "window=2,3", "--set", "banks=2", "--seeds", "-2,2", "--json", "facts.json")
    assert result.exit_code == 0, result.output
    rows = pyarrow.parquet.read_table("build/study/study/results.parquet").to_pylist()
    assert [(row["changes"], row["seed"]) for row in rows] == [
        ("banks=2 window=2", -2),
        ("banks=2 window=2", 2),
        ("banks=2 window=3", -2),
        ("banks=2 window=3", 2),
    ]
    assert len(asked) == 4 + 2 + 2  # the baseline and the matched one, which has as many units as there are windows
    facts = json.loads((folder / "facts.json").read_text())
    assert [row["cycles"] for row in facts["rows"]] == [100] * 4 and not list(folder.rglob("*.partial"))


def test_options_take_the_place_of_what_the_file_says(invoke: Invoke, answer: Any, folder: Path) -> None:
    asked = answer(lambda task: ran())
    (folder / "small.toml").write_text(FILE)
    result = invoke("study", "small.toml", "--kernel", "spmv", "-o", "there")
    assert result.exit_code == 0 and {task.run.kernel for task in asked} == {"spmv"}
    (row,) = pyarrow.parquet.read_table("there/results.parquet").to_pylist()
    assert (row["study"], row["scheme"]) == ("small", "bow")


def test_a_name_is_no_path(invoke: Invoke, answer: Any, folder: Path) -> None:
    answer(lambda task: ran())
    (folder / "small.toml").write_text(f'name = "../../up"\n{FILE}')
    assert invoke("study", "small.toml").exit_code == 0
    assert [path.name for path in (folder / "build" / "study").iterdir()] == ["_.._up"]


def test_a_dry_run_lists_the_points_and_does_nothing(invoke: Invoke, folder: Path) -> None:
    result = invoke(*ASKED, "--seeds", "0,2", "--golden", "--area", "--dry-run")
    assert result.exit_code == 0 and "2 points; with their baselines: 6 golden, 2 area." in result.output
    assert sum("saxpy" in line for line in result.output.splitlines()) == 2 and not list(folder.iterdir())


@pytest.mark.parametrize(
    ("wrong", "status", "words"),
    [
        (Done(FAILED, {}, "OSError: no room"), 1, "1 of 2 points failed; the first, of bow: golden: OSError: no room"),
        (Done(DIFFERENT, {}, "differ"), 1, "1 of 2 points failed"),
        (Done(REFUSED, {}, "too large"), 0, "1 of 2 points were refused; the first, of bow: golden: too large"),
    ],
)
def test_the_exit_status_says_whether_points_failed(
    invoke: Invoke, answer: Any, wrong: Done, status: int, words: str
) -> None:
    answer(lambda task: wrong if task.run.point.scheme == "bow" else ran())
    result = invoke(*ASKED, "--scheme", "baseline")
    assert result.exit_code == status and words in result.output
    rows = pyarrow.parquet.read_table("build/study/study/results.parquet").to_pylist()
    assert [row["status"] for row in rows] == [wrong.status, "ok"]


def test_a_study_of_refused_points_alone_fails(invoke: Invoke, answer: Any) -> None:
    answer(lambda task: Done(REFUSED, {}, "too large"))
    assert invoke(*ASKED).exit_code == 1


def test_a_folder_that_cannot_be_made_is_refused_before_anything_runs(
    invoke: Invoke, answer: Any, folder: Path
) -> None:
    asked = answer(lambda task: ran())
    (folder / "taken").write_text("")
    for output in ("taken", "taken/results"):
        result = invoke(*ASKED, "-o", output)
        assert (result.exit_code, asked) == (2, [])
        assert f"{output} must be a folder, but {folder.resolve() / 'taken'} is a file" in result.stderr


def test_an_interrupt_says_that_the_rest_comes_later(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("warpfile.results.studies.execution.outcomes", interrupted)
    result = invoke(*ASKED)
    assert result.exit_code == 130 and "the same command continues from there" in result.stderr
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("study",), "SCHEME must be given"),
        (("study", "--kernel", "saxpy"), "SCHEME must be given"),
        (("study", "--preset", "tiny"), "--scheme must be given with --preset"),
        (("study", "absent.toml"), "absent.toml: No such file"),
        ((*ASKED, "--set", "window"), "--set must be FIELD=A,B,..., not 'window'"),
        ((*ASKED, "--seeds", "few"), "--seeds must be whole numbers with commas between them, not 'few'"),
        ((*ASKED, "--scheduler", "two_level"), "--scheduler must be the address of a Dask scheduler"),
        ((*ASKED, "--scheduler", "tcp://host:1", "-j", "2"), "-j must go without --scheduler"),
        ((*ASKED, "--kernel", "spvm"), "KERNEL must be"),
    ],
)
def test_a_wrong_request_is_one_line(invoke: Invoke, arguments: tuple[str, ...], words: str, folder: Path) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2 and words in result.stderr and result.stderr.count("\n") == 1
    assert not list(folder.iterdir())


def test_a_file_without_machines_is_named(invoke: Invoke, folder: Path) -> None:
    Path("foo.toml").write_text("kernel = ['spmv']\n")
    result = invoke("study", "foo.toml")
    assert result.exit_code == 2 and "foo.toml: fields must be machines, " in result.stderr
    assert "not kernel; did you mean 'kernels'?" in result.stderr


def test_a_missing_package_is_named_with_what_installs_it(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: None if name == "pyarrow" else object())
    result = invoke(*ASKED)
    assert result.exit_code == 2 and "study needs pyarrow: pip install 'warpfile[study]'" in result.stderr


def test_no_other_command_waits_for_dask_or_arrow() -> None:
    late = ("dask", "distributed", "pyarrow", "warpfile.results.studies")
    code = f"import sys, warpfile.cli.program; sys.exit(any(name in sys.modules for name in {late}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", ["schemes", "window", "check"])
def test_example_studies_have_points_that_all_can_be(invoke: Invoke, root: Path, name: str) -> None:
    from warpfile.results.studies.plan import read_study, study_plan

    path = root / "examples" / "study" / f"{name}.toml"
    plan = study_plan(read_study(path), path.parent, str(path))
    assert plan.name == name and len(plan.cases) >= 8
    assert all(case.machine.design and case.baseline for case in plan.cases)


def test_a_window_on_the_command_line_gives_a_table_of_beats_and_a_description(
    invoke: Invoke, answer: Any, folder: Path
) -> None:
    beat = asdict(LoggedBeat(3, 1, 16, "NOP", False, False, 2, 4))
    answer(lambda task: finished({"pipeline_log": [beat]}) if task.kind == PIPELINE_LOG else ran())
    result = invoke(*ASKED, "--pipeline", "10:20")
    assert result.exit_code == 0 and "1 beats in the pipeline log: build/study/study/pipeline_log.csv" in result.output
    (row,) = pyarrow.parquet.read_table("build/study/study/pipeline_log.parquet").to_pylist()
    assert row["issued"] == 4
    facts = json.loads(Path("build/study/study/study.json").read_text())
    assert facts["asked"]["pipeline"] == {"cycles": [10, 20]} and facts["versions"].keys() >= {"warpfile", "numpy"}
    assert facts["sources"].keys() == {"golden", "pipeline_log"}
    assert invoke(*ASKED).exit_code == 0 and not list(folder.rglob("pipeline_log.*"))


@pytest.mark.parametrize("text", ["10", "a:b", "1:2:3"])
def test_a_window_that_is_none_is_a_usage_error(invoke: Invoke, text: str) -> None:
    result = invoke(*ASKED, "--pipeline", text)
    assert result.exit_code == 2 and "--pipeline must be FIRST:LAST, two cycles, not" in result.stderr

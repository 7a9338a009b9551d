"""``make demo``: every scheme is in it, and its page is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.warpfile.conftest import Invoke
from tests.warpfile.results.studies.conftest import ran
from warpfile.cli.commands import demo
from warpfile.results.studies.tasks import PIPELINE_LOG, Done, Task, finished
from warpfile.schemes import SCHEMES


def test_the_demo_has_every_scheme_two_as_hardware_and_a_page(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def outcomes(tasks: list[Task], *_: Any, **__: Any) -> dict[Task, Done]:
        return {task: finished({"pipeline_log": []}) if task.kind == PIPELINE_LOG else ran() for task in tasks}

    built: list[bool] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("warpfile.results.studies.execution.outcomes", outcomes)
    monkeypatch.setattr(demo, "_hardware", lambda: built.append(True))
    result = invoke("demo")
    assert result.exit_code == 0, result.output
    table = result.output.partition("Growth is over")[0]
    assert all(f"\n {name} " in table for name in SCHEMES)
    assert built and f"{len(SCHEMES)} machines: build/study/demo/report.html" in result.output
    assert (tmp_path / "build" / "study" / "demo" / "report.html").exists()

"""A test that needs a tool is skipped with the line of that tool, and the end of a run counts them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from warpfile import tools

pytest_plugins = ("pytester",)
TESTS = """
import pytest

@pytest.mark.parametrize("with_it", [pytest.param(True, marks=pytest.mark.needs("iverilog")), False])
def test_cases(with_it): pass

@pytest.mark.needs("iverilog", "dot")
def test_both(): pass

@pytest.mark.skip(reason="of something else")
def test_other(): pass
"""
Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, root: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs tests with the hooks of ours on a machine that has some programs."""
    pytester.makeconftest((root / "tests" / "conftest.py").read_text())
    pytester.makepyprojecttoml(f"[tool.pytest.ini_options]\npythonpath = ['{root}']\nmarkers = ['needs(*tools)']\n")
    programs = pytester.mkdir("bin")
    monkeypatch.setenv("PATH", str(programs))

    def with_programs(
        *names: str, text: str = TESTS, options: tuple[str, ...] = ("-p", "no:xdist")
    ) -> pytest.RunResult:
        for name in names:
            (programs / name).touch(0o755)
        pytester.makepyfile(text)
        return pytester.runpytest_subprocess("-rs", *options)

    return with_programs


def counted(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if line.startswith("skipped, ")]


def test_what_needs_a_missing_tool_is_skipped_with_its_line_and_counted_over_all_processes(run: Run) -> None:
    result = run("dot", options=("-n", "2"))
    result.assert_outcomes(passed=1, skipped=3)
    assert f": {tools.missing('iverilog')}\n" in result.stdout.str()
    assert counted(result) == ["skipped, iverilog is missing: 2 tests (apt-get install iverilog)"]


def test_what_needs_a_tool_that_is_there_runs(run: Run) -> None:
    result = run("iverilog")
    result.assert_outcomes(passed=2, skipped=2)
    assert counted(result) == ["skipped, dot is missing: 1 test (apt-get install graphviz)"]


def test_an_unknown_tool_is_an_error(run: Run) -> None:
    result = run(text="import pytest\n@pytest.mark.needs('iverliog')\ndef test_x(): pass\n")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*test_x needs iverliog, which warpfile.tools does not know"])

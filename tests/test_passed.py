"""``--passed`` leaves out what passed in another run, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest_plugins = ("pytester",)
pytestmark = pytest.mark.check
TESTS = """
import os, pytest

@pytest.mark.parametrize("case", ["a", "b"])
def test_cases(case): assert case == "a" or "MENDED" in os.environ

def test_skipped():
    if "TOOL" not in os.environ: pytest.skip("no tool")

@pytest.fixture
def broken(): assert "MENDED" in os.environ

def test_error(broken): pass

class TestGroup:
    def test_cases(self): pass
"""
Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, root: Path) -> Run:
    """Runs four kinds of tests with the hooks of ours, and writes a JUnit file."""
    pytester.makeconftest((root / "tests" / "conftest.py").read_text())
    pytester.makepyprojecttoml(f"[tool.pytest.ini_options]\npythonpath = ['{root}']\n")
    pytester.makepyfile(TESTS)

    def with_options(*options: str) -> pytest.RunResult:
        return pytester.runpytest_subprocess("-p", "no:xdist", *options)

    return with_options


def test_only_what_passed_is_left_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure, an error and a skipped test run again; so does a test whose name another one shares in part."""
    run("--junitxml=first.xml").assert_outcomes(passed=2, failed=1, errors=1, skipped=1)
    run("--passed=first.xml").assert_outcomes(failed=1, errors=1, skipped=1, deselected=2)
    monkeypatch.setenv("MENDED", "")
    monkeypatch.setenv("TOOL", "")
    run("--passed=first.xml", "--junitxml=second.xml").assert_outcomes(passed=3, deselected=2)
    run("--passed=second.xml").assert_outcomes(passed=2, deselected=3)


def test_all_processes_leave_out_the_same(run: Run) -> None:
    run("--junitxml=first.xml")
    run("-p", "xdist", "-n", "2", "--passed=first.xml").assert_outcomes(failed=1, errors=1, skipped=1)


def test_a_file_that_names_no_passed_test_is_refused(run: Run, pytester: pytest.Pytester) -> None:
    for text in ("<testsuites/>", "no XML", None):
        if text:
            pytester.path.joinpath("junit.xml").write_text(text)
        else:
            pytester.path.joinpath("junit.xml").unlink()
        result = run("--passed=junit.xml")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(["ERROR: --passed: *junit.xml*" if text != "no XML" else "ERROR: --passed: *"])

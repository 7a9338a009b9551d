"""The table of where the time goes, from what pytest writes."""

from pathlib import Path

import pytest

from tests.times import CPU, cases, table

pytest_plugins = ("pytester",)


def written(folder: Path, *properties: str) -> Path:
    """A JUnit file of tests with these properties."""
    rows = [
        f'<testcase classname="tests.sim.test_{number}" name="x[{number}]" time="{number}.5">{text}</testcase>'
        for number, text in enumerate(properties)
    ]
    path = folder / "junit.xml"
    path.write_text(f"<testsuites><testsuite>{''.join(rows)}</testsuite></testsuites>")
    return path


def cpu(seconds: float) -> str:
    return f'<properties><property name="{CPU}" value="{seconds}"/></properties>'


def test_times_are_summed_by_part_and_the_slowest_come_first(tmp_path: Path) -> None:
    lines = table(list(cases(written(tmp_path, cpu(2), cpu(40), cpu(3))))).splitlines()
    assert "| sim | 3 | 4 | 45 |" in lines and "| all | 3 | 4 | 45 |" in lines
    assert lines[-3:] == [
        "| sim/test_1: x[1] | 2 | 40 |",
        "| sim/test_2: x[2] | 2 | 3 |",
        "| sim/test_0: x[0] | 0 | 2 |",
    ]


def test_a_run_without_processor_time_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"must have a property {CPU} of every test"):
        list(cases(written(tmp_path, cpu(2), "")))


def test_a_run_counts_the_programs_that_a_test_starts(pytester: pytest.Pytester, root: Path) -> None:
    """Seconds of a process that works for a second, in a run with the hook of these tests."""
    pytester.makeconftest((root / "tests" / "conftest.py").read_text())
    pytester.makepyfile(
        "import subprocess, sys, textwrap\n"
        "work = 'import time\\nwhile time.process_time() < 1: pass'\n"
        "def test_works(): subprocess.run([sys.executable, '-c', work], check=True)\n"
        "def test_waits(): pass\n"
    )
    pytester.makepyprojecttoml(f"[tool.pytest.ini_options]\npythonpath = ['{root}']\n")
    pytester.runpytest_subprocess("--junitxml=junit.xml", "-p", "no:xdist").assert_outcomes(passed=2)
    works, waits = cases(pytester.path / "junit.xml")
    assert works.cpu >= 1 > waits.cpu

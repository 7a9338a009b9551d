"""``--within`` begins no test too late but those of the first round, and each round has some tests of every file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rounds import OUT_OF_TIME, ROUNDS

pytest_plugins = ("pytester",)
pytestmark = pytest.mark.check
TESTS = """
import pathlib, time, pytest

@pytest.mark.parametrize("case", range(80))
def test_cases(case, request):
    with pathlib.Path("order.txt").open("a") as file:
        file.write(f"{request.node.nodeid}\\n")

"""
SLOW = TESTS.replace("range(80)", "range(4)").replace("    with", "    time.sleep(1.5)\n    with")
Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, root: Path) -> Run:
    """Runs two files of tests with the hooks of ours, or others that it is given."""
    pytester.makeconftest((root / "tests" / "conftest.py").read_text())
    pytester.makepyprojecttoml(f"[tool.pytest.ini_options]\npythonpath = ['{root}']\n")

    def with_options(*options: str, text: str = TESTS) -> pytest.RunResult:
        pytester.makepyfile(test_one=text, test_two=text)
        return pytester.runpytest_subprocess("-p", "no:xdist", *options)

    return with_options


def order(pytester: pytest.Pytester) -> list[str]:
    """Names of the tests, as they ran."""
    file = pytester.path / "order.txt"
    lines = file.read_text().splitlines()
    file.unlink()
    return lines


def test_tests_that_would_begin_too_late_are_named_as_not_run(run: Run, pytester: pytest.Pytester) -> None:
    result = run("--within=2.5", text=SLOW)
    left = 8 - len(order(pytester))
    assert 0 < left < 8
    result.assert_outcomes(passed=8 - left, skipped=left)
    result.stdout.fnmatch_lines([f"not run, {OUT_OF_TIME}: {left} tests"])


def test_the_first_round_runs_however_little_time_there_is(run: Run, pytester: pytest.Pytester) -> None:
    result = run("--within=0.000001")
    ran = len(order(pytester))
    assert 0 < ran < 160 // 2
    result.assert_outcomes(passed=ran, skipped=160 - ran)


def test_without_the_option_all_run_as_they_stand(run: Run, pytester: pytest.Pytester) -> None:
    run().assert_outcomes(passed=160)
    assert order(pytester) == [f"test_{file}.py::test_cases[{case}]" for file in ("one", "two") for case in range(80)]


def test_the_first_round_has_tests_of_every_file_and_other_ones_for_another_word(
    run: Run, pytester: pytest.Pytester
) -> None:
    first = []
    for turn in ("a", "b", "a"):
        run("--within=600", f"--turn={turn}").assert_outcomes(passed=160)
        first.append(order(pytester)[: 160 // ROUNDS + 10])
    assert first[0] == first[2] != first[1]
    assert all({one.partition(":")[0] for one in some} == {"test_one.py", "test_two.py"} for some in first)


@pytest.mark.parametrize("seconds", ["0", "-1", "nan"])
def test_no_time_at_all_is_refused(run: Run, seconds: str) -> None:
    result = run(f"--within={seconds}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--within must be a number of seconds above 0, not *"])

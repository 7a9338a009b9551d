"""What all tests share."""

from __future__ import annotations

import functools
import os
import resource
import xml.etree.ElementTree as xml
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import hypothesis
import pytest

from tests import rounds
from warpfile import tools
from warpfile.compiled import FINDER, form
from warpfile.sim.simulators import RUNTIMES

# The same examples in every run, and none refused because the machine is busy: a failure is a failure of the code.
hypothesis.settings.register_profile(
    "fixed", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("fixed")

# Verilator's own library takes fifteen seconds to compile: tests that build in a folder of their own share it too.
os.environ.setdefault(RUNTIMES, str(Path(__file__).resolve().parent.parent / "build" / "sim"))

_STARTED = pytest.StashKey[float]()
#: Properties of a test in a JUnit file: seconds of the processors, and what pytest calls the test.
_CPU, _TEST = "cpu_seconds", "test"
_TROUBLE = {"failure", "error", "skipped"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--passed=junit.xml`` leaves out what passed in another run of the commit; ``tests.rounds`` has the others."""
    parser.addoption("--passed", type=Path, metavar="FILE", help="leave out the tests that passed in this JUnit file")
    rounds.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """The time of ``--within`` begins."""
    rounds.begin(config)


def pytest_report_header() -> str:
    """How the golden models run in this session."""
    return f"golden models: {form()}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What only plain Python can run waits for a session in which the models are that, and for a tool what needs it.

    What passed in another run is left out.
    """
    if file := config.getoption("passed"):
        before = passed(file)
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in before])
        items[:] = [item for item in items if item.nodeid not in before]
    rounds.order(config, items)
    found = functools.cache(tools.find)
    for item in items:
        absent = next((name for name in needed(item) if found(name) is None), None)
        if absent:
            item.add_marker(pytest.mark.skip(reason=tools.missing(absent)))
        if FINDER.places and item.get_closest_marker("plain"):
            item.add_marker(
                pytest.mark.skip(reason="replaces the inside of golden models: WARPFILE_COMPILED=0 -m plain")
            )


def passed(file: Path) -> set[str]:
    """Tests of a JUnit file that neither failed nor were skipped. Raises ``pytest.UsageError`` if it has none."""
    try:
        cases = [case for case in xml.parse(file).iter("testcase") if not _TROUBLE & {part.tag for part in case}]
    except (OSError, xml.ParseError) as error:
        raise pytest.UsageError(f"--passed: {error}") from None
    names = {str(one.get("value")) for case in cases for one in case.iter("property") if one.get("name") == _TEST}
    if not names:
        raise pytest.UsageError(
            f"--passed: {file} names no test that passed; it must be from --junitxml of these tests"
        )
    return names


def needed(item: pytest.Item) -> list[str]:
    """Tools outside Python without which a test cannot run. Raises ``pytest.UsageError`` for an unknown one."""
    names = [str(name) for mark in item.iter_markers("needs") for name in mark.args]
    if unknown := set(names) - tools.TOOLS.keys():
        raise pytest.UsageError(f"{item.nodeid} needs {', '.join(sorted(unknown))}, which warpfile.tools does not know")
    return names


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Last of all, how many tests were skipped for each missing tool or for want of time, in all processes together."""
    yield
    reports: Iterable[pytest.TestReport] = terminalreporter.stats.get("skipped", ())
    counted = Counter(str(report.longrepr[2]) for report in reports if isinstance(report.longrepr, tuple | list))
    for name, tool in tools.TOOLS.items():
        if count := counted[f"Skipped: {tools.missing(name)}"]:
            terminalreporter.write_line(f"skipped, {name} is missing: {count} test{'s' * (count > 1)} ({tool.install})")
    if count := counted[f"Skipped: {rounds.OUT_OF_TIME}"]:
        terminalreporter.write_line(f"not run, {rounds.OUT_OF_TIME}: {count} test{'s' * (count > 1)}")


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return Path(__file__).resolve().parent.parent


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """No test begins when the time is over."""
    rounds.check_time(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note where the processor time stood before the test and its fixtures."""
    item.stash[_STARTED] = _cpu()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Processor time of a test goes into the JUnit file, for tests/times.py, and its name, for ``--passed``."""
    try:
        return (yield)
    finally:
        item.user_properties += [(_CPU, round(_cpu() - item.stash[_STARTED], 3)), (_TEST, item.nodeid)]


def _cpu() -> float:
    """Seconds of this process and of the programs that it started and that have ended."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)

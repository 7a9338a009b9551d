"""What all tests share."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

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


def pytest_report_header() -> str:
    """How the golden models run in this session."""
    return f"golden models: {form()}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What only plain Python can run waits for a session in which the models are that."""
    for item in items:
        if FINDER.places and item.get_closest_marker("plain"):
            item.add_marker(
                pytest.mark.skip(reason="replaces the inside of golden models: WARPFILE_COMPILED=0 -m plain")
            )


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return Path(__file__).resolve().parent.parent


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note where the processor time stood before the test and its fixtures."""
    item.stash[_STARTED] = _cpu()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Processor time of a test goes into the JUnit file, for tests/times.py."""
    try:
        return (yield)
    finally:
        item.user_properties.append(("cpu_seconds", round(_cpu() - item.stash[_STARTED], 3)))


def _cpu() -> float:
    """Seconds of this process and of the programs that it started and that have ended."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)

"""What all tests share."""

from __future__ import annotations

from pathlib import Path

import hypothesis
import pytest

from warpfile.compiled import FINDER, form

# The same examples in every run, and none refused because the machine is busy: a failure is a failure of the code.
hypothesis.settings.register_profile(
    "fixed", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("fixed")


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

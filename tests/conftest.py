"""What all tests share."""

from __future__ import annotations

from pathlib import Path

import hypothesis
import pytest

# The same examples in every run, and none refused because the machine is busy: a failure is a failure of the code.
hypothesis.settings.register_profile(
    "fixed", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("fixed")


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return Path(__file__).resolve().parent.parent

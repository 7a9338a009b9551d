"""Tests in a limited time: ``--within=SECONDS`` takes them in rounds, and begins none of a later round after that.

The first round always runs whole, so that no run passes because it had no time (docs/tests.md).
"""

from __future__ import annotations

import time
import zlib

import pytest

#: A round has about one in so many of the tests of every file, so that a run that ends early has met every file.
ROUNDS = 8
OUT_OF_TIME = "the time of --within is over"
_UNTIL = pytest.StashKey[float]()


def add_options(parser: pytest.Parser) -> None:
    """``--within`` and ``--turn``."""
    parser.addoption("--within", type=float, metavar="SECONDS", help="begin no test later, except in the first round")
    parser.addoption("--turn", default="", metavar="WORD", help="draws which tests are in the first rounds of --within")


def begin(config: pytest.Config) -> None:
    """Note when no test may begin any more. Raises ``pytest.UsageError`` for a time that is over before it begins."""
    seconds = config.getoption("within")
    if seconds is not None:
        if not seconds > 0:
            raise pytest.UsageError(f"--within must be a number of seconds above 0, not {seconds:g}")
        config.stash[_UNTIL] = time.monotonic() + seconds


def order(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests by round, and in a round as they were."""
    if _UNTIL in config.stash:
        items.sort(key=_round)


def check_time(item: pytest.Item) -> None:
    """Skip a test that would begin too late, unless it is in the first round."""
    if time.monotonic() > item.config.stash.get(_UNTIL, float("inf")) and _round(item):
        pytest.skip(OUT_OF_TIME)


def _round(item: pytest.Item) -> int:
    return zlib.crc32(f"{item.config.getoption('turn')} {item.nodeid}".encode()) % ROUNDS

"""Comparison of buffers after a launch with what they must hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpfile.emulator.arguments import Argument
from warpfile.emulator.memory import Region


@dataclass(frozen=True)
class Expectation:
    """Outcome for one buffer. ``worst_error``: largest absolute difference, infinite where NaN meets a number."""

    name: str
    ok: bool
    worst_error: float
    count: int = 0  #: values that were compared
    wrong: int = 0  #: of them not as they must be
    first: tuple[int, ...] = ()  #: index of the first such value
    found: object = None  #: this value
    wanted: object = None  #: what it must be

    @property
    def report(self) -> str:
        """What is wrong, in one line."""
        place = ", ".join(map(str, self.first))
        first = f"{self.name}[{place}] must be {self.wanted}, not {self.found}"
        return f"{first}; {self.wrong} of {self.count} values differ, worst error {self.worst_error:g}"


def check(argument: Argument, region: Region) -> Expectation:
    """Compare a buffer with its ``expect`` array: exactly (NaN equals NaN), or within rtol and atol where given."""
    expect = argument.expect
    assert expect is not None
    found = region.bytes[: expect.nbytes].view(expect.dtype).reshape(expect.shape)
    equal = (found == expect) | ((found != found) & (expect != expect))
    error = _worst_error(found[~equal], expect[~equal])
    if argument.rtol is not None or argument.atol is not None:
        equal = np.isclose(found, expect, rtol=argument.rtol or 0.0, atol=argument.atol or 0.0, equal_nan=True)
    wrong = np.argwhere(~equal)
    if not len(wrong):
        return Expectation(argument.name, True, error, expect.size)
    first = tuple(wrong[0].tolist())
    return Expectation(argument.name, False, error, expect.size, len(wrong), first, found[first], expect[first])


def _worst_error(found: np.ndarray, expect: np.ndarray) -> float:
    if not found.size:
        return 0.0
    error = np.abs(found.astype(np.float64) - expect.astype(np.float64))
    return float(np.where(np.isnan(error), np.inf, error).max())

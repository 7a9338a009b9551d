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


def check(argument: Argument, region: Region) -> Expectation:
    """Compare a buffer with its ``expect`` array: exactly (NaN equals NaN), or within rtol and atol where given."""
    expect = argument.expect
    assert expect is not None
    found = region.bytes[: expect.nbytes].view(expect.dtype).reshape(expect.shape)
    error = _worst_error(found, expect)
    if argument.rtol is None and argument.atol is None:
        equal = np.array_equal(found, expect, equal_nan=expect.dtype.kind == "f")
        return Expectation(argument.name, bool(equal), error)
    close = np.allclose(found, expect, rtol=argument.rtol or 0.0, atol=argument.atol or 0.0, equal_nan=True)
    return Expectation(argument.name, bool(close), error)


def _worst_error(found: np.ndarray, expect: np.ndarray) -> float:
    different = ~((found == expect) | ((found != found) & (expect != expect)))
    if not different.any():
        return 0.0
    error = np.abs(found[different].astype(np.float64) - expect[different].astype(np.float64))
    return float(np.where(np.isnan(error), np.inf, error).max())

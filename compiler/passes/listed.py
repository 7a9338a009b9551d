"""The function that a trace was executed from."""

from __future__ import annotations

from functools import cache

from warpfile.compiler.model import Function
from warpfile.compiler.parser import parse
from warpfile.spec.trace import Trace


@cache
def _parsed(listing: str, kernel: str) -> Function:
    return parse(listing, kernel).function(kernel)


def listed_function(trace: Trace) -> Function | None:
    """The function that a trace was executed from; None if the trace does not show it, or is not what was executed."""
    return _parsed(trace.listing, trace.kernel) if trace.listing and not trace.before else None

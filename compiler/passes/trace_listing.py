"""The function that a trace was executed from."""

from __future__ import annotations

from functools import cache

from warpfile.compiler.model import Function, Listing
from warpfile.compiler.parser import parse
from warpfile.spec.trace import Trace


@cache
def _parsed(listing: str, kernel: str) -> Listing:
    return parse(listing, kernel)


def listed_function(trace: Trace) -> Function | None:
    """The function that a trace was executed from; None if the trace does not show it, or is not what was executed."""
    return _parsed(trace.listing, trace.kernel).function(trace.kernel) if trace.listing and not trace.before else None


def listed_architecture(trace: Trace) -> int | None:
    """The GPU that a trace's listing is for, 75 for sm_75; None where nothing tells."""
    return _parsed(trace.listing, trace.kernel).architecture if trace.listing else None

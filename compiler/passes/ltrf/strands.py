"""Strands: units that a warp is meant to run through without leaving the active set, for comparison with intervals.

M. Sadrosadati et al., ASPLOS 2018, section 6.6: a strand has no long-latency operation and no backward branch inside.
So each of these ends its strand: what is behind it, and where a backward branch leads, begins one. A barrier counts as
a long-latency operation, because a warp leaves the active set there. What the paper leaves open is as with intervals:
one way in, branches forward inside, blocks cut where the registers do not fit. Nothing is merged afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpfile.compiler.passes.backward import around_backward
from warpfile.compiler.passes.ltrf.code import Code
from warpfile.compiler.passes.ltrf.intervals import Blocks
from warpfile.compiler.passes.ltrf.units import Units, units_of


def strands(code: Code, limit: int) -> Units:
    """Strands of at most ``limit`` registers. Raises ``ValueError`` where one instruction names more."""
    blocks = Blocks(code.headed(_heads(code)), limit)
    return units_of(code, blocks.ends, blocks.dealt(), repeats=True)


def _heads(code: Code) -> Iterator[int]:
    """Where strands begin, beside where they must begin."""
    for index in code.waits:
        yield from code.behind(index)
    yield from around_backward(code.edges, code.behind)

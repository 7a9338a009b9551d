"""A reference interpreter of renamed streams, which knows nothing of the pass.

Which instruction computes a value comes from the original stream; what it reads must stand where the renamed stream
says. Before the first access of a warp to a shared register all of them are poisoned.
"""

from __future__ import annotations

import numpy as np

from warpfile.spec.rewrite import original
from warpfile.spec.trace import LANES, Trace

#: Numbers of values: never written, and lost.
NOBODY, POISON = 0, 1
_LANE = np.arange(LANES)


def wrong_reads(trace: Trace, private: int) -> list[str]:
    """A line for every operand that a warp does not find."""
    before, found = original(trace), list[str]()
    assert before.records == trace.records
    number = POISON
    for warp in range(trace.warps):
        old, new = (np.full((256, LANES), NOBODY, dtype=np.int64) for _ in range(2))
        owner = False
        for record in range(int(trace.warp_start[warp]), int(trace.warp_start[warp + 1])):
            was, now = (one.program[one.instruction[record]] for one in (before, trace))
            lanes = (int(trace.execute[record]) >> _LANE & 1).astype(bool)
            if not owner and any(register >= private for register in (*now.sources, *now.dests)):
                owner = True
                new[private:] = POISON
            for one, other in zip(was.sources, now.sources, strict=True):
                wanted = old[one][lanes]
                if np.any((wanted != new[other][lanes]) & (wanted != NOBODY)):
                    found.append(f"{record}: {now.text} does not find in R{other} what was in R{one}")
            for one, other in zip(was.dests, now.dests, strict=True):
                number += 1
                old[one][lanes] = new[other][lanes] = number
    return found

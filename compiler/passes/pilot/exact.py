"""Registers that the warps of a trace access most often, for the fast partition of the register file.

M. Abdel-Majeed et al., HPCA 2017, Fig. 4 ("optimal"): what is known of the registers when the kernel has ended.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from warpfile.spec.beat import distinct_sources
from warpfile.spec.trace import Trace


def accesses(trace: Trace, records: slice = slice(None)) -> Counter[int]:
    """By register, how often the banks are accessed for it: once per executed instruction that reads it, also if it
    names it twice, and once per executed instruction that writes it. An instruction without lanes accesses nothing.

    ``records``: of these records only, for example of those of one warp.
    """
    executed = trace.instruction[records][trace.execute[records] != 0]
    counts: Counter[int] = Counter()
    for static, count in zip(trace.program, np.bincount(executed, minlength=len(trace.program)).tolist(), strict=True):
        for register in (*distinct_sources(static.sources), *static.dests):
            counts[register] += count
    return +counts

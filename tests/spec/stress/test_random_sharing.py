"""Programs of loads that meet are legal, repeatable, and their loads do meet."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from warpfile.schemes import find
from warpfile.spec.stress.random_sharing import LAST, crowd_trace, share_trace
from warpfile.spec.trace import NO_ROW, Access, Trace

MAKERS = pytest.mark.parametrize("make", [share_trace, crowd_trace])


def vectors(trace: Trace) -> Counter[bytes]:
    """How many loads go to the same addresses."""
    loads = [
        row
        for number, row in zip(trace.instruction, trace.address_row, strict=True)
        if row != NO_ROW and trace.program[number].access == Access.LOAD
    ]
    return Counter(trace.addresses[row].tobytes() for row in loads)


@MAKERS
def test_the_same_seed_gives_the_same_trace_and_another_one_another(make) -> None:
    assert np.array_equal(make(2).addresses, make(2).addresses)
    assert not np.array_equal(make(2).values, make(4).values)


@MAKERS
@pytest.mark.parametrize("seed", range(4))
def test_loads_go_where_other_loads_went(make, seed: int) -> None:
    found = vectors(make(seed))
    assert sum(found.values()) - len(found) > len(found) / 4


@MAKERS
def test_a_machine_that_absorbs_can_run_them(make) -> None:
    cfg = find("larf").configuration("tiny")
    assert find("larf").annotated(cfg, make(1), None).annotation


def test_crowds_fill_rows_before_their_loads_meet() -> None:
    assert max(crowd_trace(seed).registers for seed in range(8)) > LAST + 40
    assert max(vectors(crowd_trace(1)).values()) >= 16

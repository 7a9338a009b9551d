"""Programs that are executed while they are written down say what each register holds, and which lanes are known."""

from __future__ import annotations

from warpfile.spec.stress.warp_programs import Memory, WarpProgram, trace_of
from warpfile.spec.trace import LANES


def test_a_write_of_some_lanes_leaves_the_others_as_they_were_and_known() -> None:
    warp = WarpProgram(Memory())
    warp.put(3, [7] * LANES, mask=0x0F)
    warp.put(3, [9] * LANES, mask=0x30)
    warp.put(4, [5] * LANES, mask=0x01)
    trace = trace_of([warp])
    assert trace.written.tolist() == [0x0F, 0x3F, 0x01]
    assert trace.values[1, :7].tolist() == [7, 7, 7, 7, 9, 9, 0]


def test_a_write_of_no_lane_has_no_value() -> None:
    warp = WarpProgram(Memory())
    warp.put(3, [7] * LANES, mask=0)
    trace = trace_of([warp])
    assert len(trace.values) == len(trace.written) == 0
    assert (trace.value_row < 0).all()

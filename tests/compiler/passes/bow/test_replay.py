"""The judge of write classes against the numbers of BOW's worked example."""

from __future__ import annotations

import pytest

from tests.compiler.passes.bow.replay import BACK, HINTS, THROUGH, Record, Replay
from tests.compiler.passes.bow.test_static import BTREE, function
from warpfile.compiler.passes.bow.static import write_classes
from warpfile.compiler.program import static_instructions

FULL = 0xFFFFFFFF


def replayed(mode: str, window: int) -> dict[str, int]:
    """Counts up to the last instruction of the example, whose result no register takes."""
    code = function(BTREE)
    classes = write_classes(code, window=window, source_slots=3)
    program = static_instructions(code)[: BTREE.count("\n") + 1]
    replay = Replay(window, 3, mode)
    assert replay.run([Record(static, FULL, FULL, classes.get(static.offset, 0)) for static in program]) == []
    return dict(replay.counts)


@pytest.mark.parametrize(("mode", "file", "window"), [(THROUGH, 10, 10), (BACK, 5, 10), (HINTS, 2, 9)])
def test_worked_example(mode: str, file: int, window: int) -> None:
    counts = {"forwarded": 14, "file reads": 5, "file writes": file, "window writes": window}
    assert replayed(mode, 3) == counts


@pytest.mark.parametrize(("mode", "file"), [(THROUGH, 10), (BACK, 5), (HINTS, 3)])
def test_worked_example_with_a_shorter_window(mode: str, file: int) -> None:
    found = replayed(mode, 2)
    assert (found["forwarded"], found["file reads"], found["file writes"]) == (12, 7, file)


CHAIN = "MOV R2, 0x1\nNOP\nIADD3 R3, R2, 0x1, RZ"


@pytest.mark.parametrize(
    ("write_class", "window", "is_sound"), [(2, 3, True), (2, 2, False), (3, 2, True), (0, 3, False)]
)
def test_a_value_that_slid_out_unsaved_is_missed(write_class: int, window: int, is_sound: bool) -> None:
    program = static_instructions(function(CHAIN))[:3]
    records = [Record(static, FULL, FULL, write_class) for static in program]
    assert (Replay(window, 3).run(records) == []) == is_sound


@pytest.mark.parametrize(("write_class", "promptness", "is_sound"), [(2, 0.0, False), (2, 1.0, True), (3, 0.0, True)])
def test_a_late_partial_result_is_lost_unless_it_is_for_the_register_file(
    write_class: int, promptness: float, is_sound: bool
) -> None:
    program = static_instructions(function("MOV R2, 0x1\nNOP\nNOP\nNOP\nIADD3 R3, R2, 0x1, RZ"))[:5]
    masks = [0xFF, FULL, FULL, FULL, FULL]
    records = [Record(static, mask, FULL, write_class) for static, mask in zip(program, masks, strict=True)]
    assert (Replay(2, 3, promptness=promptness).run(records) == []) == is_sound


def test_old_lanes_of_a_transient_value_are_lost_before_a_partial_write() -> None:
    program = static_instructions(function("MOV R2, 0x1\nNOP\nNOP\nMOV R2, 0x2\nIADD3 R3, R2, 0x1, RZ"))[:5]
    masks = [FULL, FULL, FULL, 0xFF, FULL]
    for write_class, found in ((2, [(4, 2)]), (3, [])):
        classes = [write_class, 0, 0, 3, 3]
        records = [Record(*row) for row in zip(program, masks, [FULL] * 5, classes, strict=True)]
        assert Replay(2, 3).run(records) == found

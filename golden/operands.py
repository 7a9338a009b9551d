"""Are the operands that leave the machine the values that the program computed?"""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from warpfile.spec.beat import Beat


@mypyc_attr(native_class=False)
class StaleOperand(AssertionError):
    """A dispatched operand is not the value that its register had in the trace."""


def check_operands(cycle: int, warp: int, beat: Beat, values: list[int]) -> int:
    """Compare operands with what the trace expects and return how many of them it knows.

    Raises :class:`StaleOperand`. Values are rows of the trace, -1 for a register that was never written; the trace
    expects nothing of a source whose value it does not know (``docs/machine.md`` section 8 observes no data: this
    check and the bench's are on top of it).
    """
    assert len(values) == len(beat.expected), f"beat {beat.payload} is dispatched with {len(values)} operands"
    checked = 0
    for slot, expected in enumerate(beat.expected):
        if expected < 0:
            continue
        checked += 1
        if values[slot] != expected:
            raise StaleOperand(
                f"cycle {cycle}: warp {warp} dispatches the instruction at {beat.offset:#x} (record {beat.record}) with"
                f" value {values[slot]} in R{beat.sources[slot]}, but the trace has value {expected} there"
            )
    return checked

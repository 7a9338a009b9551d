"""Explaining the first difference between RTL and golden model."""

from __future__ import annotations

from collections.abc import Sequence

from warpfile.sim.harness import RECORD_SLOT
from warpfile.sim.harness_pins import PIN_SLOT
from warpfile.spec.beat import Beat
from warpfile.spec.probe import ProbeLayout

HISTORY = 6


def differing_fields(layout: ProbeLayout, rtl: int, golden: int) -> dict[str, dict[str, int]]:
    """Fields whose values differ, with the values of both sides."""
    ours, theirs = layout.unpack(rtl), layout.unpack(golden)
    return {name: {"rtl": ours[name], "golden": theirs[name]} for name in ours if ours[name] != theirs[name]}


def fault_name(fault: dict[str, int]) -> str:
    """The field that stands for what the harness itself found wrong at the pins."""
    if fault["slot"] == PIN_SLOT:
        return "rules of the pins" if fault["lanes"] else "integration ports"
    return "dispatched record" if fault["slot"] == RECORD_SLOT else "operand"


def describe_cycle(layout: ProbeLayout, word: int) -> str:
    """The fields of a word that are not zero, masks in hexadecimal."""
    return " ".join(f"{name}={value:#x}" for name, value in layout.unpack(word).items() if value)


def first_mismatch(
    layout: ProbeLayout,
    cycle: int,
    history: Sequence[int],
    fields: dict[str, dict[str, int]],
    warp: int | None,
    beat: Beat | None,
) -> dict[str, object]:
    """JSON of the first difference: cycle, warp, pc, fields with both values, and the cycles before."""
    before = [
        f"cycle {cycle - len(history) + index}: {describe_cycle(layout, word)}" for index, word in enumerate(history)
    ]
    return {"cycle": cycle, "warp": warp, "pc": beat.offset if beat else None, "fields": fields, "before": before}


def to_text(mismatch: dict[str, object]) -> str:
    """The same for a reader."""
    pc = mismatch["pc"]
    where = f"cycle {mismatch['cycle']}, warp {mismatch['warp']}, pc {'unknown' if pc is None else format(pc, '#x')}"
    lines = [f"first difference in {where}"]
    fields = mismatch["fields"]
    assert isinstance(fields, dict)
    for name, both in fields.items():
        lines.append(f"  {name}: " + ", ".join(f"{side} {_number(value)}" for side, value in both.items()))
    before = mismatch["before"]
    assert isinstance(before, list)
    return "\n".join([*lines, *(f"  before: {line}" for line in before)])


def _number(value: object) -> str:
    return f"{value:#x}" if isinstance(value, int) else str(value)

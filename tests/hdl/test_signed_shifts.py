"""No text has what Verilator 5 takes for a signed number: single bits that make up 32, shifted right by a variable."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warpfile.schemes import SCHEMES, find
from warpfile.sim.build import generated_verilog

LANES = 32
_VECTOR = re.compile(r"^\s*(?:wire|output|reg) \[(\d+):0\] (\S+?) ?;", re.MULTILINE)
_SHIFT = re.compile(r"^\s*assign (\S+)\s+= \{ .* \} >> .*;", re.MULTILINE)


def shifts(verilog: str) -> list[int]:
    """Widths of concatenations that are shifted right."""
    found = []
    for module in re.split(r"^(?=module )", verilog, flags=re.MULTILINE):
        widths = {name: int(high) + 1 for high, name in _VECTOR.findall(module)}
        found += [widths.get(target, 1) for target in _SHIFT.findall(module)]
    return found


def test_a_shift_of_single_bits_is_seen() -> None:
    text = "module a;\n  wire [{high}:0] \\$1 ;\n  assign \\$1  = {{ b, c }} >> d;\nendmodule\n"
    assert shifts(text.format(high=31)) == [32]
    assert shifts(text.format(high=32)) == [33]


@pytest.mark.check
@pytest.mark.parametrize(
    "name", ["larf", *(pytest.param(name, marks=pytest.mark.regress) for name in SCHEMES if name != "larf")]
)
def test_no_machine_shifts_single_bits_that_make_up_32(root: Path, name: str) -> None:
    scheme = find(name)
    assert LANES not in shifts(generated_verilog(scheme, scheme.configuration("tiny", lanes=LANES), root / "build"))

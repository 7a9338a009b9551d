"""Longest paths that can be counted by hand, and as yosys counts them in a design that it has flattened."""

from __future__ import annotations

import re

import pytest

from warpfile.schemes import SCHEMES, TOP
from warpfile.spec.structure import RAMS
from warpfile.synth import yosys
from warpfile.synth.levels import longest_paths
from warpfile.synth.liberty import NAND2_UNITS, read_liberty

#: A part whose upper output waits for its lower one outside; its gates are three and one.
TWICE = """\
.model warpfile
.inputs a b
.outputs y
.subckt part low=a high=n low_out=m high_out=y
.subckt $_NOT_ A=m Y=n
.end

.model part
.inputs low high
.outputs low_out high_out
.names $false
.subckt $_NOT_ A=low Y=p
.subckt $_AND_ A=p B=$false Y=q
.subckt $_MUX_ A=q B=p S=low Y=low_out
.subckt $_NOT_ A=high Y=r
.conn r high_out
.end
"""

#: The design flattened, memories as its ports; what yosys itself calls the longest path.
FLATTENED = """\
{dissolve}flatten
{evert}tee -q -o whole.txt ltp -noff
"""


def test_a_path_goes_through_a_part_as_often_as_it_is_connected() -> None:
    """Three gates from the lower input, one outside, one from the upper input."""
    assert longest_paths(TWICE, "warpfile") == {"warpfile": 1, "part": 3, "": 5}


def test_a_gate_more_on_the_path_is_a_level_more() -> None:
    longer = TWICE.replace("A=m Y=n", "A=m Y=o\n.subckt $_NOT_ A=o Y=n")
    assert longest_paths(longer, "warpfile") == {"warpfile": 2, "part": 3, "": 6}
    beside = TWICE.replace(".conn r", ".subckt $_NOT_ A=low Y=s\n.conn r")
    assert longest_paths(beside, "warpfile") == longest_paths(TWICE, "warpfile")


@pytest.mark.parametrize("ends", ["$_DFF_P_ C=b D=m Q=n", "memory address=m word=n"])
def test_a_path_ends_at_what_is_no_gate(ends: str) -> None:
    assert longest_paths(TWICE.replace("$_NOT_ A=m Y=n", ends), "warpfile") == {"warpfile": 0, "part": 3, "": 3}


def test_a_path_that_ends_where_it_begins_is_refused() -> None:
    inside = TWICE.replace("$_AND_ A=p B=$false", "$_AND_ A=p B=low_out")
    with pytest.raises(yosys.YosysError, match=r"part has a combinational loop"):
        longest_paths(inside, "warpfile")
    across = TWICE.replace("low=a", "low=y")
    with pytest.raises(yosys.YosysError, match=r"warpfile has a combinational loop through its submodules"):
        longest_paths(across, "warpfile")


@pytest.mark.check
@pytest.mark.parametrize("name", SCHEMES)
def test_yosys_finds_the_same_longest_path_in_the_flattened_design(name: str) -> None:
    """A machine small enough to be flattened."""
    text = SCHEMES[name].verilog(SCHEMES[name].configuration("tiny", lanes=2), probes=False)
    found = yosys.synthesise(text, TOP, RAMS, read_liberty(NAND2_UNITS).text).levels[""]
    mapped = yosys.LEVELS.removeprefix("design -load gates\n").partition("write_blif")[0]
    values = {
        "dissolve": "".join(f"setattr -mod -unset keep_hierarchy {name}\n" for name in _kept(text)),
        "evert": "".join(f"expose -evert t:{name}\n" for name in yosys.module_names(text) if name in RAMS),
    }
    files = {"design.v": text, "cells.lib": read_liberty(NAND2_UNITS).text}
    said = yosys.run(yosys.scripted(yosys.GATES + mapped + FLATTENED, text, TOP, RAMS, **values), files, ["whole.txt"])[
        "whole.txt"
    ]
    ((length),) = re.findall(r"^Longest topological path in \S+ \(length=(\d+)\)", said, re.MULTILINE)
    assert found == int(length) > 0


def _kept(text: str) -> list[str]:
    return ["\\" + name for name in yosys.kept_modules(text, TOP, RAMS)]

"""Toggles of a waveform that was written by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warpfile.sim.toggles import count_toggles

NET = re.compile(r"n\d+")
HEAD = """\
$timescale 1ps $end
$scope module harness $end
$var wire 1 ! n1 $end
$scope module dut $end
$var wire 1 " n2 $end
$var wire 1 # other $end
$var wire 4 $ n3 [3:0] $end
$scope module i5 $end
$var wire 1 " n7 $end
$var wire 1 % n8 $end
$upscope $end
$upscope $end
$upscope $end
$enddefinitions $end
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "found.vcd"


def test_changes_are_counted_under_every_name(path: Path) -> None:
    path.write_text(
        HEAD + '#0\n$dumpvars\n0!\n0"\n1#\nb0000 $\n1%\n$end\n#5\n1"\n0#\n1!\n#10\n0"\nb0101 $\n#15\n1"\n0%\n'
    )
    assert count_toggles(path, "harness.dut", NET) == {("", "n2"): 3, ("i5", "n7"): 3, ("i5", "n8"): 1}


def test_a_value_that_is_not_known_is_no_change(path: Path) -> None:
    """From 1 over x to 1 nothing has changed; from 1 over x to 0 something has, once."""
    path.write_text(HEAD + '#0\n1"\nx%\n#5\nx"\n1%\n#10\n1"\n#15\nx"\n#20\n0"\n')
    found = count_toggles(path, "harness.dut", NET)
    assert (found["", "n2"], found["i5", "n8"]) == (1, 0)


def test_other_scopes_are_left_out(path: Path) -> None:
    path.write_text(HEAD + '#0\n0!\n0"\n#5\n1!\n1"\n')
    assert set(count_toggles(path, "harness.dut.i5", NET)) == {("", "n7"), ("", "n8")}
    assert not count_toggles(path, "harness.d", NET)

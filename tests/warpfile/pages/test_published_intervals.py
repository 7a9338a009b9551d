"""Asking a program for intervals; the one here stands in for the authors', and makes an interval of every block."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from warpfile.compiler.parser import load_listing
from warpfile.compiler.passes.ltrf.code import Code, code_of
from warpfile.pages.published_intervals import Unfit, instructions_of, nvdisasm_graph, ours, rows, theirs
from warpfile.workloads.inputs import bundled_kernels

#: Two blocks that lead to a third, which leads back to the first and out of the code; what follows is never reached.
DIAMOND = Code(
    registers=(0b1, 0b110, 0b1000, 0b11, 0b1),
    starts=(0, 2, 3, 4),
    edges=frozenset({(1, 2), (1, 3), (2, 3), (3, 0)}),
    entries=frozenset({0}),
    heads=frozenset({0}),
)
EVERY_BLOCK = r"""
import re, sys
text = open(sys.argv[2]).read()
with open("output/registerIntervals_kernel.txt", "w") as out:
    for label in re.findall(r'label="(.*)"', text):
        code = label.split("<exit")[0]
        registers = set(re.findall(r"R\d+", code))
        print(f" #Interval ID = 0 #Number of Instructions = {code.count(';') - LOST}", file=out)
        print(f"\t\t #Register_list = {{{' '.join(registers)}}}; #Number of Registers = {len(registers)};", file=out)
"""

Program = Callable[[str], Path]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    def made(text: str) -> Path:
        path = tmp_path / "program"
        path.write_text(f"#!{sys.executable}\n{text}")
        path.chmod(0o755)
        return path

    return made


def code(kernel: str) -> Code:
    (function,) = load_listing(bundled_kernels()[kernel] / "kernel.sass").functions.values()
    return code_of(function)


def test_the_graph_has_a_nop_then_the_blocks_that_control_reaches_and_every_edge_as_a_branch() -> None:
    found = {
        name: (re.findall(r"(?<=>)[^|<}]*|(?<=\\l)[^|<}\\]+;", body), re.findall(rf'"{name}":exit0:e -> "(\w+)"', text))
        for text in [nvdisasm_graph(DIAMOND)]
        for name, body in re.findall(r'^"(\w+)"\n\[label="(.*)"\]$', text, re.MULTILINE)
    }
    assert {name: targets for name, (_, targets) in found.items()} == {
        "b00000": ["b00001"],
        "b00001": ["b00002", "b00003"],
        "b00002": ["b00003"],
        "b00003": ["b00001"],
    }
    assert [parts[0] for parts, _ in found.values()] == [
        "NOP;\\l",
        "OP R0;\\lOP R1 R2;\\l",
        "OP R3;\\l",
        "OP R0 R1;\\l",
    ]
    branches = re.findall(r"@P0 BRA ([\w ]+);", nvdisasm_graph(DIAMOND))
    assert [one.split() for one in branches] == [targets for _, targets in found.values()]


def test_what_the_program_answers_is_its_intervals(program: Program) -> None:
    asked = program(EVERY_BLOCK.replace("LOST", "0"))
    assert theirs(asked, DIAMOND, 16) == [(1, 0), (2, 3), (1, 1), (1, 2)]
    assert ours(DIAMOND, 4) == [(4, 4)] and len(ours(DIAMOND, 3)) > 1
    saxpy = code("saxpy")
    assert sum(length for length, _ in theirs(asked, saxpy, 16)) == len(instructions_of(saxpy)) + 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (EVERY_BLOCK.replace("LOST", "1"), "0 of 4 instructions"),
        ("raise SystemExit(3)", "exit status 3"),
        ("", "exit status 0"),
    ],
)
def test_an_answer_that_cannot_be_is_none(program: Program, text: str, said: str) -> None:
    with pytest.raises(Unfit, match=said):
        theirs(program(text), DIAMOND, 16)


def test_the_program_is_not_asked_what_it_has_no_words_for(program: Program) -> None:
    with pytest.raises(Unfit, match="more ways in than one"):
        nvdisasm_graph(code("calls"))
    with pytest.raises(Unfit, match="109 registers"):
        nvdisasm_graph(code("particle_boxes"))
    table = {row[0]: row for row in rows(program(EVERY_BLOCK.replace("LOST", "0")), 16)}
    assert set(table) == set(bundled_kernels()) and {len(row) for row in table.values()} == {12}
    assert table["calls"][1] == "calls, or more ways in than one"
    assert table["particle_boxes"][6] == "109 registers"
    assert table["saxpy"][1:6] == (14, 4, 1, 14.0, 6)

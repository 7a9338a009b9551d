"""Cell libraries: areas, the unit, and what is said about files that cannot be used."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from warpfile.synth.boolean import truth_table
from warpfile.synth.liberty import NAND2_UNITS, read_liberty

NAND = 'cell(N) { area: 2; pin(A) { direction: input; } pin(B) { direction: input; } pin(Y) { function: "%s"; } }'
FLIP_FLOP = 'cell(F) { area: 8; ff(IQ, IQN) { next_state: "D"; } }'


def write(folder: Path, text: str) -> Path:
    path = folder / "cells.lib"
    path.write_text(text)
    return path


def test_the_own_library_counts_in_nand2() -> None:
    library = read_liberty()
    assert library.nand2_area == library.cells["NAND2"].area == 1.0
    assert library.flip_flops == {"DFF"}


def test_the_areas_of_the_own_library_are_quarters_of_its_transistor_counts() -> None:
    assert all((cell.area * 4).is_integer() for cell in read_liberty().cells.values())


@pytest.mark.parametrize("function", ["(A*B)'", "!(A&B)", "(!A) | (!B)", "(!(A B))", "A' + B'", "(A * B) ^ 1"])
def test_a_nand_is_found_by_its_function(tmp_path: Path, function: str) -> None:
    text = "library(l) {" + NAND % function + FLIP_FLOP + "}"
    assert read_liberty(write(tmp_path, text)).nand2_area == 2.0


def test_a_compressed_library_reads_like_a_plain_one(tmp_path: Path) -> None:
    path = tmp_path / "cells.lib.gz"
    path.write_bytes(gzip.compress(NAND2_UNITS.read_bytes()))
    assert read_liberty(path).cells == read_liberty().cells


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("library(l) {\n cell(A) {\n area: much; }\n}", 3, "area of A must be a number, not much"),
        ("library(l) {\n cell(A) {\n area: 1;\n", 2, "cell(A) is not closed"),
        ("library(l) {\n}\n}", 3, "a brace closes no group"),
        ("library(l) {\n /* no end\n}", 2, "not closed"),
        ('library(l) {\n\n x : "no end\n}', 3, "not closed"),
        ("module m;\nendmodule", 1, "no library with cells"),
        ("cells(l) { }", 1, "outermost group must be library"),
        ("library(l) {" + FLIP_FLOP + "}", 1, "two-input NAND"),
        ("library(l) {" + NAND % "(A*B)'" + "}", 1, "no cell is a flip-flop"),
        ("", 1, "no library with cells"),
    ],
)
def test_a_bad_library_is_named_with_its_line(tmp_path: Path, text: str, line: int, what: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ValueError) as error:
        read_liberty(path)
    message = str(error.value)
    assert message.startswith(f"{path}:{line}: ") and what in message and "\n" not in message


def test_a_missing_or_damaged_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"none\.lib:1: "):
        read_liberty(tmp_path / "none.lib")
    damaged = tmp_path / "cells.lib.gz"
    damaged.write_bytes(gzip.compress(NAND2_UNITS.read_bytes())[:-20])
    with pytest.raises(ValueError, match="neither text nor gzip"):
        read_liberty(damaged)


def test_functions_follow_the_order_of_the_operators() -> None:
    assert truth_table("A + B * C'", "ABC") == (False, False, True, False, True, True, True, True)
    assert truth_table("A ^ B", "AB") == (False, True, True, False)
    with pytest.raises(ValueError):
        truth_table("(A", "A")

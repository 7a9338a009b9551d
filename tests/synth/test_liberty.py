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
    own = read_liberty().cells
    assert read_liberty(path).cells == {name: cell for name, cell in own.items() if name not in ("LATCH", "CLKGATE")}


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


LATCH = "cell(L) { area: 5; latch(IQ, IQN) { data_in: D; } } cell(ZERO) { area: 0; latch(IQ, IQN) { data_in: D; } }"
AND = 'cell(A) { area: 3; pin(A) { direction: input; } pin(B) { direction: input; } pin(Y) { function: "A*B"; } }'
GATE = 'cell(G) { area: 7; clock_gating_integrated_cell : "latch_posedge"; }'


def test_a_word_of_latches_in_the_own_library_has_twelve_transistors_a_bit_and_a_gate_of_eighteen() -> None:
    assert read_liberty().latched_area(32) == (32 * 12 + 18) / 4


@pytest.mark.parametrize(("cells", "gate"), [(GATE, 7), (AND, 5 + 3), ("", 5 + 2 * 2)])
def test_a_clock_gate_is_one_of_the_library_or_a_latch_and_an_and(tmp_path: Path, cells: str, gate: int) -> None:
    library = read_liberty(write(tmp_path, f"library(l) {{ {NAND % '!(A*B)'} {FLIP_FLOP} {LATCH} {cells} }}"))
    assert library.latched_area(4) == 4 * 5 + gate


def test_a_library_without_latches_cannot_store_in_them(tmp_path: Path) -> None:
    library = read_liberty(write(tmp_path, f"library(l) {{ {NAND % '!(A*B)'} {FLIP_FLOP} }}"))
    with pytest.raises(ValueError, match="must have a latch with an area"):
        library.latched_area(1)


UNIT = "time_unit : 1ps; capacitive_load_unit (1, ff);"


def several(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.lib").write_text(text)
    return folder / ",".join(f"{name}.lib" for name in files)


def test_a_library_of_several_files_is_one(tmp_path: Path) -> None:
    template = "lu_table_template(t) { variable_1 : %s; }"
    path = several(
        tmp_path,
        gates=f"library(a) {{ {UNIT} {template % 'first'} {NAND % '!(A*B)'} }}",
        stores=f"/* {{ */ library(b) {{ {UNIT.replace(' :', ':')} {template % 'second'} {FLIP_FLOP}"
        f" {(NAND % 'A+B').replace('area: 2', 'area: 7')} }}",
    )
    library = read_liberty(path)
    assert library.name == "gates.lib,stores.lib" and library.cells.keys() == {"N", "F"}
    whole = tmp_path / "whole.lib"
    whole.write_text(library.text)
    assert read_liberty(whole).cells == library.cells, "the joined text is a library too"
    assert library.text.count("lu_table_template") == 1 and "first" in library.text, "the first of two templates"
    assert library.cells["N"].area == 2 and library.text.count("cell(N)") == 1, "and the first of two cells"


def test_files_with_other_units_are_no_library(tmp_path: Path) -> None:
    parts = f"library(a) {{ {UNIT} {NAND % '!(A*B)'} }}", f"library(b) {{ {UNIT.replace('ps', 'ns')} {FLIP_FLOP} }}"
    with pytest.raises(ValueError, match=r"two\.lib:1: time_unit must be that of the first file, 1ps$"):
        read_liberty(several(tmp_path, one=parts[0], two=parts[1]))


def test_a_missing_part_of_a_library_is_named(tmp_path: Path) -> None:
    path = several(tmp_path, one=f"library(a) {{ {NAND % '!(A*B)'} {FLIP_FLOP} }}", two="")
    (tmp_path / "two.lib").unlink()
    with pytest.raises(ValueError, match=r"two\.lib:1: No such file"):
        read_liberty(path)


def test_waveforms_are_left_out_and_lines_keep_their_numbers(tmp_path: Path) -> None:
    wave = "output_current_rise() {\n vector(v) { reference_time : 1; }\n }\n"
    timed = FLIP_FLOP.replace("ff(", f"pin(Q) {{ timing() {{ {wave} cell_rise(t) {{ }} }} }}\n ff(")
    text = f"library(l) {{ {NAND % '!(A*B)'} {timed} receiver_capacitance() {{ }} {{{{"
    good = text.replace("{{", "}")
    library = read_liberty(write(tmp_path, good))
    assert "vector" not in library.text and "cell_rise" in library.text and library.cells["F"].flip_flop
    with pytest.raises(ValueError, match=r":5: a group needs a name"):
        read_liberty(write(tmp_path, text))

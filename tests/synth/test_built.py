"""Arrays in a cell library: latches by cells worked by hand, macros by the figures of their datasheets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from warpfile.spec.structure import Ram
from warpfile.synth.arrays import Array
from warpfile.synth.built import (
    DENSE_UM2,
    LATCHES,
    Built,
    Macro,
    built,
    is_multiplexer,
    memory_areas,
    multiplexed,
    of_flip_flops,
    of_latches,
    read_macros,
)
from warpfile.synth.liberty import Liberty, read_liberty

#: Areas of sky130_fd_sc_hd, in um2: dlxtp_1, dlclkp_1, dfxtp_1, mux2_1, mux4_1, and one that is not used.
LATCH, GATE, FLIP_FLOP, MUX2, MUX4 = 15.0144, 17.5168, 20.0192, 11.2608, 22.5216
CELLS = f"""library(sky) {{
cell(sky130_fd_sc_hd__nand2_1) {{ area: 3.7536; pin(A) {{ direction: input; }} pin(B) {{ direction: input; }}
  pin(Y) {{ direction: output; function: "(!A) | (!B)"; }} }}
cell(sky130_fd_sc_hd__dlxtp_1) {{ area: {LATCH}; latch(Q, N) {{ enable: "G"; data_in: "D"; }}
  pin(D) {{ direction: input; }} pin(G) {{ direction: input; }} pin(Q) {{ direction: output; function: "Q"; }} }}
cell(sky130_fd_sc_hd__lpflow_inputisolatch_1) {{ area: 1; latch(Q, N) {{ enable: "G"; data_in: "D"; }}
  pin(D) {{ direction: input; }} pin(G) {{ direction: input; }} pin(Q) {{ direction: output; function: "Q"; }} }}
cell(sky130_fd_sc_hd__dlclkp_1) {{ area: {GATE}; clock_gating_integrated_cell: "latch_posedge"; }}
cell(sky130_fd_sc_hd__dfxtp_1) {{ area: {FLIP_FLOP}; ff(Q, N) {{ clocked_on: "C"; next_state: "D"; }}
  pin(D) {{ direction: input; }} pin(C) {{ direction: input; }} pin(Q) {{ direction: output; function: "Q"; }} }}
cell(sky130_fd_sc_hd__mux2_1) {{ area: {MUX2}; pin(A0) {{ direction: input; }} pin(A1) {{ direction: input; }}
  pin(S) {{ direction: input; }} pin(X) {{ direction: output; function: "(A0&!S) | (A1&S)"; }} }}
cell(sky130_fd_sc_hd__mux4_1) {{ area: {MUX4}; pin(A0) {{ direction: input; }} pin(A1) {{ direction: input; }}
  pin(A2) {{ direction: input; }} pin(A3) {{ direction: input; }} pin(S0) {{ direction: input; }}
  pin(S1) {{ direction: input; }} pin(X) {{ direction: output;
    function: "(A0&!S0&!S1) | (A1&S0&!S1) | (A2&!S0&S1) | (A3&S0&S1)"; }} }}
cell(sky130_fd_sc_hd__a21oi_1) {{ area: 1; pin(A) {{ direction: input; }} pin(B) {{ direction: input; }}
  pin(C) {{ direction: input; }} pin(Y) {{ direction: output; function: "(A&B) | C"; }} }}
}}
"""


@pytest.fixture
def sky(tmp_path: Path) -> Liberty:
    path = tmp_path / "sky.lib"
    path.write_text(CELLS)
    return read_liberty(path)


def named(name: str) -> Macro:
    return next(one for one in read_macros() if one.name == name)


def test_a_row_has_a_gate_and_a_bit_a_latch_and_its_share_of_the_multiplexers(sky: Liberty) -> None:
    """64 rows: 16 + 4 + 1 multiplexers of four per bit of a word, a register for the word that is written."""
    found = of_latches(Array(64, 128, "1R1W"), sky)
    assert found.um2 == pytest.approx(64 * 128 * LATCH + 64 * GATE + 128 * FLIP_FLOP + 128 * 21 * MUX4)
    # 15.01 + 0.14 + 0.31 + 7.39: within the 22 to 25 um2 of a bit of sky130.
    assert found.um2_per_bit == pytest.approx(22.854, abs=0.001)
    # 8 rows: two of four and one of two.
    assert of_latches(Array(8, 128, "1R1W"), sky).um2_per_bit == pytest.approx(
        LATCH + GATE / 128 + FLIP_FLOP / 8 + (2 * MUX4 + MUX2) / 8
    )


def test_every_port_costs_its_own(sky: Liberty) -> None:
    """12 rows: three of four, and two of two for the three that are left. Two writes: one of two at every latch."""
    read = 3 * MUX4 + 2 * MUX2
    found = of_latches(Array(12, 32, "3R2W"), sky)
    assert found.um2 == pytest.approx(12 * 32 * (LATCH + MUX2) + 12 * GATE + 2 * 32 * FLIP_FLOP + 3 * 32 * read)
    # A port that reads or writes is one of each.
    assert of_latches(Array(12, 32, "1RW"), sky).um2 == of_latches(Array(12, 32, "1R1W"), sky).um2
    # A flip-flop holds its value or takes that of the port.
    assert of_flip_flops(Array(12, 32, "1R1W"), sky).um2 == pytest.approx(12 * 32 * (FLIP_FLOP + MUX2) + 32 * read)


def test_multiplexers_are_known_by_what_they_compute(sky: Liberty) -> None:
    assert {name for name, cell in sky.cells.items() if is_multiplexer(cell, 2)} == {"sky130_fd_sc_hd__mux2_1"}
    assert {name for name, cell in sky.cells.items() if is_multiplexer(cell, 4)} == {"sky130_fd_sc_hd__mux4_1"}
    assert [multiplexed(words, sky) for words in (1, 2, 3, 4, 5)] == pytest.approx(
        [0, MUX2, 2 * MUX2, MUX4, MUX4 + MUX2]
    )


def test_a_library_without_multiplexers_has_nands(tmp_path: Path) -> None:
    """Four words: three multiplexers of two, each of three NAND2."""
    path = tmp_path / "nand.lib"
    path.write_text(CELLS[: CELLS.index("cell(sky130_fd_sc_hd__mux2_1)")] + "}\n")
    assert multiplexed(4, read_liberty(path)) == pytest.approx(9 * 3.7536)


def test_data_sheets_have_the_densities_that_they_print() -> None:
    """74.87 x 702.83 um of 64 x 32 bits; 479.78 x 397.5 um of 256 x 32; 118.78 x 784.48 um of 256 x 64."""
    assert named("RM_IHPSG13_2P_64x32_c2").um2_per_bit == pytest.approx(74.87 * 702.83 / 2048, rel=1e-4)
    assert named("sky130_sram_1kbyte_1rw1r_32x256_8").um2_per_bit == pytest.approx(479.78 * 397.5 / 8192)
    assert named("RM_IHPSG13_1P_256x64_c2_bm_bist").um2_per_bit == pytest.approx(118.78 * 784.48 / 16384, rel=1e-4)
    assert named("RM_IHPSG13_2P_256x32_c2_bm_bist").um2_per_bit == pytest.approx(136.97 * 702.83 / 8192, rel=1e-4)
    # 1 / 0.94 um2 at 45 nm is 1.0638; (130 / 45)^2 is 8.3457.
    assert pytest.approx(8.878, abs=0.001) == DENSE_UM2
    assert named("RM_IHPSG13_2P_64x32_c2").um2_per_bit / DENSE_UM2 == pytest.approx(2.9, abs=0.05)


def test_more_than_64_rows_are_macros(sky: Liberty) -> None:
    """A slice of 128 bits is four macros of 32; half of the rows is half of the area."""
    macro = named("sky130_sram_1kbyte_1rw1r_32x256_8")
    found = built(Array(256, 128, "1R1W"), sky, read_macros())
    assert found == Built(Array(256, 128, "1R1W"), macro.name, 4, pytest.approx(4 * macro.um2), 3.294)
    half = built(Array(128, 128, "1RW"), sky, read_macros())
    assert (half.macros, half.um2) == (4, pytest.approx(2 * macro.um2))
    assert built(Array(64, 128, "1R1W"), sky, read_macros()).form == LATCHES
    # Two reads and a write: every word stands in two macros.
    assert built(Array(256, 32, "2R1W"), sky, read_macros()).um2 == pytest.approx(2 * macro.um2)


def test_ports_that_no_macro_has_are_latches(sky: Liberty) -> None:
    """One port of the macro writes, and a renaming table has two that do; the one of IHP would do."""
    table = Array(1536, 13, "2RW")
    assert named("sky130_sram_1kbyte_1rw1r_32x256_8").needed(table) == 0
    assert named("RM_IHPSG13_1P_256x64_c2_bm_bist").needed(Array(256, 64, "1R1W")) == 0
    assert named("RM_IHPSG13_2P_1024x16_c2_bm_bist").needed(table) == 2
    assert built(table, sky, read_macros()).form == LATCHES


def test_macros_of_another_library_are_not_taken(sky: Liberty) -> None:
    theirs = [one for one in read_macros() if one.library == "sg13g2_"]
    assert built(Array(256, 128, "1R1W"), sky, theirs).form == LATCHES


def test_a_damaged_data_sheet_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "macros.toml"
    path.write_text('[[macros]]\nname = "m"\nlibrary = "l"\nrows = 0\n')
    with pytest.raises(ValueError, match=r"macros\.toml: macro 1: rows must be a whole number above 0, not 0"):
        read_macros(path)


def test_a_memory_is_all_of_its_slices(sky: Liberty) -> None:
    """Two arrays of 300 bits in three slices of 100 bits each."""
    rams = {"small": Ram(16, 300, "1R1W", 5, arrays=2), "large": Ram(256, 64, "1R1W", 1)}
    found = memory_areas(rams, sky, 130)
    assert found["small"] == pytest.approx(6 * of_latches(Array(16, 100, "1R1W"), sky).um2)
    assert found["large"] == pytest.approx(built(Array(256, 64, "1R1W"), sky, read_macros()).um2)


def test_memories_that_a_library_cannot_build_have_a_density(sky: Liberty) -> None:
    """Without macros those of many rows, without latches all; twice the node has four times the area."""
    rams = {"small": Ram(16, 32, "1R1W", 1), "large": Ram(256, 32, "1R1W", 1)}
    cells = {name.replace("sky130_fd_sc_hd__", "other_"): cell for name, cell in sky.cells.items()}
    other = replace(sky, cells=cells)
    assert memory_areas(rams, other, 130)["large"] == pytest.approx(256 * 32 * DENSE_UM2)
    assert memory_areas(rams, other, 260)["large"] == pytest.approx(256 * 32 * DENSE_UM2 * 4)
    assert memory_areas(rams, other, 260)["small"] == memory_areas(rams, other, 130)["small"]
    bare = replace(sky, cells={name: cell for name, cell in sky.cells.items() if not cell.latch})
    assert memory_areas(rams, bare, 130)["small"] == pytest.approx(16 * 32 * DENSE_UM2)

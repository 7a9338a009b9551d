"""What CACTI is asked, what is made of its answers, and the rule for small arrays. A stand-in answers in its place."""

from __future__ import annotations

import re
import stat
from dataclasses import asdict
from pathlib import Path

import pytest

from warpfile.synth.arrays import Array, ArrayPrice
from warpfile.synth.cacti import CactiError, Technology, configuration, fo4_ns, ports_of, price_of, runner, volts

HP = Technology(22, "itrs-hp", 360)


def said(array: Array, at: Technology = HP) -> dict[str, str]:
    """What the configuration of an array says, by the name of the line."""
    lines = configuration(array, at).splitlines()
    return dict(match.groups() for line in lines if (match := re.fullmatch(r"-(\D+?) ([\d.]+)", line)))  # type: ignore[misc]


def test_the_configuration_has_sizes_in_bytes_and_ports_by_kind() -> None:
    one = said(Array(256, 1024, "1R1W"))
    assert one["size (bytes)"] == "32768" and one["block size (bytes)"] == "128"
    assert one["output/input bus width"] == "1024"
    assert [one[f"{kind} port"] for kind in ("read-write", "exclusive read", "exclusive write")] == ["0", "1", "1"]
    assert said(Array(64, 32, "2RW"))["read-write port"] == "2"
    assert one["technology (u)"] == "0.022" and one["operating temperature (K)"] == "360"
    assert said(Array(64, 32, "1RW"), Technology(40, "itrs-lop", 300))["technology (u)"] == "0.04"


def test_every_quote_of_the_configuration_is_closed() -> None:
    assert all(line.count('"') in (0, 2) for line in configuration(Array(64, 32, "1RW"), HP).splitlines())


def test_part_of_a_byte_is_refused() -> None:
    with pytest.raises(ValueError, match="width must be whole bytes, not 14 bits"):
        configuration(Array(64, 14, "1RW"), HP)


@pytest.mark.parametrize("text", ["", "RW", "1WR", "1RW1RW", "1R 1W", "0RW"])
def test_other_ports_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="ports must be like 1RW, 2RW or 1R1W, not"):
        ports_of(text)


# The rule for small arrays.


def straight(array: Array) -> ArrayPrice:
    """A tool whose prices are 100 + rows for a read of 32 bits, twice that for a write, and go with the width."""
    assert array.rows >= 64 and array.width >= 32 and array.width % 8 == 0
    pj = (100 + array.rows) * array.width / 32
    return ArrayPrice(pj, 2 * pj, pj / 10, pj / 100, array.rows / 64, array.rows / 32, str(array))


def test_arrays_that_are_large_enough_are_taken_as_they_are() -> None:
    for array in (Array(64, 32, "1RW"), Array(256, 1024, "1R1W"), Array(100, 40, "2RW")):
        assert price_of(array, straight) == straight(array)


def test_few_rows_lie_on_the_line_through_64_and_128() -> None:
    """8 rows: 164 and 228 pJ are 64 apart for 64 rows, so 56 rows less are 164 - 56 = 108."""
    found = price_of(Array(8, 32, "1RW"), straight)
    assert (found.read_pj, found.write_pj, found.leakage_mw, found.area_mm2) == (108, 216, 10.8, 1.08)
    # Times are those of 64 rows.
    assert (found.access_ns, found.cycle_ns) == (1, 2)
    assert found.from_sizes == "64x32x1RW, 128x32x1RW"


def test_few_bits_have_their_share_of_32() -> None:
    """14 of 32 bits of 1,536 rows: 14 / 32 x 1,636 = 715.75."""
    found = price_of(Array(1536, 14, "2RW"), straight)
    assert (found.read_pj, found.write_pj, found.from_sizes) == (715.75, 1431.5, "1536x32x2RW")


def test_bits_that_are_no_whole_bytes_have_their_share_of_the_next_width() -> None:
    assert price_of(Array(64, 33, "1RW"), straight).read_pj == pytest.approx(
        33 / 40 * straight(Array(64, 40, "1RW")).read_pj
    )


def test_few_rows_of_few_bits_are_both() -> None:
    """2 rows of 16 bits: (164 - 62) / 2 = 51."""
    assert price_of(Array(2, 16, "1RW"), straight).read_pj == 51


def test_the_rule_gives_no_price_that_is_not_above_zero() -> None:
    def steep(array: Array) -> ArrayPrice:
        values = asdict(straight(array)) | {"leakage_mw": float(array.rows - 32)}
        return ArrayPrice(**values)

    assert price_of(Array(63, 32, "1RW"), steep).leakage_mw == 31
    with pytest.raises(CactiError, match="the rule for small arrays has no answer for one of 8x32x1RW"):
        price_of(Array(8, 32, "1RW"), steep)


# The tool.

_HEAD = "Tech node (nm), Access time (ns), Random cycle time (ns), Dynamic read energy (nJ), Dynamic write energy (nJ)"
_LINE = "22, 0.25, 0.5, 0.0125, 0.0375, 2.5, 0.04"
ANSWER = f"{_HEAD}, Standby leakage per bank(mW), Area (mm2)\n{_LINE}\n"


def stand_in(folder: Path, script: str) -> Path:
    path = folder / "cacti"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return folder


def test_the_answer_is_read_in_our_units(tmp_path: Path) -> None:
    (tmp_path / "answer").write_text(ANSWER)
    run = runner(stand_in(tmp_path, 'test "$1" = -infile && grep -q "size (bytes) 256" "$2" && cp answer "$2.out"'), HP)
    found = run(Array(64, 32, "1RW"))
    assert found == ArrayPrice(12.5, 37.5, 2.5, 0.04, 0.25, 0.5, "64x32x1RW")


@pytest.mark.parametrize(
    "script", ["echo ERROR: no valid data array organizations found", "echo ERROR: no valid; exit 1"]
)
def test_no_answer_is_said_with_the_array(tmp_path: Path, script: str) -> None:
    with pytest.raises(CactiError, match="CACTI has no answer for an array of 64x32x1RW: ERROR: no valid"):
        runner(stand_in(tmp_path, script), HP)(Array(64, 32, "1RW"))


def test_the_fo4_is_asked_for_in_detail(tmp_path: Path) -> None:
    """CACTI prints it, in seconds, where it prints details."""
    (tmp_path / "answer").write_text(ANSWER)
    stand_in(tmp_path, 'grep -q "DETAILED" "$2" && cp answer "$2.out" && echo "FO4 = 9.5e-12"')
    assert fo4_ns(tmp_path, HP) == 0.0095


def test_a_tool_that_prints_no_fo4_is_refused_with_the_command(tmp_path: Path) -> None:
    (tmp_path / "answer").write_text(ANSWER)
    stand_in(tmp_path, 'cp answer "$2.out"; echo "//FO4 = 9.5e-12"')
    with pytest.raises(CactiError, match="CACTI prints no FO4; make cacti compiles one that does"):
        fo4_ns(tmp_path, HP)


def test_the_supply_is_that_of_the_kind_of_transistors(tmp_path: Path) -> None:
    (tmp_path / "tech_params").mkdir()
    (tmp_path / "tech_params" / "22nm.dat").write_text(
        "-Lphy (um) 0.9\n-Vdd (V) 0.8 0.9 0.6 0 1\n-dram_cell_Vdd (V) 5\n"
    )
    assert volts(tmp_path, HP) == 0.8
    assert volts(tmp_path, Technology(22, "itrs-lop", 300)) == 0.6

"""The page of FPGA figures is what its command prints: a bank's rows here, the machine's in the long regression."""

from __future__ import annotations

import pytest

from warpfile.pages.fpga import FAMILIES, PAGE, cases, page, row


@pytest.fixture(scope="module")
def bank() -> tuple[str, str, str]:
    """The bank as the wrapper has it."""
    return next(case for case in cases() if case[0].startswith("bank") and case[0].endswith("wrapper"))


@pytest.mark.check
@pytest.mark.parametrize(
    "family", [pytest.param(name, marks=() if name == "ecp5" else pytest.mark.regress) for name in FAMILIES]
)
def test_the_rows_of_the_wrapper_are_on_the_page(bank: tuple[str, str, str], family: str) -> None:
    assert PAGE.read_text().count(row(family, *bank)) == 1


def test_a_wrapper_of_another_width_is_not_on_the_page(bank: tuple[str, str, str]) -> None:
    what, verilog, top = bank
    wider = verilog.replace("LANES = 4", "LANES = 8")
    assert wider != verilog and row("ecp5", what, wider, top) not in PAGE.read_text()


@pytest.mark.regress
def test_the_page_is_what_its_command_prints() -> None:
    assert page() == PAGE.read_text()

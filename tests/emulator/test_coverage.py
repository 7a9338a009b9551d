"""The table of opcodes is current, and nothing that real kernels need is missing in it."""

from __future__ import annotations

from warpfile.emulator.coverage import REFUSED, SAMPLES, SUITES, TABLE, rows, table


def test_the_page_is_current() -> None:
    assert TABLE.read_text(encoding="utf-8") == table(), "run 'python -m warpfile.pages opcodes'"


def test_the_lists_have_their_sizes() -> None:
    assert (len(SUITES), len(SUITES | SAMPLES)) == (73, 96)
    assert not SUITES & SAMPLES


def test_every_needed_opcode_is_parsed_executed_and_tested() -> None:
    for row in rows():
        if row.needed:
            assert row.parsed and row.tested, row
            assert row.executed == ("refused" if row.opcode in REFUSED else "yes"), row


def test_everything_that_is_executed_is_tested() -> None:
    assert [row.opcode for row in rows() if row.executed != "no" and not row.tested] == []

"""Whoever writes beside the results asks for a bank's port (docs/machine.md, section 6)."""

from __future__ import annotations

import pytest

from tests.golden.machines import layout_of
from warpfile.golden.rf.banked.file import BankedFile
from warpfile.golden.rf.banks import Banks, Write
from warpfile.spec.config import Config
from warpfile.spec.environment import Result


@pytest.mark.parametrize(("ports", "served"), [("1RW", [2]), ("1R1W", [0, 2])])
def test_a_claim_takes_the_write_port_that_results_leave(ports: str, served: list[int]) -> None:
    cfg = Config(banks=2, bank_ports=ports, source_slots=2, bank_cycles=2)
    file = BankedFile(cfg, layout_of("baseline", cfg), None)
    banks = file.banks
    assert file.accept(0, [Result(0, 0, True, 5, 0, 1, 0)], 1, 1) == 1
    assert not banks.claim(0, 1)
    assert not banks.claim(1, 1)
    assert banks.claim(2, 0)
    assert [index for index, _, _ in banks.read(2, [0b0001, 0b0100], [0] * 8, [0, 1])] == served
    assert not banks.claim(3, 0)
    assert banks.claim(4, 0)


def test_a_read_sees_its_row_as_it_was_and_says_when_it_arrives() -> None:
    banks = Banks(Config(banks=1, bank_ports="1R1W", bank_cycles=3))
    banks.write(0, Write(4, 77))
    assert banks.read(5, [0b1], [4], [0]) == [(0, -1, 8)]
    assert banks.edge() == 1
    assert banks.read(8, [0b1], [4], [0]) == [(0, 77, 11)]
    assert banks.edge() == 0


def test_lanes_are_merged_into_a_row() -> None:
    banks = Banks(Config(banks=1))
    for write in (Write(4, 7), Write(4, 9, before=7, lanes=0xFF), Write(5, 9, before=7, lanes=0xFF)):
        banks.write(0, write)
    banks.edge()
    assert banks.rows[0][4] == 9
    assert banks.rows[0][5] < -1  # the row never had 7, so that the other lanes are out of date


def test_no_request_comes_to_the_ports_after_a_later_turn() -> None:
    banks = Banks(Config(banks=1))
    banks.turn(4, 3)
    with pytest.raises(AssertionError, match="turn 1 at the banks comes after turn 3"):
        banks.turn(4, 1)
    banks.turn(5, 1)
    banks.turn(5, 4)
    banks.shared = True
    with pytest.raises(AssertionError, match="turn 3 at the banks comes after turn 4"):
        banks.read(5, [0], [0], [])

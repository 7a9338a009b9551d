"""Whoever writes beside the results asks for a bank's port (docs/machine.md, section 6)."""

from __future__ import annotations

import pytest

from warpfile.golden.rf.banks import Banks
from warpfile.golden.rf.location import Location
from warpfile.spec.config import Config
from warpfile.spec.environment import Result


def make_banks(**changes: object) -> Banks:
    cfg = Config(banks=2).replace(**changes)
    return Banks(cfg, Location(cfg))


@pytest.mark.parametrize(("ports", "served"), [("1RW", [2]), ("1R1W", [0, 2])])
def test_a_claim_takes_the_write_port_that_results_leave(ports: str, served: list[int]) -> None:
    banks = make_banks(bank_ports=ports, source_slots=2, bank_cycles=2)
    assert banks.accept(0, [Result(0, 0, 0, True, 5, 0, 1, 0)]) == 1
    assert not banks.claim(0, 1)
    assert not banks.claim(1, 1)
    assert banks.claim(2, 0)
    assert banks.grant(2, [0b0001, 0b0100], [0, 1]) == served
    assert not banks.claim(3, 0)
    assert banks.claim(4, 0)

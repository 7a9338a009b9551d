"""Banks without arbiter (docs/schemes/modern.md, section 10)."""

from __future__ import annotations

import pytest

from warpfile.golden.rf.ported.file import PortedFile
from warpfile.schemes import find
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stimulus import Result


def ported(read_ports: int = 2, base: int = 6) -> PortedFile:
    scheme = find("modern")
    cfg = scheme.configuration("tiny", read_ports=read_ports)
    file = PortedFile(cfg, ProbeLayout(scheme.probes(cfg)), None)
    file.launched(Launch(1, base, 0, 0))
    return file


def result(register: int, row: int = 5, writes: bool = True) -> Result:
    return Result(0, 1, writes, register, 0, 0xFFFFFFFF, row)


def test_the_bank_of_a_register_is_its_parity() -> None:
    file = ported(base=6)
    assert [file.place(1, register) for register in (0, 1, 2, 3)] == [(0, 3), (1, 3), (0, 4), (1, 4)]


@pytest.mark.parametrize("read_ports", [1, 2, 3])
def test_every_request_is_served_on_its_port(read_ports: int) -> None:
    file = ported(read_ports)
    for bank in (0, 1):
        for row in range(3):
            file.banks.rows[bank][row] = 10 * bank + row
    requests = range(2 * read_ports)
    asking = [(1 << read_ports) - 1, (1 << read_ports) - 1 << read_ports]
    served = file.read(7, asking, [number % read_ports for number in requests], [0, 1])
    assert served == [(number, 10 * (number // read_ports) + number % read_ports, 8) for number in requests]


def test_a_row_is_read_as_it_was_before_the_write_of_the_cycle() -> None:
    file = ported(1)
    bank, row = file.place(1, 4)
    assert file.accept(3, [result(4, 9), None, None], 0b001, 0b001) == 0b001
    assert file.read(3, [1, 0], [row, 0], [0, 1]) == [(0, -1, 4)]
    file.edge(3)
    assert file.banks.rows[bank][row] == 9
    assert [one.register for one in file.completion.due(3)] == [4]


def test_results_take_a_bank_in_the_order_of_their_ports() -> None:
    file = ported()
    assert file.accept(0, [result(2), result(4), result(6)], 0b111, 0b111) == 0b001
    assert file.accept(1, [None, result(4), result(6)], 0b110, 0b110) == 0b010
    assert file.accept(2, [result(2), result(5), result(6)], 0b111, 0b111) == 0b011
    assert file.accept(3, [result(2), result(0, writes=False), result(6)], 0b111, 0b101) == 0b011

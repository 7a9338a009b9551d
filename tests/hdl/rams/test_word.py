"""The Verilog of a bank of words, for both kinds of ports."""

import pytest

from warpfile.hdl.rams.word import word_verilog
from warpfile.spec.config import Config


@pytest.mark.parametrize(
    ("ports", "says", "pins"),
    [
        ("1RW", "An access is a read or a write", ("enable,", "write,", "address,")),
        ("1R1W", "A row may be read and written in one cycle", ("read_enable,", "read_address,", "write_enable,")),
    ],
)
def test_a_word_is_written_as_a_whole_by_the_ports_of_a_bank(ports, says, pins) -> None:
    text = word_verilog(Config(bank_ports=ports, rows=64))
    assert says in text and "64 rows of 32 bits" in text and "used in cycle t + 1 only." in text
    assert "mask" not in text
    assert all(f" {pin}" in text for pin in pins)

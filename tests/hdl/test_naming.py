"""What is named has bits in the Verilog."""

from __future__ import annotations

from amaranth import Module, Signal, Value
from amaranth.back import verilog

from warpfile.hdl.naming import named


def written(value: Value) -> str:
    m, out = Module(), Signal(2)
    m.d.comb += out.eq(named(m, "inner", value))
    return verilog.convert(m, ports=[out], name="machine")


def test_a_value_is_a_wire_of_its_name() -> None:
    assert " inner;" in written(~Signal(2, name="given"))


def test_of_no_bits_nothing_is_written() -> None:
    text = written(Signal(2, name="given")[:0])
    assert "inner" not in text
    assert "[-1:0]" not in text

"""Naming intermediate values."""

from amaranth import Module, Signal, Value


def named(m: Module, name: str, value: Value) -> Signal:
    """A signal that carries ``value``. Every use of an unnamed expression is written out again in the Verilog."""
    signal = Signal(len(value), name=name)
    m.d.comb += signal.eq(value)
    return signal

"""Naming intermediate values."""

from amaranth import Module, Signal, Value


def named(m: Module, name: str, value: Value) -> Value:
    """A signal that carries ``value``, of which every use of an unnamed expression is written out again in the Verilog.

    A value of no bits is returned as it is: Verilog has no such vector.
    """
    if not len(value):
        return value
    signal = Signal(len(value), name=name)
    m.d.comb += signal.eq(value)
    return signal

"""Source of arbitrary numbers: a linear feedback shift register."""

from amaranth import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.spec.schemes.malekeh import LFSR_BITS

#: Feedback of the polynomial x^8 + x^6 + x^5 + x^4 + 1: all values but zero, in a cycle of 255.
FEEDBACK = 0xB8


class Lfsr(wiring.Component):
    """Galois register that shifts right.

    Members
    -------
    step : In(1)             Seen one cycle later.
    state : Out(LFSR_BITS)   ``seed`` after reset, which must not be zero.
    """

    def __init__(self, seed: int) -> None:
        if not 0 < seed < 1 << LFSR_BITS:
            raise ValueError(f"seed must be from 1 to {(1 << LFSR_BITS) - 1}, not {seed}")
        super().__init__({"step": In(1), "state": Out(LFSR_BITS, init=seed)})

    def elaborate(self, platform) -> Module:
        """One shift with feedback."""
        m = Module()
        with m.If(self.step):
            m.d.sync += self.state.eq((self.state >> 1) ^ Mux(self.state[0], FEEDBACK, 0))
        return m

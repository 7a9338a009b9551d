"""Registers that take a value in some cycles only: with an enable, or behind a clock gate (docs/area.md)."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth import ClockDomain, ClockSignal, Instance, Module, Mux, Value
from amaranth.hdl._ast import Statement

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.naming import named
from warpfile.hdl.stamp import TEST, TEST_ENABLE, note_module
from warpfile.spec.config import Config
from warpfile.spec.structure import CLOCK_GATE

#: The gate. It has a latch, so that an enable that changes while the clock is high gives no pulse.
CLOCK_GATE_TEXT = f"""\
// Integrated clock gate: gated_clk is clk in a cycle that follows one with enable or test_enable, and else low.
// Enable is settled before the rising edge of clk; while clk is high it may change, and has no effect.
// A library's cell may take its place.
module {CLOCK_GATE} (
  input  clk,
  input  enable,
  input  {TEST_ENABLE},
  output gated_clk
);
  reg open;
  // verilator lint_off LATCH
  always @* if (!clk) open = enable | {TEST_ENABLE};
  // verilator lint_on LATCH
  assign gated_clk = clk & open;
endmodule
"""
#: When registers take values, and the value of each of them.
Write = tuple[Value, Sequence[Value]]


def take(
    m: Module,
    cfg: Config,
    name: str,
    registers: Sequence[Value],
    *writes: Write,
    last_counts: bool = False,
    also: Sequence[Statement] = (),
) -> None:
    """Registers that take values at the end of a cycle with the enable of a write.

    Of several writes the first one counts, or with ``last_counts`` the last one. ``also`` gives what the first one does
    to registers without a gate. With ``cfg.clock_gating`` they share a clock gate, ``name`` followed by ``_gate``, and
    have no multiplexers.
    """
    if cfg.clock_gating == "none":
        for number, (enable, values) in enumerate(writes):
            with m.Elif(enable) if number and not last_counts else m.If(enable):
                m.d.sync += [register.eq(value) for register, value in zip(registers, values, strict=True)]
                m.d.sync += [] if number else also
        return
    with m.If(writes[0][0]):
        m.d.sync += also
    ordered = writes[::-1] if last_counts else writes
    domain = _gated(m, name, named(m, f"{name}_enable", any_of(enable for enable, _ in ordered)))
    for place, register in enumerate(registers):
        value: Value = Value.cast(ordered[-1][1][place])
        for enable, values in reversed(ordered[:-1]):
            value = Mux(enable, values[place], value)
        m.d[domain] += register.eq(value)


def _gated(m: Module, name: str, enable: Value) -> str:
    """A clock domain that has an edge at the end of a cycle with ``enable``."""
    note_module(CLOCK_GATE, CLOCK_GATE_TEXT)
    domain = ClockDomain(f"{name}_gated", local=True, reset_less=True)
    m.domains += domain
    m.submodules[f"{name}_gate"] = Instance(
        CLOCK_GATE,
        i_clk=ClockSignal(),
        i_enable=enable,
        **{f"i_{TEST_ENABLE}": ClockSignal(TEST)},
        o_gated_clk=domain.clk,
    )
    return domain.name

"""Verilog of a checker that stands beside a machine in a simulation and watches what is done to its pins."""

from __future__ import annotations

from warpfile.spec.beat import decode_fields, field_bits, kernel_fields, launch_fields, missed_fields, result_fields
from warpfile.spec.config import Config
from warpfile.spec.pins import RULES, rules

_MODULE = """\
// What nobody may do to the pins of {top}: connect it beside the machine, in a simulation. Every pin has the name that
// it has there. A broken rule is printed in the cycle in which it is broken, and ends the simulation unless STOP is 0.
`ifndef SYNTHESIS
module {top}_checks #(parameter STOP = 1) (
  input clk,
  input rst,
{ports}  output [{rules_top}:0] wrong  // a bit per rule that is broken in this cycle
);
  reg [{warp_top}:0] taken;  // slots between a launch and their bit in retired
{declared}{assigned}  always @(posedge clk) begin
    taken <= rst ? 0 : (taken & ~retired) | (launch__valid && launch__ready ? {warps}'d1 << {launched} : {warps}'d0);
{held}    if (!rst) begin
{told}      if (STOP != 0 && wrong != 0) $stop;
    end
  end
endmodule
`endif
"""
_TOLD = '      if (wrong[{number}]) $display("%0t %m: {text}", $time);\n'
_WAITS = "  reg {name}_waits;\n  reg [{top}:0] {name}_before;\n"
_HELD = """\
    {name}_waits <= !rst && {name}__valid && !{name}__ready;
    {name}_before <= {name}__payload;
"""
_CHANGED = "({name}_waits && (!{name}__valid || {name}__payload !== {name}_before))"

#: Vectors that are indexed by a warp slot, also where there is one.
_BY_WARP = ("decode_ready", "resident", "retired")


def checks_verilog(cfg: Config, top: str) -> str:
    """Verilog-2005 of module ``<top>_checks``; the rules are :func:`spec.pins.rules`, in the order of their bits."""
    streams = {"launch": launch_fields(cfg)}
    streams |= {f"result__{port}": result_fields(cfg) for port in range(cfg.write_ports)}
    streams |= {"kernel": kernel_fields(cfg)} if cfg.gives.kernel else {}
    bits = {name: field_bits(fields) for name, fields in streams.items()}
    broken = _broken(cfg)
    ports = [("decode_valid", 1), ("decode", field_bits(decode_fields(cfg)))]
    ports += [("missed_valid", 1), ("missed", field_bits(missed_fields(cfg)))] if cfg.sees_misses else []
    for name, width in bits.items():
        ports += [(f"{name}__valid", 1), (f"{name}__ready", 1), (f"{name}__payload", width)]
    return _MODULE.format(
        top=top,
        ports="".join(f"  input [{cfg.warps - 1}:0] {name},\n" for name in _BY_WARP)
        + "".join(f"  input {_range(width)}{name},\n" for name, width in ports),
        rules_top=len(broken) - 1,
        warps=cfg.warps,
        warp_top=cfg.warps - 1,
        launched=f"launch__payload[{cfg.warp_bits - 1}:0]",
        declared="".join(_WAITS.format(name=name, top=width - 1) for name, width in bits.items()),
        assigned="".join(f"  assign wrong[{number}] = !rst && {one};\n" for number, one in enumerate(broken.values())),
        held="".join(_HELD.format(name=name) for name in bits),
        told="".join(_TOLD.format(number=number, text=RULES[name]) for number, name in enumerate(broken)),
    )


def _broken(cfg: Config) -> dict[str, str]:
    """Condition of each rule, in the order of :func:`rules`."""
    warp = f"[{cfg.warp_bits - 1}:0]"
    results = " || ".join(_CHANGED.format(name=f"result__{port}") for port in range(cfg.write_ports))
    found = {
        "decode_room": f"decode_valid && !decode_ready[decode{warp}]",
        "decode_slot": f"decode_valid && !resident[decode{warp}]",
        "launch_slot": f"launch__valid && taken[launch__payload{warp}]",
        "launch_held": _CHANGED.format(name="launch"),
        "result_held": f"({results})",
        "kernel_held": _CHANGED.format(name="kernel"),
        "missed_slot": f"missed_valid && !resident[missed{warp}]",
    }
    return {name: found[name] for name in rules(cfg)}


def _range(width: int) -> str:
    return f"[{width - 1}:0] " if width > 1 else ""

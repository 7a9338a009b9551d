"""Verilog of a checker that stands beside a machine in a simulation and watches what is done to its pins."""

from __future__ import annotations

from collections.abc import Iterable

from warpfile.spec.beat import decode_fields, field_bits, kernel_fields, launch_fields, missed_fields, result_fields
from warpfile.spec.config import Config, index_bits
from warpfile.spec.pins import RULES, rules
from warpfile.spec.stimulus import Origin

_MODULE = """\
// Rules for the pins of {top}: connect it beside the machine, in a simulation. Every pin has the name that
// it has there. A broken rule is printed in the cycle in which it is broken, and ends the simulation unless STOP is 0.
`ifndef SYNTHESIS
module {top}_checks #(parameter STOP = 1) (
  input clk,
  input rst,
{ports}  output [{rules_top}:0] wrong  // a bit per rule that is broken in this cycle
);
  reg started = 0;  // a reset was seen: before it nothing is known
  reg [{warp_top}:0] taken;  // slots between a launch and their bit in retired
  reg [{warp_top}:0] begun;  // those whose warp has been sent a beat
  reg [{ctas_top}:0] ctas;  // CTA slot of each
  wire launched = launch__valid && launch__ready;
{declared}{awaited}{assigned}  always @(posedge clk) begin
    started <= started || rst;
    taken <= rst ? 0 : (taken & ~retired) | (launched ? {warps}'d1 << {warp} : {warps}'d0);
    begun <= rst ? 0 : (begun & ~retired) | (decode_valid ? taken & {warps}'d1 << {sent} : {warps}'d0);
    if (launched) ctas[{warp} * {cta_bits} +: {cta_bits}] <= {cta};
{held}    if (started && !rst) begin
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


# Expected results: a ring for each register of each warp. A beat that is sent adds an entry per destination, a result
# takes the oldest, since writes of one register do not overtake each other. Entries are written before they are read.
_MEMORIES = """\
  reg [{ring_top}:0] head [0:{last}];
  reg [{ring_top}:0] tail [0:{last}];
  reg [{entry_top}:0] awaited [0:{last_entry}];
"""
_AWAITED = """\
  integer place, number;
  always @(posedge clk)
    if (rst) for (place = 0; place <= {last}; place = place + 1) begin
      head[place] <= 0;
      tail[place] <= 0;
    end else begin
      if (decode_valid && {executes} && {kind} == 0)
        for (number = 0; number < {dest_count}; number = number + 1) begin
          place = {warp} * {names} + {dest} + number;
          awaited[place * {ring} + tail[place]] <= {entry};
          tail[place] <= tail[place] + 1'd1;
        end
{returned}    end
"""
_RETURNED = """\
      if (result__{port}__written && result__{port}__ready)
        head[result__{port}__place] <= head[result__{port}__place] + 1'd1;
"""
_OF_RESULT = """\
  wire [{place_top}:0] result__{port}__place = {warp} * {names} + {register};
  wire result__{port}__asked = head[result__{port}__place] != tail[result__{port}__place];
  wire result__{port}__written = result__{port}__valid && {writes};
  wire [{entry_top}:0] result__{port}__awaited = awaited[result__{port}__place * {ring} + head[result__{port}__place]];
"""

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
        **_launch(cfg),
        declared="".join(_WAITS.format(name=name, top=width - 1) for name, width in bits.items()),
        awaited=_awaited(cfg) if "result_asked" in broken else "",
        assigned="".join(
            f"  assign wrong[{number}] = started && !rst && {one};\n" for number, one in enumerate(broken.values())
        ),
        held="".join(_HELD.format(name=name) for name in bits),
        told="".join(_TOLD.format(number=number, text=RULES[name]) for number, name in enumerate(broken)),
    )


def _broken(cfg: Config) -> dict[str, str]:
    """Condition of each rule, in the order of :func:`rules`."""
    warp = f"[{cfg.warp_bits - 1}:0]"
    found = {
        "decode_room": f"decode_valid && !decode_ready[decode{warp}]",
        "decode_slot": f"decode_valid && !resident[decode{warp}]",
        "launch_slot": f"launch__valid && taken[launch__payload{warp}]",
        "launch_cta": f"launch__valid && ({_begun_ctas(cfg)})",
        "launch_held": _CHANGED.format(name="launch"),
        "result_held": _any(cfg, _CHANGED.format(name="result__{port}")),
        "kernel_held": _CHANGED.format(name="kernel"),
        "missed_slot": f"missed_valid && !resident[missed{warp}]",
    }
    wanted = rules(cfg)
    if "result_asked" in wanted:
        found |= _unasked(cfg)
    return {name: found[name] for name in wanted}


def _launch(cfg: Config) -> dict[str, object]:
    """Of a launch and a beat the slot, of a launch the CTA slot, and what is needed to remember that."""
    launch, cta_bits = _places("launch__payload", launch_fields(cfg)), dict(launch_fields(cfg))["cta"]
    warp, cta, sent = launch["warp"], launch["cta"], _places("decode", decode_fields(cfg))["warp"]
    return {"warp": warp, "cta": cta, "sent": sent, "cta_bits": cta_bits, "ctas_top": cfg.warps * cta_bits - 1}


def _begun_ctas(cfg: Config) -> str:
    """Whether some warp of the CTA of a launch has been sent a beat."""
    told = _launch(cfg)
    bits, cta = told["cta_bits"], told["cta"]
    return "\n    || ".join(f"begun[{warp}] && ctas[{warp * bits} +: {bits}] == {cta}" for warp in range(cfg.warps))


def _any(cfg: Config, condition: str) -> str:
    """Whether a condition holds at any write-back port."""
    return "(" + " || ".join(condition.format(port=port) for port in range(cfg.write_ports)) + ")"


def _unasked(cfg: Config) -> dict[str, str]:
    """Conditions of the rules about results that beats wait for."""
    result, entry = _places("result__{port}__payload", result_fields(cfg)), _entry(cfg)
    valid = "result__{port}__written"
    given = _places("result__{port}__awaited", ((name, bits) for name, bits, _ in entry))
    differ = " || ".join(f"{result[name]} !== {given[name]}" for name, _, _ in entry if name in result)
    found = {
        "result_asked": _any(cfg, f"{valid} && !result__{{port}}__asked"),
        "result_record": _any(cfg, f"{valid} && result__{{port}}__asked && ({differ})"),
    }
    if "result_origin" in rules(cfg):
        memory = f"({result['origin']} >= {int(Origin.HIT)})"
        found["result_origin"] = _any(cfg, f"{valid} && result__{{port}}__asked && {memory} !== {given['long']}")
    if cfg.sees_misses:
        missed = _places("missed", missed_fields(cfg))
        place = f"{missed['warp']} * {cfg.register_names} + {missed['dest']}"
        found["missed_asked"] = f"missed_valid && head[{place}] == tail[{place}]"
    return found


def _awaited(cfg: Config) -> str:
    """Rings of expected results, and what each write-back port finds there."""
    decode, result = _places("decode", decode_fields(cfg)), _places("result__{port}__payload", result_fields(cfg))
    # A beat that has issued, and those in the buffer: with dependence counters more than one write may be under way.
    ring_bits, place_bits = index_bits(cfg.buffer_depth + 8), cfg.warp_bits + cfg.register_bits
    entry, ports = _entry(cfg), range(cfg.write_ports)
    common = {
        "names": cfg.register_names,
        "ring": 1 << ring_bits,
        "ring_top": ring_bits - 1,
        "place_top": place_bits - 1,
        "last": (1 << place_bits) - 1,
        "last_entry": (1 << place_bits + ring_bits) - 1,
        "entry": "{" + ", ".join(value for _, _, value in reversed(entry)) + "}",
        "entry_top": sum(bits for _, bits, _ in entry) - 1,
    }
    found = (
        _OF_RESULT.format(port=port, **common, **{name: bits.format(port=port) for name, bits in result.items()})
        for port in ports
    )
    returned = "".join(_RETURNED.format(port=port) for port in ports)
    return _MEMORIES.format(**common) + "".join(found) + _AWAITED.format(**common, **decode, returned=returned)


def _entry(cfg: Config) -> list[tuple[str, int, str]]:
    """What a beat has of a result: field of the result's record or ``long``, width, and its value at the decode port
    for destination ``number``; least significant first."""
    decode, returned = _places("decode", decode_fields(cfg)), cfg.result_hint_bits
    low = dict(decode_fields(cfg)).get("hints", 0)
    found = [("mask", cfg.lanes, decode["mask"])]
    if "full" in cfg.result_flags:
        found.append(("full", 1, decode["full"]))
    if "component" in cfg.result_flags:
        found.append(("component", 2, "number[1:0]"))
    if returned:
        at = field_bits(decode_fields(cfg)) - low
        found.append(("hints", returned, f"decode[{at + returned - 1}:{at}]"))
    if "long" in cfg.decode_flags:
        found.append(("long", 1, decode["long"]))
    return found


def _places(name: str, fields: Iterable[tuple[str, int]]) -> dict[str, str]:
    """Bits of a vector that every field of a record has."""
    found, at = {}, 0
    for field, bits in fields:
        found[field] = f"{name}[{at + bits - 1}:{at}]"
        at += bits
    return found


def _range(width: int) -> str:
    return f"[{width - 1}:0] " if width > 1 else ""

"""The issue slice of Vortex around a generated machine, from the machine's manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Facts = Mapping[str, Any]
FILE = "VX_issue_slice.sv"
#: What the host's defaults ask of a machine, as ``--set`` has it.
SETTINGS = (
    "lanes=4",
    "domains=1",
    "warps=4",
    "ctas=4",
    "buffer_depth=4",
    "register_names=32",
    "register_unit=1",
    "banks=4",
    "rows=32",
    "bank_ports=1R1W",
    "bank_cycles=1",
    "source_slots=2",
    "ports=3",
    "write_back_ports=1",
    "payload_bits=123",
)
_TEMPLATE = Path(__file__).resolve().parent / FILE
#: Hints for which a constant is right whatever the program is.
_HINTS = {
    "near_dests": "'1",
    "near_sources": "'1",
    "no_allocate": "1'b0",
    "suspend": "1'b1",
    "dead": "'0",
    "evict_first": "'0",
}
_FLAGS = {
    "full": "&decode_if.data.tmask",
    "converged": "&decode_if.data.tmask",
    "long": "decode_if.data.ex_type == `EX_BITS'(`EX_LSU) && decode_if.data.wb",
}
#: Pins that no issue slice can drive, and why.
_PINS = {
    "kernel": "it must be told of every kernel before its warps, and this host launches no kernels",
    "operand": "its instructions are interleaved with those of a compiler pass, which this host does not have",
    "missed": "it must be told which loads miss, and this host's caches do not say so",
}
#: Parameters that must have a value where a machine has them, and why.
_PARAMETERS = {
    "write_back_ports": (1, "a slice of the host has one write-back port"),
    "bank_ports": ("1R1W", "a write-back of the host does not wait for a read"),
    "bank_cycles": (1, "a write-back of the host does not wait for another"),
    "scalar_values": ("none", "a write-back of the host does not wait for an expansion"),
}
_ORIGIN = """\
  // Registers that wait for a load, whose result passes the cache by.
  logic [WARPS-1:0][REGISTER_NAMES-1:0] loads;
  always_ff @(posedge clk) begin
    for (int p = 0; p < PORTS; ++p) begin
      if (leaving_valid[p] && leaving_ready[p] && leaving[p].dest_count != 0)
        loads[leaving[p].warp][leaving[p].dest] <= p == int'(PORT_LSU);
    end
  end
"""


def misfits(facts: Facts) -> list[str]:
    """Why a machine does not fit the host; empty if it does."""
    return list(_misfits(facts, facts["parameters"]))


def _misfits(facts: Facts, parameters: Facts) -> Iterator[str]:
    pins = {port["name"].partition("__")[0] for port in facts["ports"]}
    yield from (reason for pin, reason in _PINS.items() if pin in pins)
    for name in _names(facts, "decode", "hints"):
        if name not in _HINTS:
            yield f"a compiler must give its hint {name} for every instruction, and this host's does not"
    for name, (value, reason) in _PARAMETERS.items():
        if (found := parameters.get(name, value)) != value:
            yield f"{name} must be {value}, not {found}: {reason}"
    places = parameters["warps"] * _places(parameters)
    if places > parameters["banks"] * parameters["rows"]:
        yield f"banks times rows must be at least {places}, not {parameters['banks'] * parameters['rows']}"
    if parameters["ctas"] < parameters["warps"]:
        yield f"ctas must be at least {parameters['warps']}, one for each of the warps, not {parameters['ctas']}"
    if "origin" in _names(facts, "result__0__payload") and parameters["source_slots"] > 2:
        yield "source_slots must be at most 2: a beat that reads three lines of the cache keeps a result waiting"


def _names(facts: Facts, port: str, record: str | None = None) -> list[str]:
    """Fields of a port, or of a record in it."""
    (fields,) = (one["fields"] for one in facts["ports"] if one["name"] == port)
    if record is None:
        return [field["name"] for field in fields]
    return [inner["name"] for field in fields if field["name"] == record for inner in field["fields"]]


def _places(parameters: Facts) -> int:
    """Places that a warp takes in the register file."""
    unit = parameters["banks"] if parameters["bank_skew"] == "warp" else parameters["register_unit"]
    return -(-parameters["register_names"] // unit) * unit


def adapter(facts: Facts, top: str) -> str:
    """Text of :data:`FILE` for the machine ``top``. Raises ``ValueError`` for one that does not fit."""
    if reasons := misfits(facts):
        raise ValueError(f"{facts['scheme']} does not fit vortex: {'; '.join(reasons)}")
    made = {
        "TOP": top,
        "SCHEME": facts["scheme"],
        "PACKAGE": f"{top}_pkg",
        "DEPTH": str(facts["parameters"]["buffer_depth"]),
        "PLACES": str(_places(facts["parameters"])),
        "SIGNALS": "\n".join(_signals(facts)),
        "FLAGS": "\n".join(_decode(facts)),
        "ORIGIN": _ORIGIN if "origin" in _names(facts, "result__0__payload") else "",
        "RESULT": "\n".join(_result(facts)),
        "INSTANCE": _instance(facts, top),
        "CHECKS": f"  {top}_checks rules (.clk, .rst(reset), .wrong(), .*);",
    }
    text = _TEMPLATE.read_text()
    for name, value in made.items():
        text = text.replace(f"@{name}@\n" if not value else f"@{name}@", value)
    return text


def _signals(facts: Facts) -> Iterator[str]:
    for port in facts["ports"]:
        name, width = port["name"], port["width"]
        if name.startswith(("dispatch", "operands")) or name in ("clk", "rst"):
            continue
        kind = (
            f"{name.partition('__')[0]}_t" if "fields" in port else f"logic [{width - 1}:0]" if width > 1 else "logic"
        )
        yield f"  {'data_t' if name.startswith('result_data') else kind} {name};"


def _decode(facts: Facts) -> Iterator[str]:
    yield from (f"      decode.{name} = {_FLAGS[name]};" for name in _names(facts, "decode") if name in _FLAGS)
    yield from (f"      decode.hints.{name} = {_HINTS[name]};" for name in _names(facts, "decode", "hints"))


def _result(facts: Facts) -> Iterator[str]:
    names = _names(facts, "result__0__payload")
    if "full" in names:
        yield "    result__0__payload.full = &merged.mask;"
    if "origin" in names:
        yield "    result__0__payload.origin = loads[merged.wis][merged.rd] ? ORIGIN_MISS : ORIGIN_EXECUTION;"
    for name in _names(facts, "result__0__payload", "hints"):
        yield f"    result__0__payload.hints.{name} = {_HINTS[name]};"


def _instance(facts: Facts, top: str) -> str:
    """The machine, with its dispatch ports in arrays."""
    arrays = {"payload": "leaving", "valid": "leaving_valid", "ready": "leaving_ready"}
    pins = []
    for name in (port["name"] for port in facts["ports"]):
        stream, *rest = name.split("__")
        wire = {"rst": "reset"}.get(name, name)
        if stream == "dispatch":
            wire = f"{arrays[rest[1]]}[{rest[0]}]"
        elif stream == "operands":
            wire = f"leaving_operands[{rest[0]}]"
        pins.append(f"      .{name}({wire})")
    return f"  {top} machine (\n" + ",\n".join(pins) + "\n  );"

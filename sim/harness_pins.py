"""Harness text that holds the machine's integration ports against its probes, and its driver to the rules of the pins.

What the environment does in a cycle depends on probes; here the pins must say the same in every cycle, and a checker of
the rules (``Scheme.checks``) stands beside the machine. So the lockstep uses no agreement that an integrator has not.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpfile.sim.stimulus import positions, stimulus_fields
from warpfile.spec.config import Config
from warpfile.spec.pins import rules
from warpfile.spec.probe import ProbeLayout

#: Number of the operand slot in a fault that is about the pins; its lanes are the rules that are broken, if any is.
PIN_SLOT = 254

_WIRES = """\
{wires}
  wire [{rules_top}:0] wrong;
  wire [{pins_top}:0] pins = {{{pins}}};
  wire [{pins_top}:0] told = {{{told}}};"""
_CHECK = """\
      if ((wrong != 0 || pins !== told) && !fault) begin
        fault <= 1'b1;
        fault_payload <= 0;
        fault_warp <= 0;
        fault_port <= 0;
        fault_slot <= {slot};
        fault_lanes <= wrong;
      end
"""
_CHECKER = """\
  {top}_checks #(.STOP(0)) checks (
    .clk(clk),
    .rst(inputs[0]),
    .wrong(wrong){connections}
  );
"""
_LEVELS = ("started", "decode_ready", "resident", "waiting", "issue", "issue_warp", "exit")
#: Pins of the machine that the checker sees and the harness does not drive.
_WATCHED = ("decode_ready", "resident", "retired")


def pin_wires(cfg: Config, layout: ProbeLayout) -> str:
    """Declarations of the wires at the integration ports, and what they say beside what the probes say."""
    pairs = list(_pairs(cfg, layout))
    return _WIRES.format(
        wires="\n".join(f"  wire [{width - 1}:0] pin_{name};" for name, width in pins(cfg, layout)),
        rules_top=len(rules(cfg)) - 1,
        pins_top=sum(width for _, _, width in pairs) - 1,
        pins=", ".join(pin for pin, _, _ in pairs),
        told=", ".join(probe for _, probe, _ in pairs),
    )


def pin_connections(cfg: Config, layout: ProbeLayout) -> list[str]:
    """Those of the machine to the wires of :func:`pin_wires`."""
    return [f".{name}(pin_{name})" for name, _ in pins(cfg, layout)]


def pin_check() -> str:
    """What is checked of the pins at the end of a cycle."""
    return _CHECK.format(slot=PIN_SLOT)


def pin_checker(cfg: Config, top: str, driven: list[str]) -> str:
    """The checker of the rules beside the machine ``top``; ``driven`` are connections of what drives that."""
    inputs = [one for one in driven if one.startswith((".decode", ".launch", ".result__", ".kernel", ".missed"))]
    outputs = [f".{name}(pin_{name})" for name in (*_WATCHED, *_handshakes(cfg))]
    return _CHECKER.format(top=top, connections="".join(f",\n    {one}" for one in [*inputs, *outputs]))


def _handshakes(cfg: Config) -> list[str]:
    streams = [
        "launch",
        *(f"result__{port}" for port in range(cfg.write_ports)),
        *(["kernel"] if cfg.gives.kernel else []),
    ]
    return [f"{name}__ready" for name in streams]


def pins(cfg: Config, layout: ProbeLayout) -> Iterator[tuple[str, int]]:
    """Integration ports of a machine with their widths; the harness has a wire ``pin_NAME`` at each."""
    for name in (*_LEVELS, *(["quiet"] if cfg.gives.kernel else [])):
        yield name, layout.mask(name).bit_length()
    yield "retired", cfg.warps
    for name in _handshakes(cfg):
        yield name, 1


def _pairs(cfg: Config, layout: ProbeLayout) -> Iterator[tuple[str, str, int]]:
    """What pins say, what probes say, and how many bits that has."""

    def probe(name: str, index: int = 0, width: int = 0) -> str:
        low = layout.offset[name] + index
        return f"probe[{low + (width or layout.mask(name).bit_length()) - 1}:{low}]"

    at = positions(stimulus_fields(cfg))
    for name, width in pins(cfg, layout):
        stream, _, ready = name.partition("__")
        if name == "retired" and not cfg.gives.sweeps:
            yield "pin_retired", f"{cfg.warps}'d0 | ({cfg.warps}'d0 | {probe('exit')}) << {probe('issue_warp')}", width
        elif not ready:
            yield f"pin_{name}", probe(name), width
        elif stream == "result":
            port = int(ready.partition("__")[0])
            yield f"pin_{name} & inputs[{at[f'result_valid{port}'][0]}]", probe("write", port, 1), 1
        else:
            yield f"pin_{name} & inputs[{at[f'{stream}_valid'][0]}]", probe(stream), 1

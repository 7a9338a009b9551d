"""Resistance and capacitance of placed nets, as SPEF for the timer: every net is a star around its middle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from warpfile.synth.wires.flat import Flat, Net, Pin
from warpfile.synth.wires.floorplan import Point
from warpfile.synth.wires.placement import Placement, ends
from warpfile.synth.wires.technology import Layer, Technology

#: Length of a routed net over its half perimeter.
ROUTED = 1.15
#: What stands for no resistance.
_LEAST_OHM = 1e-3

#: Of a file of SPEF in ns, fF and ohm.
HEAD = """\
*SPEF "IEEE 1481-1998"
*DESIGN "{top}"
*DATE ""
*VENDOR ""
*PROGRAM ""
*VERSION ""
*DESIGN_FLOW ""
*DIVIDER /
*DELIMITER :
*BUS_DELIMITER []
*T_UNIT 1 NS
*C_UNIT 1 FF
*R_UNIT 1 OHM
*L_UNIT 1 HENRY
"""


def lengths(placement: Placement, nets: Mapping[int, Net]) -> dict[int, float]:
    """Length of every net in um: ``ROUTED`` times its half perimeter."""
    return {bit: ROUTED * placement.half_perimeter(net) for bit, net in nets.items()}


def spef(flat: Flat, placement: Placement, nets: Mapping[int, Net], technology: Technology) -> str:
    """Parasitics of all nets, with the names of :meth:`Flat.verilog`."""
    found = lengths(placement, nets)
    names, lines = flat.names(), [HEAD.format(top=flat.top)]
    for bit, net in nets.items():
        lines += _net(flat, names(bit), net, placement, technology.layer(found[bit]), found[bit])
    return "\n".join([*lines, ""])


def _net(flat: Flat, name: str, net: Net, placement: Placement, layer: Layer, length: float) -> Iterator[str]:
    pins = ends(net)
    kinds = ["O" if (pin is net.driver) == bool(pin.cell) else "I" for pin in pins]
    arms = [ROUTED * one for one in _from_middle([placement.place(pin) for pin in pins])]
    return star(name, [_name(flat, pin) for pin in pins], kinds, arms, layer.ff * length, layer.ohm)


def star(
    name: str, pins: Sequence[str], kinds: Sequence[str], arms_um: Sequence[float], ff: float, ohm_per_um: float
) -> Iterator[str]:
    """A net of SPEF whose pins, which are "I" or "O", are so far from its middle.

    Its capacitance is divided among the arms by length, half of each at either end; an arm has the resistance of its
    length. Pins with ":" are of cells, others are ports.
    """
    far = sum(arms_um)
    halves = [ff * arm / far / 2 if far else 0.0 for arm in arms_um]
    yield f"*D_NET {name} {sum(halves) * 2:.6g}\n*CONN"
    yield from (f"*{'I' if ':' in pin else 'P'} {pin} {kind}" for pin, kind in zip(pins, kinds, strict=True))
    yield "*CAP"
    yield from (f"{number} {pin} {half:.6g}" for number, (pin, half) in enumerate(zip(pins, halves, strict=True), 2))
    yield f"1 {name}:1 {sum(halves):.6g}\n*RES"
    for number, (pin, arm) in enumerate(zip(pins, arms_um, strict=True), 1):
        yield f"{number} {name}:1 {pin} {max(arm * ohm_per_um, _LEAST_OHM):.6g}"
    yield "*END"


def _name(flat: Flat, pin: Pin) -> str:
    """A pin as SPEF has it."""
    if not pin.cell:
        bus = len(flat.ports[pin.name]["bits"]) > 1
    else:
        bus = len(flat.cells[pin.cell]["connections"][pin.name]) > 1
    end = f"{pin.name}[{pin.bit}]" if bus else pin.name
    return f"{pin.cell}:{end}" if pin.cell else end


def _from_middle(places: list[Point]) -> list[float]:
    """Way from the middle of some places to each, along the axes, in um."""
    middle = [sum(axis) / len(places) for axis in zip(*places, strict=True)]
    return [abs(x - middle[0]) + abs(y - middle[1]) for x, y in places]

"""Slack of many pins at once, from a session of the timer; and what nets count for the placer by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warpfile.synth.liberty import Liberty
from warpfile.synth.opensta import Session
from warpfile.synth.timing import PERIOD
from warpfile.synth.wires.flat import Flat, Net

#: A net of the worst path counts so many times more for the placer than one with much slack, which counts once; a net
#: with other slack by this power of how long its path is, as a part of the worst.
WEIGHT, POWER = 6.0, 16

#: Worst slack of each pin in ns; 1000 where no path is.
_ASK = (
    "set found {{}}; foreach pin {{{pins}}} {{ set one [sta::find_pin $pin]; set worst 1000;"
    " foreach way {{max_rise_slack max_fall_slack}} {{ set slack [get_property $one $way];"
    " if {{[string is double -strict $slack] && $slack < $worst}} {{ set worst $slack }} }};"
    " lappend found $worst }}; set found"
)


def slacks(timer: Session, pins: Sequence[str]) -> list[float]:
    """The worst slack of each pin in ns, 1000 where no path is; pins are "cell/pin"."""
    return [float(one) for one in timer.ask(_ASK.format(pins=" ".join(pins))).split()] if pins else []


def weights(timer: Session, flat: Flat, nets: Mapping[int, Net], library: Liberty) -> dict[int, float]:
    """What nets count for the placer, by the slack of their drivers in a session of the netlist without wires.

    Only nets that cells of the library drive are among them.
    """
    drivers = {bit: net.driver for bit, net in nets.items() if net.driver and _is_cell(flat, net.driver.cell, library)}
    worst = PERIOD - float(timer.ask("worst_slack"))
    found = slacks(timer, [f"{pin.cell}/{pin.name}" for pin in drivers.values()])
    paths = (max(0.0, PERIOD - slack) / worst for slack in found)
    return {bit: 1 + WEIGHT * path**POWER for bit, path in zip(drivers, paths, strict=True)}


def _is_cell(flat: Flat, name: str, library: Liberty) -> bool:
    return bool(name) and flat.cells[name]["type"] in library.cells

"""Wires have the resistance and capacitance of their length, and the timer sees them."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace

import pytest

from tests.synth.wires.designs import TOP, WIRES, row_of, scattered, small
from warpfile.synth.liberty import Liberty
from warpfile.synth.opensta import TimingError
from warpfile.synth.timing import session, worst
from warpfile.synth.wires.flat import Flat, Net, flattened
from warpfile.synth.wires.parasitics import ROUTED, lengths, spef
from warpfile.synth.wires.placement import Placement
from warpfile.synth.wires.technology import Layer, Technology

needs_sta = pytest.mark.needs("sta")


def with_layer(ohm: float, ff: float) -> Technology:
    return replace(WIRES, near=Layer("near", ohm, ff))


def path(flat: Flat, liberty: Liberty, text: str) -> float:
    with session(flat.design, TOP, flat.memories, liberty, flat.verilog(), text) as timer:
        found = worst(timer).nanoseconds
    assert found is not None
    return found


def capacitances(text: str) -> dict[str, list[float]]:
    """What each net has in sum, and all of its parts."""
    found = defaultdict(list)
    for net in text.split("*D_NET ")[1:]:
        name, total = net.split()[:2]
        parts = net.split("*CAP\n")[1].split("*RES")[0]
        found[name] = [float(total), *(float(line.split()[-1]) for line in parts.splitlines())]
    return found


def test_a_net_has_the_capacitance_of_its_length(liberty: Liberty) -> None:
    flat = small()
    placement, nets = scattered(flat, liberty, 1000)
    found, names = capacitances(spef(flat, placement, nets, WIRES)), flat.names()
    assert found.keys() == {names(bit) for bit in nets}
    for bit, length in lengths(placement, nets).items():
        total, *parts = found[names(bit)]
        assert total == pytest.approx(length * WIRES.near.ff, rel=1e-4)
        assert sum(parts) == pytest.approx(total, rel=1e-4)


def test_a_length_is_the_half_perimeter_routed(liberty: Liberty) -> None:
    """Three pins, of which the middle one is on the way."""
    flat = flattened(row_of(["BUF"], loads=2), TOP)
    placement, nets = scattered(flat, liberty, 1)
    named = {old: new for new, old in flat.paths.items()}
    placement.at |= {named["cell0"]: (0, 0), named["end0"]: (3, 4), named["end1"]: (10, 5)}
    bit = next(bit for bit, net in nets.items() if net.driver and net.driver.cell == named["cell0"])
    assert lengths(placement, nets)[bit] == pytest.approx(ROUTED * 15)


def test_resistance_from_driver_to_load_is_that_of_the_way(liberty: Liberty) -> None:
    flat = flattened(row_of(["BUF"]), TOP)
    placement, nets = scattered(flat, liberty, 1)
    named = {old: new for new, old in flat.paths.items()}
    placement.at |= {named["cell0"]: (0, 0), named["end0"]: (30, 40)}
    text = spef(flat, placement, nets, WIRES)
    net = next(one for one in text.split("*D_NET ") if f"{named['cell0']}:Y O" in one)
    ohms = [float(number) for number in re.findall(r"([\d.]+)$", net.split("*RES\n")[1].split("*END")[0], re.MULTILINE)]
    assert sum(ohms) == pytest.approx(ROUTED * 70 * WIRES.near.ohm, rel=1e-4)


@needs_sta
def test_wires_of_nothing_leave_the_path_as_it_is(liberty: Liberty) -> None:
    flat = small()
    placement, nets = scattered(flat, liberty, 1000)
    nothing = spef(flat, placement, nets, with_layer(1e-9, 1e-9))
    assert path(flat, liberty, nothing) == pytest.approx(path(flat, liberty, ""), abs=2e-4)


@needs_sta
def test_capacitance_makes_the_path_longer_in_proportion(liberty: Liberty) -> None:
    """A register and three inverters before a register: 1 ns per pF of the library's delays."""
    flat = flattened(row_of(["INV"] * 3), TOP)
    placement, nets = scattered(flat, liberty, 100)
    bare = path(flat, liberty, "")
    own = [bit for bit, net in nets.items() if net.driver and net.driver.cell]
    um = sum(lengths(placement, nets)[bit] for bit in own)
    for ff in (0.5, 1.0):
        longer = path(flat, liberty, spef(flat, placement, nets, with_layer(1e-9, ff)))
        assert longer - bare == pytest.approx(um * ff / 1000, rel=0.02)


@needs_sta
def test_resistance_makes_the_path_longer(liberty: Liberty) -> None:
    flat = small()
    placement, nets = scattered(flat, liberty, 1000)
    times = [path(flat, liberty, spef(flat, placement, nets, with_layer(ohm, 0.5))) for ohm in (1e-9, 2.0, 4.0)]
    assert times[0] < times[1] < times[2]


@needs_sta
@pytest.mark.parametrize("pattern", [r"\*D_NET n\d+", r"c\d+:Y"])
def test_a_name_that_the_netlist_has_not_is_an_error(liberty: Liberty, pattern: str) -> None:
    flat = small()
    text = spef(flat, *scattered(flat, liberty, 10), WIRES)
    assert path(flat, liberty, text) > 0
    with pytest.raises(TimingError, match=r"OpenSTA refuses: .*not found"):
        path(flat, liberty, re.sub(pattern, lambda found: f"{found[0]}9999", text, count=1))


def test_a_net_beyond_the_limit_is_on_the_far_layer(liberty: Liberty) -> None:
    flat = flattened(row_of(["BUF"]), TOP)
    placement, nets = scattered(flat, liberty, 1)
    wires = replace(WIRES, far_um=ROUTED * 100, far=Layer("far", 1.0, 5.0))
    bit, net = next((bit, net) for bit, net in nets.items() if net.driver and net.driver.cell and net.loads)
    for way, ff in ((99.0, 0.5), (101.0, 5.0)):
        assert total(flat, placement, {bit: net}, wires, way) == pytest.approx(ROUTED * way * ff, rel=1e-4)


def total(flat: Flat, placement: Placement, nets: dict[int, Net], wires: Technology, way: float) -> float:
    """Capacitance of a single net whose driver and load are so far apart."""
    (net,) = nets.values()
    assert net.driver
    placement.at |= {net.driver.cell: (0.0, 0.0), net.loads[0].cell: (way, 0.0)}
    (found,) = capacitances(spef(flat, placement, nets, wires)).values()
    return found[0]

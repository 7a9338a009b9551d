"""The one packed observation port, laid out as ``spec`` declares it."""

from amaranth import Module
from amaranth.hdl import ValueCastable
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out

from warpfile.spec.probe import Probe


def probe_layout(probes: tuple[Probe, ...]) -> data.StructLayout:
    """Struct with one field per probe, first probe in the least significant bits."""
    return data.StructLayout({probe.name: probe.width for probe in probes})


def with_probes(members: dict[str, wiring.Member], probes: tuple[Probe, ...]) -> dict[str, wiring.Member]:
    """Ports of a part: those of its contract, and an output per probe that the contract has no name for."""
    return {**{probe.name: Out(probe.width) for probe in probes}, **members}


def drive(m: Module, port: data.View, **fields: ValueCastable) -> None:
    """Connect named fields of a probe port; every name must be declared."""
    for name, value in fields.items():
        m.d.comb += getattr(port, name).eq(value)

"""Observation points: what RTL and golden model must agree on in every cycle, as fields of one integer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

#: Observed cycles: of every probe a boolean array [cycles, width], lowest bit first.
Fields: TypeAlias = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Probe:
    """One observed field. The first probe of a layout takes the least significant bits. ``values`` names what it may
    be, where that is a list."""

    name: str
    width: int
    doc: str
    values: tuple[tuple[int, str], ...] = ()


class ProbeLayout:
    """Positions of the probes of one configuration in the packed observation word.

    ``offset[name]`` is a probe's lowest bit, ``width`` the size of the whole word in bits.
    """

    def __init__(self, probes: tuple[Probe, ...]) -> None:
        self.probes = probes
        self.offset: dict[str, int] = {}
        self.width = 0
        for probe in probes:
            if probe.name in self.offset:
                raise ValueError(f"probe names must be unique, not {probe.name!r} twice")
            self.offset[probe.name] = self.width
            self.width += probe.width

    def __iter__(self) -> Iterator[Probe]:
        return iter(self.probes)

    def mask(self, name: str) -> int:
        """All ones in the field's own width, not shifted."""
        return (1 << next(p.width for p in self.probes if p.name == name)) - 1

    def unpack(self, word: int) -> dict[str, int]:
        """Field values of an observation word by name."""
        return {p.name: (word >> self.offset[p.name]) & ((1 << p.width) - 1) for p in self.probes}

    def pack(self, fields: dict[str, int]) -> int:
        """Inverse of :meth:`unpack`; an unnamed field is zero. Raises ``ValueError`` where one does not fit."""
        word = 0
        for probe in self.probes:
            value = fields.get(probe.name, 0)
            if not 0 <= value < 1 << probe.width:
                raise ValueError(f"{probe.name} must fit {probe.width} bits, not {value}")
            word |= value << self.offset[probe.name]
        return word

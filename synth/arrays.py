"""What the memories of a run cost at one set of prices: those of CACTI, for every array of every scheme at one node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from warpfile.schemes import Scheme
from warpfile.spec.config import Config
from warpfile.spec.reading import read_toml
from warpfile.spec.structure import CACHE_RAM, Ram
from warpfile.synth.rules import LIST, NUMBER, TEXT, WHOLE, check

#: The prices of all arrays that the table of schemes has; docs/energy.md says how they were made.
PRICED = Path(__file__).with_name("prices") / "cacti" / "22nm.toml"
NAME = "cacti"  #: of this set of prices
#: Rows of all SRAMs are cut into arrays of at most so many bits, which are asked together.
SLICE_BITS = 128
GIGAHERTZ = 1.0  #: clock that leakage is counted at by default
#: Kinds of access that go to SRAM in every scheme that has them; every other kind goes to flip-flops or wires.
_OF_SRAM = {"bank_read", "bank_write", "fast_high", "fast_low", "slow", "renaming"}
_OF_CACHE = {"cache_read", "cache_write"}


@dataclass(frozen=True, order=True)
class Array:
    """One array by what decides about its price. ``ports`` as of :class:`warpfile.spec.structure.Ram`."""

    rows: int
    width: int
    ports: str

    def __str__(self) -> str:
        return f"{self.rows}x{self.width}x{self.ports}"

    @classmethod
    def of(cls, ram: Ram, slice_bits: int | None = SLICE_BITS) -> Array:
        """One of the arrays of an SRAM: a slice of its rows, or all of them where ``slice_bits`` is None."""
        return cls(ram.rows, -(-ram.width // slices(ram, slice_bits)), ram.ports)


def slices(ram: Ram, slice_bits: int | None = SLICE_BITS) -> int:
    """Into how many slices the rows of each of an SRAM's own arrays are cut."""
    return -(-ram.width // slice_bits) if slice_bits else 1


@dataclass(frozen=True)
class ArrayPrice:
    """One access of a whole row, what the array leaks and takes. ``from_sizes``: the arrays that CACTI was run for."""

    read_pj: float
    write_pj: float
    leakage_mw: float
    area_mm2: float
    access_ns: float
    cycle_ns: float
    from_sizes: str


@dataclass(frozen=True)
class ArrayPrices:
    """Prices of arrays at one node, all from one tool.

    ``fo4_ns``: the delay of an inverter with four like it behind it, at that node by that tool. ``slice_bits``: widest
    slice of a row, None for whole rows.
    """

    source: str
    node_nm: int
    volts: float
    kelvin: int
    cells: str
    remark: str
    fo4_ns: float
    arrays: Mapping[Array, ArrayPrice]
    name: str = NAME
    slice_bits: int | None = SLICE_BITS

    def price(self, array: Array) -> ArrayPrice:
        """The price of an array. Raises ``ValueError`` with the command that makes it, if there is none."""
        if array not in self.arrays:
            raise ValueError(f"{self.name} has no price for an array of {array}: make cacti ARRAYS={array} adds it")
        return self.arrays[array]

    def missing(self, cfg: Config) -> list[Array]:
        """Arrays of the configuration's memories that have no price."""
        needed = (Array.of(ram, self.slice_bits) for ram in cfg.rams.values())
        return [array for array in needed if array not in self.arrays]

    def clock_to_output_fo4(self, array: Array) -> float:
        """From the clock edge to the word that is read, in FO4. Raises as :meth:`price`."""
        return self.price(array).access_ns / self.fo4_ns

    def check(self, cfg: Config) -> None:
        """Raises ``ValueError`` as :meth:`price` if a memory of the configuration has none: before anything is run."""
        for array in self.missing(cfg):
            self.price(array)


@dataclass(frozen=True)
class MemoryEnergy:
    """One SRAM of a machine, all its instances together. ``ram`` names its Verilog module."""

    ram: str
    array: Array
    arrays: int
    reads: int
    writes: int
    read_pj: float
    write_pj: float
    leakage_mw: float
    area_mm2: float
    cycle_ns: float

    @property
    def dynamic(self) -> float:
        """Picojoules of all accesses."""
        return self.reads * self.read_pj + self.writes * self.write_pj


@dataclass(frozen=True)
class RunEnergy:
    """What the memories of a run cost. ``unpriced`` counts accesses to what is no SRAM, by kind."""

    prices: ArrayPrices
    cycles: int
    gigahertz: float
    memories: tuple[MemoryEnergy, ...]
    unpriced: Mapping[str, int]

    @property
    def dynamic(self) -> float:
        """Picojoules of all accesses."""
        return sum(one.dynamic for one in self.memories)

    @property
    def leakage(self) -> float:
        """Picojoules that the memories leak in all cycles: a milliwatt for a nanosecond is one."""
        return sum(one.leakage_mw for one in self.memories) * self.cycles / self.gigahertz

    @property
    def picojoules(self) -> float:
        """Accesses and leakage."""
        return self.dynamic + self.leakage

    @property
    def covered(self) -> float:
        """Part of the accesses that have a price: those to SRAM."""
        count = sum(one.reads + one.writes for one in self.memories)
        return count / (count + sum(self.unpriced.values())) if count else 1.0

    @property
    def area_mm2(self) -> float:
        """Area of the memories."""
        return sum(one.area_mm2 for one in self.memories)

    def over(self, baseline: RunEnergy) -> float | None:
        """This energy in units of the baseline's; None if that has none. Raises ``ValueError`` for another clock."""
        if self.gigahertz != baseline.gigahertz:
            raise ValueError(f"both runs must have one clock, not {self.gigahertz:g} and {baseline.gigahertz:g} GHz")
        return self.picojoules / baseline.picojoules if baseline.picojoules else None

    def to_json(self) -> dict[str, object]:
        """All facts; energies are in picojoules."""
        return {
            "cycles": self.cycles,
            "gigahertz": self.gigahertz,
            "memories": [
                asdict(one) | {"array": str(one.array), "dynamic_picojoules": one.dynamic} for one in self.memories
            ],
            "dynamic_picojoules": self.dynamic,
            "leakage_picojoules": self.leakage,
            "picojoules": self.picojoules,
            "area_mm2": self.area_mm2,
            "unpriced": dict(self.unpriced),
        }


def run_energy(
    scheme: Scheme,
    cfg: Config,
    counters: Mapping[str, int],
    cycles: int,
    prices: ArrayPrices,
    gigahertz: float = GIGAHERTZ,
) -> RunEnergy:
    """Energy of a run at one set of prices, from its counters and cycles alone.

    Runs of one ``prices`` and one clock may be compared, whatever their schemes. Raises ``ValueError`` for an array
    without a price and for a clock that is not above 0.
    """
    if not gigahertz > 0:
        raise ValueError(f"gigahertz must be above 0, not {gigahertz:g}")
    memories = tuple(_memory(name, ram, scheme, counters, prices) for name, ram in cfg.rams.items())
    served = _OF_SRAM | (_OF_CACHE if CACHE_RAM in cfg.rams else set())
    sums = {kind: sum(map(counters.__getitem__, names)) for kind, names in scheme.accesses.items()}
    unpriced = {kind: count for kind, count in sums.items() if count and kind not in served}
    return RunEnergy(prices, cycles, gigahertz, memories, unpriced)


def _memory(name: str, ram: Ram, scheme: Scheme, counters: Mapping[str, int], prices: ArrayPrices) -> MemoryEnergy:
    if name not in scheme.rams:
        raise ValueError(f"{scheme.name}: rams must name the counters of {name}, as in schemes/part.py")
    array = Array.of(ram, prices.slice_bits)
    price = prices.price(array)
    reads, writes = (sum(map(counters.__getitem__, names)) for names in scheme.rams[name])
    asked = ram.arrays * slices(ram, prices.slice_bits)
    arrays = ram.instances * asked
    return MemoryEnergy(
        ram=name,
        array=array,
        arrays=arrays,
        reads=reads,
        writes=writes,
        read_pj=price.read_pj * asked,
        write_pj=price.write_pj * asked,
        leakage_mw=price.leakage_mw * arrays,
        area_mm2=price.area_mm2 * arrays,
        cycle_ns=price.cycle_ns,
    )


_OF_SET = {
    "source": TEXT,
    "node_nm": WHOLE,
    "volts": NUMBER,
    "kelvin": WHOLE,
    "cells": TEXT,
    "remark": TEXT,
    "fo4_ns": NUMBER,
    "arrays": LIST,
}
#: Beside the prices what :mod:`warpfile.pages.cacti` prints: sizes by rule and by CACTI, other technologies,
#: papers' arrays.
_CHECKS = dict.fromkeys(("rule", "technologies", "nodes", "published"), LIST)
_OF_ARRAY = {
    "rows": WHOLE,
    "width": WHOLE,
    "ports": TEXT,
    **dict.fromkeys(("read_pj", "write_pj", "leakage_mw", "area_mm2", "access_ns", "cycle_ns"), NUMBER),
    "from_sizes": TEXT,
}


def read_array_prices(path: Path = PRICED) -> ArrayPrices:
    """The committed prices. Raises ``ValueError`` with file, place and rule for a file that cannot be used."""
    table = read_array_file(path)
    found: dict[Array, ArrayPrice] = {}
    for number, one in enumerate(table["arrays"], 1):
        array, price = read_array(one, f"{path}: array {number}")
        if array in found:
            raise ValueError(f"{path}: array {number}: {array} must have one price, not two")
        found[array] = price
    return ArrayPrices(**{name: table[name] for name in _OF_SET if name != "arrays"}, arrays=found)


def read_array_file(path: Path = PRICED) -> dict[str, Any]:
    """The file as it is, its fields checked. Raises ``ValueError`` as :func:`read_array_prices`."""
    try:
        table = read_toml(path)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    check(table, _OF_SET, str(path), _CHECKS)
    return table


def read_array(table: Any, at: str) -> tuple[Array, ArrayPrice]:
    """One array of a file and its price."""
    check(table, _OF_ARRAY, at)
    array = Array(*(table[name] for name in ("rows", "width", "ports")))
    return array, ArrayPrice(**{name: value for name, value in table.items() if name not in ("rows", "width", "ports")})

"""CACTI 7, run for single arrays, and the rule for arrays that are too small for it (docs/energy.md)."""

from __future__ import annotations

import csv
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from warpfile.synth.arrays import Array, ArrayPrice

#: What every array is run with; sizes, ports and technology are filled in.
CONFIGURATION = Path(__file__).with_name("prices") / "cacti" / "array.cfg"
FEWEST_ROWS, FEWEST_BITS, _BYTE = 64, 32, 8
_PORTS = re.compile(r"(\d)(RW|R|W)")
_PJ_PER_NJ, _NS_PER_S = 1000.0, 1e9
_SECONDS = 120
#: What the authors' own line prints, which `make cacti` switches on; in seconds.
_FO4 = re.compile(r"^FO4 = ([\d.e+-]+)", re.MULTILINE)
_COLUMNS = {
    "read_pj": ("Dynamic read energy (nJ)", _PJ_PER_NJ),
    "write_pj": ("Dynamic write energy (nJ)", _PJ_PER_NJ),
    "leakage_mw": ("Standby leakage per bank(mW)", 1.0),
    "area_mm2": ("Area (mm2)", 1.0),
    "access_ns": ("Access time (ns)", 1.0),
    "cycle_ns": ("Random cycle time (ns)", 1.0),
}
_LINEAR = ("read_pj", "write_pj", "leakage_mw", "area_mm2")
_DIGITS = 6  #: that CACTI prints


class CactiError(RuntimeError):
    """CACTI has no answer for an array."""


@dataclass(frozen=True)
class Technology:
    """Node, kind of transistors in cells and periphery, and temperature."""

    node_nm: int
    cells: str
    kelvin: int


#: Runs CACTI for an array of whole bytes.
Run = Callable[[Array], ArrayPrice]


def configuration(array: Array, technology: Technology) -> str:
    """What CACTI reads for an array. Raises ``ValueError`` for a width that is not whole bytes, and for its ports."""
    if array.width % _BYTE:
        raise ValueError(f"width must be whole bytes, not {array.width} bits")
    values: dict[str, object] = dict(ports_of(array.ports))
    values |= {"size": array.rows * array.width // _BYTE, "block": array.width // _BYTE, "width": array.width}
    values |= {"microns": technology.node_nm / 1000, "cells": technology.cells, "kelvin": technology.kelvin}
    return CONFIGURATION.read_text().format(**values)


def ports_of(ports: str) -> Mapping[str, int]:
    """Ports that read or write (``RW``), read (``R``) and write (``W``). Raises ``ValueError`` for other text."""
    found = {kind: int(number) for number, kind in _PORTS.findall(ports)}
    if "".join(f"{number}{kind}" for kind, number in found.items()) != ports or not any(found.values()):
        raise ValueError(f"ports must be like 1RW, 2RW or 1R1W, not {ports!r}")
    return {kind: found.get(kind, 0) for kind in ("RW", "R", "W")}


def runner(folder: Path, technology: Technology) -> Run:
    """Runs the CACTI that was compiled in ``folder``; it finds its tables of technologies there alone.

    The runner raises :class:`CactiError` where CACTI has no answer.
    """
    return lambda array: _run(folder.resolve(), array, technology)


def fo4_ns(folder: Path, technology: Technology) -> float:
    """CACTI's own FO4, of the transistors of the periphery. Raises :class:`CactiError` where it prints none."""
    array = Array(FEWEST_ROWS, FEWEST_BITS, "1RW")
    said, _ = _asked(folder.resolve(), array, configuration(array, technology).replace('"CONCISE"', '"DETAILED"'))
    found = _FO4.search(said)
    if not found:
        raise CactiError(f"{folder}: CACTI prints no FO4; make cacti compiles one that does")
    return _rounded(float(found[1]) * _NS_PER_S)


def _run(folder: Path, array: Array, technology: Technology) -> ArrayPrice:
    _, table = _asked(folder, array, configuration(array, technology))
    (row,) = csv.DictReader(table.splitlines(), skipinitialspace=True)
    values = {field: float(row[column]) * factor for field, (column, factor) in _COLUMNS.items()}
    return ArrayPrice(**{field: _rounded(value) for field, value in values.items()}, from_sizes=str(array))


def _asked(folder: Path, array: Array, text: str) -> tuple[str, str]:
    """What CACTI prints for a configuration, and the table that it writes."""
    with tempfile.TemporaryDirectory(prefix="warpfile-cacti-") as name:
        path = Path(name) / "array.cfg"
        path.write_text(text)
        command = ["./cacti", "-infile", str(path)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=_SECONDS)
        found = path.with_name("array.cfg.out")
        if done.returncode or not found.exists():
            lines = (done.stdout + done.stderr).strip().splitlines() or ["no message"]
            raise CactiError(f"CACTI has no answer for an array of {array}: {lines[-1]}")
        return done.stdout, found.read_text()


def price_of(array: Array, run: Run) -> ArrayPrice:
    """The price of an array of any size; small ones by the rule.

    A width below 32 bits, or of no whole bytes, takes its share of the next width that is neither. Below 64 rows
    energies, leakage and area lie on the straight line through those of 64 and 128 rows; times are those of 64 rows.
    """
    whole = max(FEWEST_BITS, -(-array.width // _BYTE) * _BYTE)
    if array.rows >= FEWEST_ROWS:
        return _scaled(run(Array(array.rows, whole, array.ports)), array.width / whole)
    near, far = (run(Array(rows, whole, array.ports)) for rows in (FEWEST_ROWS, 2 * FEWEST_ROWS))
    missing = 1 - array.rows / FEWEST_ROWS
    values = asdict(near)
    for field in _LINEAR:
        ours, theirs = getattr(near, field), getattr(far, field)
        values[field] = ours - (theirs - ours) * missing
    values["from_sizes"] = f"{near.from_sizes}, {far.from_sizes}"
    found = ArrayPrice(**values)
    if min(getattr(found, field) for field in _LINEAR) <= 0:
        raise CactiError(f"the rule for small arrays has no answer for one of {array}: a price would not be above 0")
    return _scaled(found, array.width / whole)


def _scaled(price: ArrayPrice, share: float) -> ArrayPrice:
    values = asdict(price)
    return ArrayPrice(**values | {field: _rounded(values[field] * share) for field in _LINEAR})


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def volts(folder: Path, technology: Technology) -> float:
    """Supply of the periphery at a node that CACTI has a table of."""
    column = ("itrs-hp", "itrs-lstp", "itrs-lop").index(technology.cells)
    text = (folder / "tech_params" / f"{technology.node_nm}nm.dat").read_text()
    found = re.search(r"^-Vdd \(V\) (.*)$", text, re.MULTILINE)
    if not found:
        raise CactiError(f"{folder}: no supply at {technology.node_nm} nm")
    return float(found[1].split()[column])

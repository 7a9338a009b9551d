"""``python -m warpfile.pages cacti FOLDER``: prices of all arrays of all schemes, by the CACTI that was compiled there.

Without FOLDER it prints what is kept: the prices, what the rule for small arrays says where CACTI has an answer of its
own, and published energies beside CACTI's. docs/energy.md says how prices are meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

from warpfile.output.display import followed, say, show_table
from warpfile.output.files import write_files
from warpfile.pages.writing import parser
from warpfile.schemes import SCHEMES, find, variants
from warpfile.spec.presets import PRESETS
from warpfile.synth.arrays import (
    NAME,
    PRICED,
    SLICE_BITS,
    Array,
    ArrayPrice,
    ArrayPrices,
    read_array_file,
    read_array_prices,
)
from warpfile.synth.cacti import Run, Technology, fo4_ns, ports_of, price_of, runner, volts
from warpfile.synth.energy import read_prices
from warpfile.synth.power import scaled_to

TECHNOLOGY = Technology(22, "itrs-hp", 360)
#: The same bank in other technologies, for what the choice decides.
OTHERS = (Technology(22, "itrs-hp", 300), Technology(22, "itrs-lop", 300), Technology(22, "itrs-lstp", 360))
NARROW = 4  #: lanes
BANK = Array(256, 1024, "1R1W")
#: Arrays that the rule makes of larger ones, and CACTI by itself too.
BOTH_WAYS = (
    *(Array(rows, width, "1R1W") for rows in (32, 48) for width in (128, 256, 1024)),
    *(Array(rows, 16, "2RW") for rows in (128, 256, 1536)),
)
#: Arrays at larger nodes, for how well prices scale to the node of a library; CACTI has none above 90 nm.
OTHER_NODES = tuple(
    (node, array)
    for node in (45, 90)
    for array in (Array(64, 64, "1R1W"), Array(256, 128, "1R1W"), Array(256, 128, "1RW"))
)
_REMARK = "an access is one of a whole row; leakage of cells and periphery, nothing gated; no wires outside the array"
_NUMBERS = ("read_pj", "write_pj", "leakage_mw", "area_mm2", "access_ns", "cycle_ns")


@dataclass(frozen=True)
class Published:
    """An energy that a paper gives for a memory, and the array that the paper describes, at its node."""

    prices: str
    kind: str
    node_nm: int
    array: Array
    place: str


PUBLISHED = (
    Published("bow", "bank_read", 28, Array(512, 1024, "1RW"), "64 KB, CACTI 7"),
    Published("corf", "bank_read", 40, Array(256, 1024, "1RW"), "a quarter of 128 KB, CACTI 5.3"),
    Published("corf", "renaming", 40, Array(768, 14, "2RW"), "a quarter of 5 KB, CACTI 5.3"),
    Published("rfc", "bank_read", 40, Array(256, 128, "1R1W"), "4 KB, a memory compiler"),
    Published("rfc", "bank_write", 40, Array(256, 128, "1R1W"), "4 KB, a memory compiler"),
)


def arrays_of_schemes() -> dict[Array, list[str]]:
    """Every array of every scheme and variant at every preset that it fits, with the machines that have it.

    Each with the lanes of the preset and with a few, which gates are simulated with; in slices and as whole rows.
    """
    found: dict[Array, list[str]] = {}
    names, changes = (*SCHEMES, *variants()), ({}, {"lanes": NARROW})
    for scheme, preset, change in product(map(find, names), PRESETS, changes):
        try:
            cfg = scheme.configuration(preset, **change)
        except ValueError:
            continue  # parts that do not fit the preset; the commands refuse them
        for array in (Array.of(ram, bits) for ram in cfg.rams.values() for bits in (SLICE_BITS, None)):
            found.setdefault(array, []).append(f"{scheme.name} {preset}")
    return dict(sorted(found.items()))


def priced(folder: Path, source: str, extra: Iterable[Array] = ()) -> str:
    """The file of all prices. Raises :class:`warpfile.synth.cacti.CactiError` where CACTI has no answer."""
    run = runner(folder, TECHNOLOGY)
    arrays = sorted({*arrays_of_schemes(), *extra})
    head = {"source": source, "node_nm": TECHNOLOGY.node_nm, "volts": volts(folder, TECHNOLOGY)}
    head |= {"kelvin": TECHNOLOGY.kelvin, "cells": TECHNOLOGY.cells, "remark": _REMARK}
    head |= {"fo4_ns": fo4_ns(folder, TECHNOLOGY)}
    lines = [
        "# Written by `make cacti`; docs/energy.md says what the fields mean. array.cfg is what CACTI was given.",
        "",
        *(f"{name} = {_value(value)}" for name, value in head.items()),
        *_tables("arrays", ((array, price_of(array, run)) for array in followed("cacti", arrays))),
        *_tables("rule", ((array, price) for array in BOTH_WAYS for price in (price_of(array, run), run(array)))),
        *_tables("technologies", ((BANK, runner(folder, one)(BANK)) for one in OTHERS), map(asdict, OTHERS)),
        *_tables("nodes", *_of_nodes(folder)),
        *_tables("published", _of_papers(folder), ({"prices": one.prices, "kind": one.kind} for one in PUBLISHED)),
    ]
    return "\n".join(lines) + "\n"


def _of_papers(folder: Path) -> Iterator[tuple[Array, ArrayPrice]]:
    for one in PUBLISHED:
        run: Run = runner(folder, Technology(one.node_nm, TECHNOLOGY.cells, TECHNOLOGY.kelvin))
        yield one.array, price_of(one.array, run)


def _of_nodes(folder: Path) -> tuple[list[tuple[Array, ArrayPrice]], list[dict[str, object]]]:
    technologies = [Technology(node, TECHNOLOGY.cells, TECHNOLOGY.kelvin) for node, _ in OTHER_NODES]
    found = [
        (array, price_of(array, runner(folder, one))) for one, (_, array) in zip(technologies, OTHER_NODES, strict=True)
    ]
    return found, [{"node_nm": one.node_nm, "volts": volts(folder, one)} for one in technologies]


def _tables(
    name: str, rows: Iterable[tuple[Array, ArrayPrice]], more: Iterable[Mapping[str, object]] = ()
) -> Iterator[str]:
    """An array of tables in TOML, a line each."""
    yield f"\n{name} = ["
    further = iter(more)
    for array, price in rows:
        facts = {**next(further, {}), **asdict(array), **asdict(price)}
        yield "    { " + ", ".join(f"{key} = {_value(value)}" for key, value in facts.items()) + " },"
    yield "]"


def _value(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else f"{value}"


def array_of(text: str) -> Array:
    """``ROWSxBITSxPORTS`` as an array. Raises ``ValueError`` for other text."""
    rows, _, rest = text.partition("x")
    width, _, ports = rest.partition("x")
    if not (rows.isdecimal() and width.isdecimal() and int(rows) and int(width)):
        raise ValueError(f"an array must be ROWSxBITSxPORTS, as in {BANK}, not {text!r}")
    ports_of(ports)
    return Array(int(rows), int(width), ports)


def show(path: Path = PRICED) -> None:
    """Print what is kept."""
    prices, table = read_array_prices(path), read_array_file(path)
    users = arrays_of_schemes()
    say(f"{prices.source}: {prices.node_nm} nm, {prices.volts:g} V, {prices.kelvin} K, {prices.cells}; {prices.remark}")
    columns = ("array", "pJ read", "pJ write", "mW leaked", "mm2", "ns access", "ns cycle")
    rows = (
        (str(array), *_numbers(price), round(prices.clock_to_output_fo4(array), 1), price.from_sizes)
        for array, price in prices.arrays.items()
    )
    used = (users.get(array, ["as asked for"])[0] for array in prices.arrays)
    show_table((*columns, "FO4", "CACTI ran", "first of"), ((*row, name) for row, name in zip(rows, used, strict=True)))
    say(f"FO4: the access in delays of an inverter with four behind it, {prices.fo4_ns:g} ns by CACTI.")
    say("Small arrays by the rule, in units of what CACTI says itself:")
    columns = ("array", "pJ read", "pJ write", "mW leaked", "mm2", "ns access", "ns cycle", "by the rule from")
    show_table(columns, small_arrays(table))
    say(f"A bank of {BANK} in other technologies, in units of the prices:")
    columns = ("cells", "kelvin", "pJ read", "pJ write", "mW leaked", "mm2", "ns access", "ns cycle")
    show_table(columns, technologies(table, prices.price(BANK)))
    say(f"Arrays at larger nodes by CACTI, {prices.cells}, in units of the prices scaled to them (docs/power.md):")
    show_table(("array", "node", "volts", "pJ read", "pJ write"), nodes(table, prices))
    say(f"Published energies, and CACTI's of the array that the paper describes, at its node, {prices.cells}:")
    columns = ("prices", "access", "node", "array", "from", "pJ published", "pJ of CACTI", "of the published")
    show_table(columns, published(table))


def small_arrays(table: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    """The rule's value for each array over CACTI's."""
    for ours, theirs in zip(table["rule"][::2], table["rule"][1::2], strict=True):
        yield (_name(ours), *(round(ours[name] / theirs[name], 3) for name in _NUMBERS), ours["from_sizes"])


def technologies(table: Mapping[str, Any], price: ArrayPrice) -> Iterator[tuple[object, ...]]:
    """A bank in each of the other technologies, over its price."""
    for one in table["technologies"]:
        ratios = (round(one[name] / getattr(price, name), 4) for name in _NUMBERS)
        yield (one["cells"], one["kelvin"], *ratios)


def nodes(table: Mapping[str, Any], prices: ArrayPrices) -> Iterator[tuple[object, ...]]:
    """CACTI's energies at other nodes over the prices, scaled to the node and its supply."""
    for one in table["nodes"]:
        price = prices.price(Array(one["rows"], one["width"], one["ports"]))
        scale = scaled_to(prices, one["node_nm"], one["volts"])
        ratios = (round(one[name] / getattr(price, name) / scale, 3) for name in ("read_pj", "write_pj"))
        yield (_name(one), one["node_nm"], one["volts"], *ratios)


def published(table: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    """Each published energy beside CACTI's; the ratio hides nothing."""
    sets = read_prices()
    for paper, one in zip(PUBLISHED, table["published"], strict=True):
        (price,) = (price for price in sets[paper.prices].prices if price.kind == paper.kind)
        ours = one["write_pj" if paper.kind == "bank_write" else "read_pj"]
        facts = (paper.prices, paper.kind.replace("_", " "), paper.node_nm, _name(one), paper.place)
        yield (*facts, price.pj, ours, round(ours / price.pj, 3))


def _name(row: Mapping[str, Any]) -> str:
    return str(Array(row["rows"], row["width"], row["ports"]))


def _numbers(price: ArrayPrice) -> tuple[float, ...]:
    return tuple(getattr(price, name) for name in _NUMBERS)


def main(arguments: Sequence[str]) -> int:
    """Write the prices, or print them."""
    options_of = parser("cacti", f"Prices of the set {NAME!r}.")
    options_of.add_argument(
        "folder", nargs="?", type=Path, help="where CACTI was compiled; without it the prices are shown"
    )
    options_of.add_argument("--source", default="CACTI 7", help="what the file says that the prices are from")
    options_of.add_argument("--array", action="append", default=[], type=array_of, help="a further ROWSxBITSxPORTS")
    chosen = options_of.parse_args(arguments)
    if chosen.folder:
        kept = read_array_prices().arrays if PRICED.exists() else {}
        write_files({PRICED: priced(chosen.folder, chosen.source, (*kept, *chosen.array))})
    show()
    return 0

"""docs/arrays.md: every array of every scheme, and what it costs as latches and as macros of open PDKs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpfile import tools
from warpfile.output.display import say
from warpfile.pages.writing import DOCS, page_parser, write_or_check
from warpfile.results.designs import BASELINE, Design, designs
from warpfile.results.markdown import signed, table
from warpfile.spec.config import Config
from warpfile.spec.structure import BANK_RAM, WORD_BITS
from warpfile.synth import fo4
from warpfile.synth.arrays import Array, ArrayPrices, read_array_prices, slices
from warpfile.synth.built import DENSE_UM2, LATCH_ROWS, Macro, built, of_flip_flops, of_latches, read_macros
from warpfile.synth.figures import KEPT, read_figures
from warpfile.synth.liberty import Liberty, read_liberty

PAGE = DOCS / "arrays.md"
_INTRODUCTION = """\
# Memories and small arrays

Written by `{command}`.

Every array of every scheme is described once, by `rams` and `operand_arrays` of a configuration: rows, width, ports,
instances. Rows are cut into slices of at most {slice} bits, for every scheme alike. What a slice is in a cell library
(`warpfile.synth.built`):

* **Up to {rows} rows: latches.** Per row there is a clock gate and a latch per bit. Per reading port and bit of a word
  there is a tree of multiplexers of four, with multiplexers of two for the rest. Per writing port there is a register
  for the word; with several writing ports every latch has multiplexers, too. The cells are the smallest of the library
  that [area.md](area.md#one-netlist-timed) does not leave out, and multiplexers of four. Decoders are not included.
* **More rows: macros of the library's PDK, by their datasheets.** Of the macros whose ports do, those with the least
  area in sum. A macro that is filled in part is charged in part, because only few sizes have a datasheet. Where no
  macro has such ports, latches.
* **Flip-flops** are a variant of arrays of up to {rows} rows: a flip-flop per bit with a multiplexer that holds its
  value, and the same trees.
* **0.94 Mb/mm2** is a variant of all others: the densest published memory, of 45 nm, scaled to 130 nm, which is
  {dense:.2f} um2 per bit.

Energies and times are those of CACTI ([energy.md](energy.md#memories-at-one-set-of-prices)). Arrays of operands have
none: CACTI has no answer for few rows with so many ports. Queues, instruction buffers and the address table of `larf`
are logic, not arrays.
"""
_SHEETS = """\
## Datasheets

*ns* is the time from the clock to the output in the typical corner, *FO4* the same in FO4 of the library. The macro of
sky130 has its data that long after the **falling** edge, so half a cycle comes on top.
"""
_ARRAYS = """\
## Arrays

A row has all arrays of one kind in a machine; *each* is one slice. Energies are those of all slices of a word, times
those of CACTI at 22 nm in its own FO4.
"""
_TOTALS = """\
## Machines over the baseline

Growth of logic and arrays over the baseline of the same preset. The logic is that of `synth/figures`, a NAND2 having
the area of the library's.

* *latches*: arrays of operands are latches instead of the flip-flops of that logic, by the difference of both forms
  above. [forms.md](forms.md) has mapped forms.
* *flip-flops*: arrays of up to {rows} rows are flip-flops, except register banks.
* *0.94 Mb/mm2*: all memories have that density, and arrays of operands are flip-flops.
"""


@dataclass(frozen=True)
class Part:
    """All arrays of one kind in a machine: one slice of it, and how many there are; ``logic``: cells count it too."""

    name: str
    array: Array
    slices: int
    instances: int
    logic: bool

    @property
    def bits(self) -> int:
        """Of all of them."""
        return self.array.rows * self.array.width * self.slices * self.instances


def parts(cfg: Config) -> list[Part]:
    """Every array of a machine."""
    rams = [Part(name, Array.of(ram), ram.arrays * slices(ram), ram.instances, False) for name, ram in cfg.rams.items()]
    operands = [
        Part(one.module, Array(one.rows, WORD_BITS, f"{one.reads}R{one.writes}W"), 1, one.instances, True)
        for one in cfg.operand_arrays
    ]
    return rams + operands


def main(arguments: Sequence[str]) -> int:
    """Price every array in the libraries, and write the page."""
    parser = page_parser("arrays", __doc__)
    parser.add_argument("--liberty", type=Path, action="append", default=[], help="cell library; may be repeated")
    options = parser.parse_args(arguments)
    if not options.liberty:
        say("arrays: needs --liberty FILE, a cell library for areas")
        return 1
    return write_or_check(options, {PAGE: "\n".join(page([read_liberty(path) for path in options.liberty]))})


def page(libraries: Sequence[Liberty]) -> Iterator[str]:
    """The whole page."""
    macros, prices, wanted = read_macros(), read_array_prices(), list(designs(("all",), None, ()))
    command = " ".join(("python -m warpfile.pages arrays", *(f"--liberty {one.name}" for one in libraries)))
    facts = {"slice": prices.slice_bits, "rows": LATCH_ROWS, "dense": DENSE_UM2}
    yield _INTRODUCTION.format(command=command, **facts)
    yield _SHEETS
    columns = ("macro", "rows x bits", "ports", "um2 per bit", "over 0.94 Mb/mm2", "ns", "FO4", "source")
    yield table(columns, (_sheet(one, libraries) for one in macros))
    yield _ARRAYS
    columns = ("scheme", "array", "instances", "slices", "each", "bits", "pJ read", "pJ write", "FO4")
    names = (name for one in libraries for name in (one.name, "um2 per bit", "as flip-flops"))
    rows = (_row(one, part, prices, libraries, macros) for one in wanted for part in parts(one.config))
    yield table((*columns, *names), rows)
    yield _TOTALS.format(**facts)
    columns = ("scheme", "preset", *(f"{one.name}, {form}" for one in libraries for form in _FORMS))
    figures = read_figures(KEPT)["schemes"]
    yield table(
        columns,
        (
            (f"`{one.scheme.name}`", one.preset, *_growths(one, figures.get(one.scheme.name), libraries, macros))
            for one in wanted
            if one.scheme.name != BASELINE
        ),
    )


def _sheet(macro: Macro, libraries: Sequence[Liberty]) -> tuple[object, ...]:
    own = next((one for one in libraries if any(cell.startswith(macro.library) for cell in one.cells)), None)
    times = f"{macro.clock_to_output_ns / fo4.nanoseconds(own):.1f}" if own and tools.find("sta") else "-"
    density = (f"{macro.um2_per_bit:.2f}", f"{macro.um2_per_bit / DENSE_UM2:.2f}")
    shape = (f"`{macro.name}`", f"{macro.rows} x {macro.width}", macro.ports)
    return (*shape, *density, f"{macro.clock_to_output_ns:.2f}", times, macro.source)


def _row(
    one: Design, part: Part, prices: ArrayPrices, libraries: Sequence[Liberty], macros: Sequence[Macro]
) -> tuple[object, ...]:
    head = (f"`{one.scheme.name}`", f"`{part.name}`", part.instances, part.slices, str(part.array), f"{part.bits:,}")
    costs: tuple[object, ...] = ("-", "-", "-")
    if part.array in prices.arrays:
        price = prices.price(part.array)
        energies = (f"{part.slices * pj:.2f}" for pj in (price.read_pj, price.write_pj))
        costs = (*energies, f"{prices.clock_to_output_fo4(part.array):.1f}")
    forms = [built(part.array, library, macros) for library in libraries]
    flip_flops = [of_flip_flops(part.array, library).um2_per_bit for library in libraries]
    areas = (
        (f"{found.macros} x `{found.form}`" if found.macros else found.form, f"{found.um2_per_bit:.2f}", f"{held:.2f}")
        for found, held in zip(forms, flip_flops, strict=True)
    )
    return (*head, *costs, *(cell for area in areas for cell in area))


#: Columns of a library in the table of totals.
_FORMS = ("latches", "flip-flops", "0.94 Mb/mm2")


def _growths(
    one: Design, kept: dict[str, Any] | None, libraries: Sequence[Liberty], macros: Sequence[Macro]
) -> Iterator[str]:
    """Growth of the machine in each library, in each of the forms; - where no figure of it is kept."""
    if kept is None:
        yield from ("-",) * (len(libraries) * len(_FORMS))
        return
    logic = kept["nand2_equivalents"], kept["nand2_equivalents"] - kept["overhead"]["nand2_equivalents"]
    for library in libraries:
        for form in _FORMS:
            ours, base = (
                cells * library.nand2_area + _arrays(cfg, form, library, macros)
                for cells, cfg in zip(logic, (one.config, one.baseline.config), strict=True)
            )
            yield signed(ours / base - 1)


def _arrays(cfg: Config, form: str, library: Liberty, macros: Sequence[Macro]) -> float:
    """Area of the arrays beside the logic that has arrays of operands in flip-flops."""
    area = 0.0
    for part in parts(cfg):
        number, small = part.slices * part.instances, part.array.rows <= LATCH_ROWS and part.name != BANK_RAM
        if part.logic:
            changed = of_latches(part.array, library).um2 - of_flip_flops(part.array, library).um2
            area += number * changed if form == "latches" else 0.0
        elif form == "0.94 Mb/mm2":
            area += part.bits * DENSE_UM2
        elif form == "flip-flops" and small:
            area += number * of_flip_flops(part.array, library).um2
        else:
            area += number * built(part.array, library, macros).um2
    return area

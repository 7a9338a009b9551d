"""docs/energy-schemes.md: memories of all schemes at one set of prices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from warpfile.cli.commands.energy import run_all
from warpfile.cli.commands.memory_energy import MemoryBill
from warpfile.output.display import Report, progress, silent
from warpfile.pages.writing import DOCS, page_parser, write_or_check
from warpfile.results.designs import ALL, Choice, chosen
from warpfile.results.markdown import percent, signed, table
from warpfile.synth.arrays import GIGAHERTZ, ArrayPrices, read_array_prices
from warpfile.workloads.inputs import obtain_trace

PAGE = DOCS / "energy-schemes.md"
KERNELS = ("spmv", "stencil", "matmul_tiled", "collatz")
#: The machine in which all are put side by side, where they fit.
SHARED = "turing"
_INTRODUCTION = """\
# Energy of the memories of all schemes

Written by `python -m warpfile.pages energies`. Golden models run bundled kernels. Memories have the prices of
{source}, {node} nm, {volts} V, {kelvin} K, {cells}, with leakage at {gigahertz} GHz.
[energy.md](energy.md#memories-at-one-set-of-prices) lists what the energies include. **Flip-flops and wires are not
included**, so a scheme that serves operands from flip-flops looks better here than it is.

* Growth is over the baseline of the same preset: in accesses, in accesses and leakage together, and in cycles.
* Rows of all SRAMs are cut into slices of {slice} bits, for every scheme alike. *Whole rows* is the growth in accesses
  without these slices; the banks of `corf_plus` are four arrays with an address each even then.
* Memories leak during the whole run, so the number of cycles matters too.
* The price depends on the ports. At `turing` the banks of the baseline have a read port and a write port. Schemes that
  rename registers have one port for both, which costs less.
"""


def rows(asked: Choice, prices: ArrayPrices, report: Report) -> Iterator[tuple[object, ...]]:
    """A row per kernel and scheme."""
    for kernel in KERNELS:
        trace = obtain_trace(kernel, "launch", None, report)
        for one in run_all(asked, trace, report):
            bill, whole = (MemoryBill.of(*one, at, GIGAHERTZ) for at in (prices, replace(prices, slice_bits=None)))
            yield (f"`{bill.design.scheme.name}`", kernel, bill.design.preset, *_figures(bill, whole))


def _figures(bill: MemoryBill, whole: MemoryBill) -> tuple[object, ...]:
    ours, base = bill.energy, bill.baseline
    growths = (
        ours.dynamic / base.dynamic,
        whole.energy.dynamic / whole.baseline.dynamic,
        ours.picojoules / base.picojoules,
        ours.cycles / base.cycles,
    )
    nanojoules = (f"{value / 1000:,.0f}" for value in (ours.dynamic, ours.leakage))
    return (*nanojoules, percent(ours.leakage / ours.picojoules), *(signed(growth - 1) for growth in growths))


def page(report: Report = silent) -> str:
    """The whole page."""
    prices = read_array_prices()
    columns = (
        "scheme",
        "kernel",
        "preset",
        "nJ accesses",
        "nJ leaked",
        "leaked",
        "accesses",
        "whole rows",
        "both",
        "cycles",
    )
    own, shared = (chosen([ALL], preset, ()) for preset in (None, SHARED))
    facts = {"source": prices.source, "node": prices.node_nm, "volts": f"{prices.volts:g}", "kelvin": prices.kelvin}
    return "\n".join(
        (
            _INTRODUCTION.format(**facts, cells=prices.cells, gigahertz=f"{GIGAHERTZ:g}", slice=prices.slice_bits),
            "## Each at its own preset\n",
            table(columns, rows(own, prices, report)),
            f"## All in the machine `{SHARED}`\n",
            table(columns, rows(shared, prices, report)),
            *(f"Not `{name}`: {reason}.\n" for name, reason in shared.left_out.items()),
        )
    )


def main(arguments: Sequence[str]) -> int:
    """Run all schemes, and write the page."""
    options = page_parser("energies", __doc__).parse_args(arguments)
    with progress("energies") as report:
        text = page(report)
    return write_or_check(options, {PAGE: text})

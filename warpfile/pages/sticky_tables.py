"""Tables of docs/schemes/sticky.md, sections 12 and 13, and shrf.md, section 13: machines of a study, also beside
``modern`` and ``malekeh``.

From results.csv of ``warpfile study examples/study/sticky.toml``, ``sticky_scalar.toml`` or ``near_entries.toml``.
Growth in percent with the 95 % interval over the kernels on which all machines ran. *IPC*: over the baseline of the
preset, over the matched one, over ``modern``, and over ``malekeh``. *Bank reads*: reads of banks of 32 words less one
per source. *Bank accesses*: with writes, over the baseline. The last two columns are in points: the machine's share
less that of ``malekeh``.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

from warpfile.pages.writing import parser
from warpfile.results.markdown import table
from warpfile.results.sample import ARITHMETIC, GEOMETRIC, Mean, undecided

COLUMNS = (
    "machine",
    "IPC",
    "IPC over matched",
    "IPC over `modern`",
    "IPC over `malekeh`",
    "bank reads",
    "bank accesses",
    "reads less `malekeh`'s",
    "accesses less `malekeh`'s",
)
MODERN, MALEKEH = ("modern", ""), ("malekeh", "")
Machine = tuple[str, str]  #: scheme and changes of fields
Row = dict[str, str]


def cell(mean: Mean, ratios: Sequence[float]) -> str:
    """A growth of these ratios in percent, and its interval."""
    interval = mean.interval(ratios)
    if interval is None:
        raise ValueError(f"there must be at least two kernels with all machines, not {len(ratios)}")
    low, high = (100 * (bound - 1) for bound in interval)
    word = "undecided: " if undecided((low, high)) else ""
    return f"{word}{100 * (mean(ratios) - 1):+.1f} [{low:+.1f}, {high:+.1f}]"


def rows_of(results: Sequence[Row]) -> list[tuple[str, ...]]:
    """A row per machine. Raises ``ValueError`` without ``modern``, ``malekeh`` and a ``sticky`` that counts sources."""
    of = {((row["scheme"], row["changes"]), row["kernel"]): row for row in results if row["status"] == "ok"}
    machines = list(dict.fromkeys(machine for machine, _ in of))
    if not {MODERN, MALEKEH} <= set(machines):
        raise ValueError("the study must have modern and malekeh, without changes")
    named = dict.fromkeys(row["kernel"] for row in results)
    kernels = [kernel for kernel in named if all((machine, kernel) in of for machine in machines)]
    counting = next((machine for machine in machines if machine[0].startswith("sticky")), None)
    if counting is None:
        raise ValueError("the study must have a machine of sticky, which counts sources")

    def each(machine: Machine, value: Callable[[Row], float]) -> list[float]:
        return [value(of[machine, kernel]) for kernel in kernels]

    sources, base = each(counting, _number("counter_sources")), each(MALEKEH, _number("baseline_cycles"))

    def measured(machine: Machine) -> tuple[list[float], list[float], list[float]]:
        speeds = [one / own for one, own in zip(base, each(machine, _number("cycles")), strict=True)]
        reads = [own / one for own, one in zip(each(machine, _reads), sources, strict=True)]
        return speeds, reads, each(machine, _number("bank_accesses_over_baseline"))

    found = {machine: measured(machine) for machine in machines}
    return [
        (
            " ".join(f"`{one}`" for one in (machine[0], *machine[1].split())),
            cell(GEOMETRIC, found[machine][0]),
            cell(GEOMETRIC, each(machine, _number("ipc_over_matched"))),
            *(
                "" if machine == other else cell(GEOMETRIC, _over(found[machine][0], found[other][0]))
                for other in (MODERN, MALEKEH)
            ),
            cell(ARITHMETIC, found[machine][1]),
            cell(ARITHMETIC, found[machine][2]),
            *(
                "" if machine == MALEKEH else cell(ARITHMETIC, _less(found[machine][n], found[MALEKEH][n]))
                for n in (1, 2)
            ),
        )
        for machine in machines
    ]


def _number(name: str) -> Callable[[Row], float]:
    return lambda row: float(row[name])


def _reads(row: Row) -> float:
    """Of banks of 32 words: where there are others beside them, these are counted apart."""
    return float(row.get("counter_vector_reads") or row["counter_bank_reads"])


def _over(ours: Sequence[float], other: Sequence[float]) -> list[float]:
    return [one / two for one, two in zip(ours, other, strict=True)]


def _less(ours: Sequence[float], other: Sequence[float]) -> list[float]:
    return [1 + one - two for one, two in zip(ours, other, strict=True)]


def main(arguments: Sequence[str]) -> int:
    """Print the table of a study."""
    options_of = parser("sticky_tables", __doc__)
    options_of.add_argument("results", type=Path, metavar="RESULTS.csv", help="build/study/STUDY/results.csv")
    path = options_of.parse_args(arguments).results
    try:
        with path.open(newline="") as file:
            print(table(COLUMNS, rows_of(list(csv.DictReader(file)))), end="")
    except (OSError, ValueError) as error:
        options_of.error(f"{path}: {error}")
    return 0

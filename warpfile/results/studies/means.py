"""Growths of machines over their baselines: means over kernels, and how sure they are over seeds and over kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from warpfile.results.sample import ARITHMETIC, GEOMETRIC, Mean, bracketed, undecided
from warpfile.results.spread import Spread
from warpfile.results.studies.table import Row

#: Growths by their title, with the column of their ratios.
GROWTHS = {
    "IPC growth": "ipc_over_baseline",
    "IPC over matched": "ipc_over_matched",
    "accesses growth": "bank_accesses_over_baseline",
    "accesses over matched": "bank_accesses_over_matched",
    "energy growth": "energy_over_baseline",
    "energy over matched": "energy_over_matched",
}
_MEANS: Mapping[str, Mean] = {"ipc_over_baseline": GEOMETRIC, "ipc_over_matched": GEOMETRIC}
_PLACE = ("scheme", "preset", "changes")


@dataclass(frozen=True)
class Growth:
    """Means over ``kernels`` seed by seed, and the 95 % interval of the ratio over kernels; None for one kernel."""

    seeds: Spread
    ratios: tuple[float, float] | None
    kernels: int

    @property
    def half(self) -> float | None:
        """Half of the interval over seeds; None for one seed."""
        return self.seeds.half if len(self.seeds.values) > 1 else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """That of the growth over kernels."""
        return (self.ratios[0] - 1, self.ratios[1] - 1) if self.ratios else None

    @property
    def undecided(self) -> bool:
        """See :func:`warpfile.results.sample.undecided`."""
        return undecided(self.interval)

    def __str__(self) -> str:
        """See :func:`warpfile.results.sample.bracketed`."""
        return bracketed(self.seeds, self.ratios)


def by_machine(rows: Iterable[Row]) -> dict[tuple[str, str, str], list[Row]]:
    """Rows by scheme, preset and changes, in the order in which machines first appear."""
    found: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row["scheme"], row["preset"], row["changes"]), []).append(row)
    return found


def growth(rows: Sequence[Row], column: str) -> Growth | None:
    """Of a machine's rows, if every seed has the same kernels. The baseline has not grown over itself."""
    if all(row["scheme"] == row.get("baseline") for row in rows):
        return None
    ratios: dict[object, dict[tuple[object, object], float]] = {}
    for row in rows:
        if row.get(column) is not None:
            ratios.setdefault(row.get("seed"), {})[row.get("kernel"), row.get("setting")] = row[column]
    kernels = set().union(*ratios.values())
    complete = all(row.get("seed") in ratios for row in rows) and all(
        len(one) == len(kernels) for one in ratios.values()
    )
    if not kernels or not complete:
        return None
    mean = _MEANS.get(column, ARITHMETIC)
    seeds = Spread([mean(list(one.values())) - 1 for _, one in sorted(ratios.items())])
    by_kernel = [fmean(one[kernel] for one in ratios.values()) for kernel in sorted(kernels)]
    return Growth(seeds, mean.interval(by_kernel), len(kernels))


def means(rows: Sequence[Row]) -> Iterator[Row]:
    """A row per machine and growth: the table that the command prints, as numbers. Growths are fractions."""
    for place, some in by_machine(rows).items():
        machine: Row = {"study": some[0]["study"], **dict(zip(_PLACE, place, strict=True))}
        for name in ("differs", "baseline", "matched"):
            machine[name] = next((row[name] for row in some if row.get(name) is not None), None)
        for title, column in GROWTHS.items():
            if one := growth(some, column):
                low, high = one.interval or (None, None)
                found: Row = {"growth": title, "mean": one.seeds.mean, "half_over_seeds": one.half}
                found |= {"low_over_kernels": low, "high_over_kernels": high, "kernels": one.kernels}
                yield {**machine, **found, "undecided": one.undecided if one.interval else None}

"""Figures of a machine over kernels and seeds: what is measured, its mean, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from warpfile.results.reports.source import Row, kernel_of
from warpfile.results.sample import ARITHMETIC, GEOMETRIC, Mean, undecided
from warpfile.results.spread import Spread


@dataclass(frozen=True)
class Value:
    """A mean over ``kernels`` and its 95 % interval over seeds, as half of its length; None where there is one seed.

    ``low`` and ``high`` are the ends of its 95 % interval over kernels; None where there is one kernel.
    """

    mean: float
    half: float | None
    kernels: int
    low: float | None = None
    high: float | None = None

    @property
    def identical(self) -> bool:
        """Whether a growth is zero on every kernel and seed."""
        return not any((self.mean, self.half, self.low, self.high))

    @property
    def undecided(self) -> bool:
        """Of a growth, whether its interval over kernels holds zero: other kernels may give the other sign."""
        return self.low is not None and self.high is not None and undecided((self.low, self.high))


@dataclass(frozen=True)
class Measure:
    """One column of a study. ``offset`` is taken away, so that a ratio is a growth; ``better`` is 1 where more is.

    ``over`` says over what it is a growth. ``form`` is the format of its values, for Python and for Plotly.
    """

    column: str
    title: str
    better: int
    offset: float = 0.0
    mean: Mean = ARITHMETIC
    over: str = "the baseline at the same preset"
    form: str = "+.1%"

    @property
    def name(self) -> str:
        """Of its chart."""
        return self.title.lower().replace(" ", "-")

    @property
    def ticks(self) -> str:
        """The format of numbers at an axis, by default that of Plotly."""
        return self.form.replace(".1", ".0") if "%" in self.form else ""

    def of(self, rows: Iterable[Row], kernel: tuple[str, str] | None = None) -> Value | None:
        """Over the rows of a machine, of one kernel or the mean over all that were run at every seed.

        The mean over kernels is taken seed by seed; None where there is no value.
        """
        by_seed: dict[int, dict[tuple[str, str], float]] = {}
        for row in rows:
            if row.get(self.column) is not None and kernel in (None, kernel_of(row)):
                by_seed.setdefault(row["seed"], {})[kernel_of(row)] = row[self.column]
        shared = set.intersection(*map(set, by_seed.values())) if by_seed else set()
        if not shared:
            return None
        values = [self.mean([found[one] for one in sorted(shared)]) - self.offset for found in by_seed.values()]
        spread = Spread(values)
        ends = self.mean.interval([fmean(found[one] for found in by_seed.values()) for one in sorted(shared)])
        low, high = (end - self.offset for end in ends) if ends else (None, None)
        return Value(spread.mean, spread.half if len(values) > 1 else None, len(shared), low, high)


ABSOLUTE = Measure("ipc", "IPC", 1, over="", form=".3f")
IPC = Measure("ipc_over_baseline", "IPC growth", 1, 1.0, GEOMETRIC)
MATCHED = Measure("ipc_over_matched", "IPC over matched", 1, 1.0, GEOMETRIC, "the matched baseline (docs/study.md)")
ACCESSES = Measure("bank_accesses_over_baseline", "bank accesses growth", -1, 1.0)
ENERGY = Measure("energy_over_baseline", "energy growth", -1, 1.0)
HITS = Measure("hit_ratio", "hit ratio", 1, over="", form=".1%")
#: Everything of which there is a chart by kernel.
MEASURES = (ABSOLUTE, IPC, MATCHED, ACCESSES, ENERGY, HITS)


def prices(rows: Iterable[Row]) -> str:
    """The prices of all energies of a study, as people call them. All rows of a study have one set."""
    return ", ".join(dict.fromkeys(row["energy_prices"] for row in rows if row.get("energy_prices")))


def priced(rows: Sequence[Row]) -> float | None:
    """Part of a machine's accesses that have a price, mean over its rows."""
    found = [row["energy_priced"] for row in rows if row.get("energy_priced") is not None]
    return fmean(found) if found else None

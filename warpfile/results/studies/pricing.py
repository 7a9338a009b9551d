"""Energies of a study: all rows at one set of prices, CACTI's for memories unless a paper's is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from warpfile.results.points import Outcome
from warpfile.schemes import Scheme
from warpfile.spec.config import Config
from warpfile.synth.arrays import NAME, ArrayPrices, read_array_prices, run_energy
from warpfile.synth.energy import PriceSet, all_prices, energy

Prices = ArrayPrices | PriceSet
DEFAULT = NAME  #: the set with which rows of any schemes can be compared


@dataclass(frozen=True)
class Cost:
    """Energy of a run. ``priced``: part of its accesses that is in it; ``leaked``: picojoules, of memories only."""

    picojoules: float
    priced: float
    leaked: float | None = None

    def over(self, baseline: Cost) -> float | None:
        """This energy in units of the baseline's, at the same prices; None if that has none."""
        return self.picojoules / baseline.picojoules if baseline.picojoules else None

    def columns(self, prices: Prices) -> dict[str, Any]:
        """The columns of a row."""
        facts = {"energy_pj": self.picojoules, "energy_leakage_pj": self.leaked, "energy_priced": self.priced}
        return facts | {"energy_prices": prices.name}


def price_names() -> tuple[str, ...]:
    """Sets that a study can be priced with."""
    return (DEFAULT, *all_prices())


def one_set(name: str | None) -> Prices:
    """The set of that name, or the default."""
    return read_array_prices() if name in (None, DEFAULT) else all_prices()[name]


def cost(scheme: Scheme, cfg: Config, run: Outcome, prices: Prices) -> Cost | None:
    """Energy of a run; None for a machine with a memory that has no price."""
    if isinstance(prices, PriceSet):
        published = energy(scheme, cfg, run.counters, prices)
        return Cost(published.picojoules, published.covered)
    if _unsaid(scheme, cfg) or prices.missing(cfg):
        return None
    found = run_energy(scheme, cfg, run.counters, run.cycles, prices)
    return Cost(found.picojoules, found.covered, found.leakage)


def without(machines: Mapping[str, tuple[Scheme, Config]], prices: Prices) -> Iterator[str]:
    """A line per reason on the machines, by label, that have no energy."""
    if isinstance(prices, PriceSet):
        return
    missing = {label: found for label, (_, cfg) in machines.items() if (found := prices.missing(cfg))}
    if missing:
        arrays = " ".join(dict.fromkeys(str(one) for found in missing.values() for one in found))
        yield f'No energy for {_listed(missing)}: {prices.name} has no price of a memory; make cacti ARRAYS="{arrays}"'
    if unsaid := [label for label, machine in machines.items() if _unsaid(*machine)]:
        yield f"No energy for {_listed(unsaid)}: rams of the part must name the counters of its memories"


def _unsaid(scheme: Scheme, cfg: Config) -> bool:
    """Whether a part does not say how often a memory is asked."""
    return any(name not in scheme.rams for name in cfg.rams)


def _listed(labels: Iterable[str]) -> str:
    first, *others = labels
    return f"{first} and {len(others):,} more" if others else first

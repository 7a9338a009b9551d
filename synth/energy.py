"""Energy of a run: the accesses that it counted times published energies per access (``prices``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import Any

from warpfile.schemes import PARTS, Scheme
from warpfile.spec.config import Config
from warpfile.spec.reading import read_toml
from warpfile.synth.rules import LIST, NUMBER, TABLE, TEXT, WHOLE, check

#: The published prices, a file per set; docs/energy.md has the meaning of the fields.
PUBLISHED = Path(__file__).with_name("prices")
WIRE = "wire"
_BANKS = ("bank_read", "bank_write")


@dataclass(frozen=True)
class Price:
    """``pj`` for one access of ``bits`` bits, in configurations that have the values of ``where``.

    ``place`` is where in the source it stands. A look-up has no ``bits`` and costs the same for any number of lanes.
    """

    kind: str
    pj: float
    place: str
    bits: int | None = None
    where: Mapping[str, object] = field(default_factory=dict)

    def holds(self, cfg: Config) -> bool:
        """Whether it is the price of such a configuration."""
        return all(getattr(cfg, name, None) == value for name, value in self.where.items())

    def picojoules(self, cfg: Config) -> float:
        """One access of a warp register with the configuration's lanes."""
        return self.pj * (cfg.data_bits / self.bits if self.bits else 1)


@dataclass(frozen=True)
class PriceSet:
    """Prices of one paper. ``brought``: by a part of another package, for schemes that name it only."""

    name: str
    source: str
    node_nm: int
    volts: float
    remark: str
    prices: tuple[Price, ...]
    brought: bool = False

    def price(self, kind: str, cfg: Config) -> Price | None:
        """The price of a kind in a configuration; None where none is published."""
        return next((one for one in self.prices if one.kind == kind and one.holds(cfg)), None)


@dataclass(frozen=True)
class Access:
    """How often a run asked one part for one thing. ``picojoules`` is that of one access, wire included, if known."""

    kind: str
    count: int
    picojoules: float | None
    place: str = ""

    @property
    def total(self) -> float:
        """Picojoules of all of them, 0 where no price is known."""
        return self.count * (self.picojoules or 0.0)


@dataclass(frozen=True)
class Energy:
    """What a run cost at a set of prices; kinds that it did not use are left out."""

    prices: PriceSet
    accesses: tuple[Access, ...]

    @property
    def picojoules(self) -> float:
        """All accesses with a price; those without one would come on top."""
        return sum(one.total for one in self.accesses)

    @property
    def priced(self) -> tuple[Access, ...]:
        """Accesses with a price."""
        return tuple(one for one in self.accesses if one.picojoules is not None)

    @property
    def unpriced(self) -> dict[str, int]:
        """Counts of the accesses without a published energy, by kind."""
        return {one.kind: one.count for one in self.accesses if one.picojoules is None}

    @property
    def covered(self) -> float:
        """Part of the accesses that have a price."""
        count = sum(one.count for one in self.accesses)
        return sum(one.count for one in self.priced) / count if count else 1.0

    def share(self, access: Access) -> float:
        """Part of the total that an access has."""
        return access.total / self.picojoules if self.picojoules else 0.0

    def over(self, baseline: Energy) -> float | None:
        """This energy in units of the baseline's; None if that did nothing. Raises ``ValueError`` for other prices."""
        if self.prices.name != baseline.prices.name:
            raise ValueError(f"prices of both runs must be the same, not {self.prices.name} and {baseline.prices.name}")
        return self.picojoules / baseline.picojoules if baseline.picojoules else None


def energy(
    scheme: Scheme,
    cfg: Config,
    counters: Mapping[str, int],
    prices: PriceSet,
    wires: Mapping[str, float] | None = None,
) -> Energy:
    """What the counters of a run cost.

    ``wires``: length in mm that a warp register travels from or to a part ("bank", "cache"), for sets with a price of
    wires; without it wires cost nothing. Raises ``ValueError`` for a length where the set has no such price.
    """
    found = []
    for kind, names in scheme.accesses.items():
        count, price = sum(counters[name] for name in names), prices.price(kind, cfg)
        way = (wires or {}).get(kind.partition("_")[0], 0.0)
        if count:
            each = price.picojoules(cfg) + way * _wire(prices, cfg, way) if price else None
            found.append(Access(kind, count, each, price.place if price else ""))
    return Energy(prices, tuple(found))


def _wire(prices: PriceSet, cfg: Config, way: float) -> float:
    """Picojoules per mm."""
    price = prices.price(WIRE, cfg)
    if price is None and way:
        raise ValueError(f"wires must have a price, which {prices.name} has not")
    return price.picojoules(cfg) if price else 0.0


def default_prices(scheme: Scheme, sets: Mapping[str, PriceSet]) -> PriceSet:
    """The prices of the scheme's own paper, else those of the node nearest to its chip; among equals the first."""
    if scheme.prices:
        return sets[_set_name(scheme.prices)]
    published = (one for one in sets.values() if not one.brought)
    return min(published, key=lambda one: abs(one.node_nm - scheme.node_nm))


def one_for_all(schemes: Iterable[Scheme], baseline: Scheme, sets: Mapping[str, PriceSet]) -> PriceSet:
    """One set for several schemes that are to be compared: what each would get by itself, if that is the same; else
    the baseline's, so that none is priced by a paper of its own and another one not."""
    own = {default_prices(scheme, sets).name for scheme in schemes}
    return sets[own.pop()] if len(own) == 1 else default_prices(baseline, sets)


def all_prices() -> dict[str, PriceSet]:
    """The published sets, and those that parts of other packages bring with them, by name.

    Raises ``ValueError`` as :func:`read_prices`, and for two sets of one name.
    """
    found = read_prices()
    for place in dict.fromkeys(part.prices for part in PARTS.values() if ":" in part.prices):
        name, (package, _, path) = _set_name(place), place.partition(":")
        if name in found:
            raise ValueError(f"{place}: the name of a price set must be its own, not {name}")
        found[name] = replace(_price_set(files(package) / path, name), brought=True)
    return found


def _set_name(place: str) -> str:
    """Name of the set that a part names: one of this package, or a file (``package:path``)."""
    return PurePosixPath(place.partition(":")[2]).stem if ":" in place else place


def read_prices(folder: Path = PUBLISHED) -> dict[str, PriceSet]:
    """All sets of a folder, by name of their file.

    Raises ``ValueError`` with file, place and rule for one that cannot be used.
    """
    return {path.stem: _price_set(path, path.stem) for path in sorted(folder.glob("*.toml"))}


_OF_SET = {
    "source": TEXT,
    "node_nm": WHOLE,
    "volts": NUMBER,
    "remark": TEXT,
    "prices": LIST,
    "kinds": TABLE,
}
_OF_PRICE = {"kind": TEXT, "pj": NUMBER, "place": TEXT}
_OPTIONAL = {"bits": WHOLE, "where": TABLE}


def _price_set(path: Path | Traversable, name: str) -> PriceSet:
    try:
        table = read_toml(path)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    check(table, _OF_SET, str(path))
    kinds = table.pop("kinds")
    prices = tuple(_price(one, kinds, f"{path}: price {number}") for number, one in enumerate(table["prices"], 1))
    for number, one in enumerate(prices, 1):
        if any((one.kind, one.where) == (other.kind, other.where) for other in prices[: number - 1]):
            raise ValueError(f"{path}: price {number}: {one.kind} must have one price, not two")
    for kind in _BANKS:
        if not any(one.kind == kind and not one.where for one in prices):
            raise ValueError(f"{path}: {kind} must have a price that always holds")
    return PriceSet(name, **{**table, "prices": prices})


def _price(table: Any, kinds: Mapping[str, str], at: str) -> Price:
    check(table, _OF_PRICE, at, _OPTIONAL)
    if table["kind"] not in kinds:
        raise ValueError(f"{at}: kind must be one of {', '.join(kinds)}, not {table['kind']}")
    return Price(**table)

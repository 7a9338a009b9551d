"""Which parts fit together: everything else is refused in one line before anything is built."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from warpfile.schemes.part import (
    ENGINES,
    EVICTIONS,
    LOOK_UPS,
    LOOKED_UP_LATER,
    OWNERS_FIRST,
    PLACES,
    RESULT_BANKS,
    Part,
)
from warpfile.spec.config import Config
from warpfile.spec.probe import Probe


def check(scheme: str, parts: Sequence[Part], cfg: Config | None = None) -> None:
    """Parts of one machine, and if it is known the configuration. Raises ``ValueError``.

    Without a scheduler, which the configuration may choose, what only a scheduler offers is not required.
    """
    for reason in _misfits(parts, cfg):
        raise ValueError(f"{scheme}: parts must fit: {reason}")


def _misfits(parts: Sequence[Part], cfg: Config | None) -> Iterator[str]:
    owners: dict[str, Part] = {}
    engines = {engine.name for engine in cfg.gives.engines} if cfg else set()
    for engine in cfg.asks.engines if cfg else ():
        if engine.name in engines:
            yield f"names of engines must be unique, not {engine.name!r} of collectors and register file"
    for part in parts:
        for thing in part.owns:
            if thing in owners:
                yield f"{owners[thing].name} and {part.name} both decide {thing}"
            owners[thing] = part
        others = [other for other in parts if other is not part]
        for want in wants(part, cfg):
            if want in (PLACES, OWNERS_FIRST) and not any(other.slot == "scheduler" for other in others):
                continue
            if not any(want in other.offers for other in others):
                yield f"{part.name} wants {want}, which {_listed(others)} not offer"
        if part.wants_one and not any(want in other.offers for other in others for want in part.wants_one):
            yield f"{part.name} wants {' or '.join(part.wants_one)}, which {_listed(others)} not offer"
        if cfg is not None and not isinstance(cfg, part.parameters):
            yield f"{part.name} has settings of its own, so choose it by --{part.slot} or {scheme_with(part)}"


def wants(part: Part, cfg: Config | None) -> tuple[str, ...]:
    """What a part wants of the others, in a configuration if one is given."""
    found = [*part.wants]
    if cfg is not None and part.slot == "collectors":
        found += [LOOK_UPS] if cfg.asks.lookups else []
        found += [RESULT_BANKS] if cfg.asks.result_banks else []
        found += [ENGINES] if cfg.asks.engines else []
        found += [EVICTIONS] if cfg.asks.evicts else []
    if cfg is not None and part.slot == "rf" and cfg.gives.later:
        found.append(LOOKED_UP_LATER)
    return tuple(dict.fromkeys(found))


def scheme_with(part: Part) -> str:
    """How a scheme with this part is called."""
    return f"SCHEME+{part.name}"


def _listed(parts: Sequence[Part]) -> str:
    names = " and ".join(part.name for part in parts)
    return f"{names} do" if len(parts) > 1 else f"{names} does"


def unique(scheme: str, declared: Iterable[tuple[str, tuple[Probe, ...]]]) -> tuple[Probe, ...]:
    """All probes, in their order. Raises ``ValueError`` that names both who declare one of the same name."""
    owners: dict[str, str] = {}
    found: list[Probe] = []
    for owner, probes in declared:
        for probe in probes:
            if probe.name in owners:
                both = f"{owners[probe.name]} and {owner}"
                raise ValueError(f"{scheme}: probe names must be unique, not {probe.name!r} of {both}")
            owners[probe.name] = owner
            found.append(probe)
    return tuple(found)

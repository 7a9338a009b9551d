"""What a search looks at: every combination of parts that fits, in several sizes, around one machine."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from warpfile.results.designs import BASELINE, design
from warpfile.results.studies.machines import Machine
from warpfile.schemes import SCHEMES, SLOTS, Part, Scheme, baseline, composed, fit
from warpfile.spec.config import Config

#: Values of fields, by the part that they size.
Sizes = Mapping[str, Mapping[str, Sequence[object]]]
#: What a candidate is: a scheme as published; the parts of one in another size or under another scheduler of the
#: baseline; or parts that no scheme has together.
PUBLISHED, RESIZED, COMBINATION = "published", "resized", "combination"
_PLAIN = [part for part in baseline.PARTS if part.slot == "scheduler"]


@dataclass(frozen=True)
class Candidate:
    """A machine of a search, of these parts slot by slot. ``sizes`` are fields that are not the scheme's own."""

    machine: Machine
    kind: str
    parts: tuple[Part, ...]
    sizes: Mapping[str, object]

    @property
    def name(self) -> str:
        """Scheme and sizes, without what all machines of the search have."""
        return " ".join((self.scheme.name, *(f"{name}={value}" for name, value in sorted(self.sizes.items()))))

    @property
    def scheme(self) -> Scheme:
        """Of its machine."""
        return self.machine.scheme

    @property
    def config(self) -> Config:
        """Of its machine, which there is."""
        assert self.machine.design
        return self.machine.design.config


def candidates(
    schemes: Sequence[Scheme], parts: Sequence[Part], preset: str, common: Mapping[str, object], sizes: Sizes
) -> list[Candidate]:
    """The baseline, then all different machines of schemes, and of these with other parts in their places.

    A scheme always comes in its own size too, and in that which its paper costs. Raises ``ValueError`` if the baseline
    does not fit the preset with the ``common`` fields.
    """
    base = SCHEMES[BASELINE]
    found: dict[object, Candidate] = {}
    own = [base, *(one for one in schemes if one is not base)]
    for scheme, made in (*zip(own, own, strict=True), *((one, made) for one in own for made in _machines(one, parts))):
        for changes in ({}, scheme.point, *_sized(made, preset, common, sizes)):
            try:
                one = _candidate(scheme, made, preset, common, changes)
            except ValueError:
                if made is base:
                    raise
                continue  # parts that fit by what they offer, but not with these fields
            key = (tuple(part.name for part in one.parts), tuple(sorted(one.config.to_json().items())))
            found.setdefault(key, one)
    return _judged(list(found.values()))


def _machines(scheme: Scheme, parts: Sequence[Part]) -> Iterator[Scheme]:
    """The scheme with parts of others, as long as one is left that is its own and not the baseline's."""
    slots = [[None, *(part for part in parts if part.slot == slot)] for slot in SLOTS]
    own = [part for part in (scheme.collectors, scheme.rf) if part not in (baseline.UNITS, baseline.BANKED)]
    for chosen in itertools.product(*slots):
        made = composed(scheme, [part for part in chosen if part])
        if own and not any(part in own for part in (made.collectors, made.rf)):
            continue
        if not own and (made.collectors, made.rf) != (scheme.collectors, scheme.rf):
            continue
        try:
            fit.check(made.name, made.chosen)
        except ValueError:
            continue
        yield made


def _sized(scheme: Scheme, preset: str, common: Mapping[str, object], sizes: Sizes) -> Iterator[dict[str, object]]:
    """All combinations of the sizes of its parts."""
    try:
        parts = scheme.parts(_config(scheme, preset, common))
    except ValueError:
        return
    swept = {name: values for part in parts for name, values in sizes.get(part.name, {}).items()}
    for values in itertools.product(*swept.values()):
        yield dict(zip(swept, values, strict=True))


def _config(scheme: Scheme, preset: str, changes: Mapping[str, object]) -> Config:
    return design(scheme, preset, [f"{name}={value}" for name, value in changes.items()]).config


def _candidate(
    scheme: Scheme, made: Scheme, preset: str, common: Mapping[str, object], changes: Mapping[str, object]
) -> Candidate:
    found = design(made, preset, [f"{name}={value}" for name, value in {**common, **changes}.items()])
    usual = _config(made, preset, common)
    sizes = {name: value for name, value in changes.items() if getattr(found.config, name) != getattr(usual, name)}
    parts = made.parts(found.config)
    kept = {name: found.changes[name] for name in (*common, *sizes)}
    whole = made is scheme and (not sizes or sizes == dict(scheme.point))
    kind = PUBLISHED if whole else COMBINATION
    return Candidate(Machine(made, preset, kept, found), kind, parts, sizes)


def _judged(found: Sequence[Candidate]) -> list[Candidate]:
    """Machines that are not published are resized where they have the parts of one that is."""
    known = [one.parts for one in found if one.kind == PUBLISHED]
    plain = [parts[1:] for parts in known]

    def same(parts: tuple[Part, ...]) -> bool:
        return parts in known or (parts[0] in _PLAIN and parts[1:] in plain)

    return [replace(one, kind=RESIZED) if one.kind == COMBINATION and same(one.parts) else one for one in found]

"""The machines of a study: schemes at presets with every combination of values that fields are to have."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from warpfile.results.designs import Choice, Design, chosen_schemes, design
from warpfile.results.points import Point
from warpfile.schemes import Scheme, fit
from warpfile.schemes.matching import Matching
from warpfile.spec.config import parse_field
from warpfile.spec.presets import PRESETS

MOST = 100_000  #: machines of a group, and points of a study: more are taken for a mistake


@dataclass(frozen=True)
class Machine:
    """A scheme at a preset with single fields changed. ``refused``: why there is no such machine, and no ``design``."""

    scheme: Scheme
    preset: str
    changes: Mapping[str, object] = field(default_factory=dict)
    design: Design | None = None
    refused: str = ""

    @property
    def changed(self) -> str:
        """The changes as text, in the order of their names."""
        return " ".join(f"{name}={value}" for name, value in sorted(self.changes.items()))

    @property
    def label(self) -> str:
        """Scheme, preset and changes."""
        return " ".join(filter(None, (self.scheme.name, self.preset, self.changed)))

    @property
    def point(self) -> Point:
        """With the setting that points have by default."""
        return Point(self.scheme.name, self.preset, tuple(sorted(self.changes.items())))

    @cached_property
    def baseline(self) -> Machine | None:
        """The baseline at the same preset with the same changes; None where there is no such machine."""
        try:
            beside = self.design.baseline if self.design else None
        except ValueError:
            return None
        return beside and _of(beside)

    @cached_property
    def matching(self) -> Matching:
        """In which fields it differs from that baseline; nothing where there is none."""
        return self.design.matching if self.design and self.baseline else Matching()

    @cached_property
    def matched(self) -> Machine | None:
        """The baseline that differs in the scheme alone, as far as a baseline can; None where there is no baseline."""
        return _of(self.design.matched) if self.design and self.baseline else None


def _of(design: Design) -> Machine:
    return Machine(design.scheme, design.preset, design.changes, design)


def machines(groups: Sequence[Mapping[str, Any]]) -> list[Machine]:
    """All machines of groups of a study file, each once: a default that is written out makes no other machine.

    Raises ``ValueError`` and usage errors for an unknown scheme, part, preset, field or value, and for parts
    that never fit: those of a scheme that only ``all`` stands for make a machine that is refused, if others fit.
    """
    found = (one for group in groups for one in _group(**group))
    once: dict[object, Machine] = {}
    for one in found:
        once.setdefault((one.scheme.name, one.preset, one.design.config) if one.design else one.label, one)
    return list(once.values())


def _group(
    schemes: Sequence[str],
    parts: Sequence[str] = (),
    presets: Sequence[str] = (),
    set: Mapping[str, object] | None = None,  # the name in the file
) -> Iterator[Machine]:
    chosen = chosen_schemes(schemes, parts)
    choice = Choice.naming(schemes, parts)
    choice.of({scheme.name: scheme for scheme in chosen}, lambda scheme: fit.check(scheme.name, scheme.chosen))
    fitting = [scheme for scheme in chosen if scheme.name not in choice.left_out]
    if unknown := [name for name in presets if name not in PRESETS]:
        raise ValueError(f"presets must be of {', '.join(PRESETS)}, not {unknown[0]!r}")
    swept = {name: _values(name, value, fitting) for name, value in (set or {}).items()}
    count = math.prod(map(len, (chosen, presets or [None], *swept.values())))
    if count > MOST:
        raise ValueError(f"a group must have at most {MOST:,} machines, not {count:,}: sweep fewer fields")
    for preset, values in itertools.product(presets or (None,), itertools.product(*swept.values())):
        for scheme in chosen:
            if scheme not in fitting:
                yield Machine(scheme, preset or scheme.preset, refused=choice.left_out[scheme.name])
                continue
            yield _machine(scheme, preset or scheme.preset, dict(zip(swept, values, strict=True)))


def _values(name: str, value: object, schemes: Sequence[Scheme]) -> list[str]:
    """Values of a field as text. Raises ``ValueError`` for a field that no scheme has, and for impossible values."""
    texts = [str(one) for one in (value if isinstance(value, list) else [value])]
    if not texts:
        raise ValueError(f"{name} must have values")
    having = [scheme for scheme in schemes if name in _fields(scheme)]
    for scheme, text in itertools.product(having or schemes[:1], texts):
        parse_field(name, text, scheme.parameters)
    return texts


def _fields(scheme: Scheme) -> set[str]:
    return {spec.name for spec in fields(scheme.parameters)}


def _machine(scheme: Scheme, preset: str, values: Mapping[str, str]) -> Machine:
    """A field that the scheme has not is left out."""
    own = {name: text for name, text in values.items() if name in _fields(scheme)}
    try:
        found = design(scheme, preset, [f"{name}={text}" for name, text in own.items()])
    except ValueError as error:
        return Machine(scheme, preset, own, refused=str(error))
    return Machine(scheme, preset, found.changes, found)

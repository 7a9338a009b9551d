"""One configuration for a machine of several parts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property

from warpfile.spec.config.domain import Config

#: Flags in the order in which records carry them.
_FLAGS = {"beat_flags": ("full", "converged"), "result_flags": ("full", "component", "origin")}


@cache
def joined(kinds: tuple[type[Config], ...]) -> type[Config]:
    """The configuration of a machine whose parts need these: all fields, hints, flags and rules.

    Raises ``TypeError`` where two kinds have a field or a property of one name and neither derives from the other.
    """
    own = tuple(
        kind for kind in dict.fromkeys(kinds) if not any(issubclass(one, kind) and one != kind for one in kinds)
    )
    if len(own) < 2:
        return own[0] if own else Config
    common = {spec.name for spec in dataclasses.fields(Config)}
    seen: dict[str, type[Config]] = {}
    for kind in own:
        for spec in dataclasses.fields(kind):
            if spec.name not in common and spec.name in seen:
                raise TypeError(f"field {spec.name!r} belongs to {seen[spec.name].__name__} and to {kind.__name__}")
            seen[spec.name] = kind
    _check_properties(own)
    body: dict[str, object] = {
        name: tuple(flag for flag in order if any(flag in getattr(kind, name) for kind in own))
        for name, order in _FLAGS.items()
    }
    body |= {"values": any(kind.values for kind in own), "__doc__": "Configuration of a machine of several parts."}
    name = "And".join(kind.__name__.removesuffix("Config") for kind in own) + "Config"
    return dataclass(frozen=True, kw_only=True)(type(name, own, body))


def _check_properties(kinds: Iterable[type[Config]]) -> None:
    """Of what every configuration has, kinds add to what others say; of their own they must not mean two things."""
    seen: dict[str, tuple[type[Config], object]] = {}
    for kind in kinds:
        for name in dir(kind):
            value = getattr(kind, name)
            if isinstance(value, (property, cached_property)) and not hasattr(Config, name):
                first, other = seen.setdefault(name, (kind, value))
                if other is not value:
                    raise TypeError(f"property {name!r} belongs to {first.__name__} and to {kind.__name__}")

"""Schemes by name: a row of the table, or one with some parts replaced (``bow_wr+two_level``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace

from warpfile.schemes.part import SLOTS, Part
from warpfile.schemes.registry import PARTS
from warpfile.schemes.scheme import Scheme
from warpfile.schemes.table import SCHEMES, variants
from warpfile.spec.suggestions import suggestion


def find(name: str) -> Scheme:
    """The scheme called so: one of the table, followed by parts that replace its own, joined with ``+``.

    Raises ``ValueError`` for a name that is unknown and for two parts of one slot.
    """
    scheme, *parts = name.split("+")
    if scheme not in SCHEMES:
        known = (*SCHEMES, *variants())
        raise ValueError(
            f"SCHEME must be one of {', '.join(known)}, or one with +PART, not {name!r}{suggestion(scheme, known)}"
        )
    if unknown := [part for part in parts if part not in PARTS]:
        raise ValueError(f"a part must be one of {', '.join(PARTS)}, not {unknown[0]!r} in {name!r}")
    return composed(SCHEMES[scheme], (PARTS[part] for part in parts))


def composed(scheme: Scheme, parts: Iterable[Part]) -> Scheme:
    """The scheme with these parts in their slots; its name has them in the order of the slots, so that it is always
    the same. What is said of the scheme's own parts together (claims, setups, study, survivors) is not said of it.

    Raises ``ValueError`` for two parts of one slot.
    """
    chosen: dict[str, Part] = {}
    for part in parts:
        if chosen.setdefault(part.slot, part) != part:
            raise ValueError(
                f"{scheme.name}: {part.slot} must be one part, not {chosen[part.slot].name} and {part.name}"
            )
    new = {slot: chosen[slot] for slot in SLOTS if slot in chosen and getattr(scheme, slot) != chosen[slot]}
    if not new:
        return scheme
    whole = {"collectors", "rf"}.isdisjoint(new)
    bare = replace(scheme, **new, claims=(), setups=(), study="", survivors="")  # type: ignore[arg-type]
    return replace(
        bare,
        name="+".join((scheme.name, *(part.name for part in new.values()))),
        summary=f"{scheme.summary}; with {', '.join(part.name for part in new.values())}",
        settings=_kept(scheme, bare),
        reached=scheme.reached if whole else (),
        node_nm=scheme.node_nm or SCHEMES["baseline"].node_nm,
    )


def _kept(scheme: Scheme, other: Scheme) -> dict[str, Mapping[str, object]]:
    """The scheme's own settings, without those of fields that only a replaced part has."""
    gone = {spec.name for part in scheme.chosen if part not in other.chosen for spec in fields(part.parameters)}
    gone -= {spec.name for part in other.chosen for spec in fields(part.parameters)}
    return {
        preset: {name: value for name, value in settings.items() if name not in gone}
        for preset, settings in scheme.settings.items()
    }

"""Which parts and schemes there are."""

from __future__ import annotations

from warpfile.schemes import baseline, bow, malekeh, rfc, two_level
from warpfile.schemes.part import Part
from warpfile.schemes.scheme import Scheme

PARTS: dict[str, Part] = {
    part.name: part for module in (baseline, two_level, bow, malekeh, rfc) for part in module.PARTS
}

SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme for module in (baseline, bow, malekeh, rfc) for scheme in module.SCHEMES
}


def find(name: str) -> Scheme:
    """The scheme of a name. Raises ``KeyError``."""
    return SCHEMES[name]

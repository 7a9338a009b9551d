"""The table of schemes."""

from __future__ import annotations

from warpfile.schemes.registry import Table, everything
from warpfile.schemes.scheme import Scheme

SCHEMES: Table[Scheme] = Table("schemes")


def variants() -> dict[str, Scheme]:
    """By name what is another scheme in other settings, in the order of the table."""
    return {name: SCHEMES[name] for name in everything().variants}

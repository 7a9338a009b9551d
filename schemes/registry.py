"""Where parts and schemes are found, and which parts there are: those of this package, and those of others that say so.

Another package names a module in its entry points, in the group ``warpfile.schemes``; the module has ``PARTS`` and
``SCHEMES``, tuples of parts and schemes, like the modules here. One that cannot be used is left out as
a whole, and a line on standard error says why.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from warpfile.schemes.part import Part
from warpfile.schemes.row import Row

#: Modules of this package with rows of the table, in the order in which they are listed.
OWN = (
    *("baseline", "two_level", "bow", "malekeh", "rfc", "pilot", "regmutex", "ltrf", "corf", "modern", "larf", "shrf"),
    *("owf", "scalar", "sticky"),
)
#: Modules whose rows are known by their names, but not listed: what belongs to a scheme beside its models, figures and
#: pages, is not there yet.
COMING: tuple[str, ...] = ()
GROUP = "warpfile.schemes"
_HERE = "warpfile"

Known = TypeVar("Known")


@dataclass
class Found:
    """All rows by name, and by kind and name who has them."""

    parts: dict[str, Part] = field(default_factory=dict)
    schemes: dict[str, Row] = field(default_factory=dict)
    owners: dict[tuple[str, str], str] = field(default_factory=dict)
    coming: set[str] = field(default_factory=set)

    @property
    def variants(self) -> list[str]:
        """What is another scheme in other settings, in the order of the table."""
        return [name for name, one in self.schemes.items() if one.variant_of and name not in self.coming]

    def add(self, module: str, package: str) -> None:
        """Take the rows of a module, all or none. Raises whatever is wrong with it."""
        rows = importlib.import_module(module)
        parts, schemes = tuple(rows.PARTS), tuple(rows.SCHEMES)
        keys = []
        for what, kind, some in (("part", Part, parts), ("scheme", Row, schemes)):
            for row in some:
                if not isinstance(row, kind):
                    raise TypeError(f"{what.upper()}S must hold {what}s, not {row!r}")
                key = (what, row.name)
                if key in self.owners or key in keys:
                    raise ValueError(f"{what} {row.name} is that of {self.owners.get(key, package)} already")
                keys.append(key)
        self.parts |= {part.name: part for part in parts}
        self.schemes |= {scheme.name: scheme for scheme in schemes}
        self.owners |= dict.fromkeys(keys, package)


@cache
def everything() -> Found:
    """What this package and others have, found once."""
    found = Found()
    for name in OWN:
        found.add(f"warpfile.schemes.{name}", _HERE)
    listed = {*found.parts, *found.schemes}
    for name in COMING:
        found.add(f"warpfile.schemes.{name}", _HERE)
    found.coming = {*found.parts, *found.schemes} - listed
    for entry in sorted(set(entry_points(group=GROUP)), key=lambda one: (_package(one), one.name)):
        try:
            found.add(entry.module, _package(entry))
        except Exception as error:  # whatever a foreign module does, the other schemes go on working
            problem = " ".join(f"{type(error).__name__}: {error}".split())
            print(f"warpfile: plug-in {entry.name} of {_package(entry)} is left out: {problem}", file=sys.stderr)
    return found


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "an unknown package"


class Table(MutableMapping[str, Known], Generic[Known]):
    """Rows by name. Other packages are asked when the table is first read, so that they can import this one.

    It neither lists nor counts what is :data:`COMING`, and variants, which ``warpfile.schemes.variants`` has.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def _rows(self) -> dict[str, Known]:
        rows: dict[str, Known] = getattr(everything(), self._kind)
        return rows

    def __getitem__(self, name: str) -> Known:
        return self._rows()[name]

    def __setitem__(self, name: str, row: Known) -> None:
        self._rows()[name] = row

    def __delitem__(self, name: str) -> None:
        del self._rows()[name]

    def __iter__(self) -> Iterator[str]:
        found = everything()
        unlisted = {*found.coming, *found.variants}
        return (name for name in self._rows() if name not in unlisted)

    def __len__(self) -> int:
        return sum(1 for _ in self)


PARTS: Table[Part] = Table("parts")

"""From a search file to what is searched (docs/search.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from warpfile.results.designs import chosen_schemes
from warpfile.results.points import Run
from warpfile.results.searches.space import PUBLISHED, RESIZED, Candidate, Sizes, candidates
from warpfile.results.studies.plan import SEEDS, TEXTS, Kernel, kernels
from warpfile.results.studies.tasks import LOCKSTEP, Library, Task
from warpfile.schemes import PARTS, Part
from warpfile.spec.presets import PRESETS
from warpfile.synth.rules import TABLE, TEXT, Rule, check
from warpfile.synth.timing import timer

_SHARE: Rule = ("a number from 0 to 1", lambda value: type(value) in (int, float) and 0 <= value <= 1)
_OF_SIZES: Rule = (
    "a table of lists",
    lambda value: isinstance(value, dict) and all(isinstance(one, list) and one for one in value.values()),
)
_NEEDED = {"preset": TEXT, "kernels": TEXTS, "schemes": TEXTS}
_OPTIONAL = {
    **{"name": TEXT, "settings": TEXTS, "seeds": SEEDS, "parts": TEXTS, "set": TABLE, "sizes": TABLE},
    **{"lockstep": TABLE, "most_error": _SHARE, "delays": TEXT},
}


@dataclass(frozen=True)
class Search:
    """What is searched. All candidates run at the first seed, those at the front and those of :meth:`judged` at all.

    ``watched`` are the kernels of the lockstep. ``most_error``: more may the median error of the area model not be.
    ``delays``: the library that times critical paths, if the search has one and OpenSTA is there.
    """

    name: str
    preset: str
    common: Mapping[str, object]
    kernels: tuple[Kernel, ...]
    seeds: tuple[int, ...]
    candidates: tuple[Candidate, ...]
    sizes: Sizes
    watched: tuple[str, ...]
    most_error: float
    delays: Library | None = None

    @property
    def baseline(self) -> Candidate:
        """What all others are compared with."""
        return self.candidates[0]

    def judged(self, one: Candidate) -> bool:
        """Whether it is in the verdict although not at the front: a published scheme, the baseline in another size."""
        return one.kind == PUBLISHED or (one.kind == RESIZED and one.parts[1:] == self.baseline.parts[1:])

    def tasks(self, one: Candidate, kind: str, seed: int) -> list[Task]:
        """Of a candidate: all kernels, or those of the lockstep."""
        wanted = [kernel for kernel in self.kernels if kind != LOCKSTEP or kernel.name in self.watched]
        return [
            Task(kind, Run(replace(one.machine.point, setting=kernel.setting), kernel.place, seed, kernel.contents))
            for kernel in wanted
        ]


def search_plan(table: Mapping[str, Any], base: Path, at: str) -> Search:
    """The search of a table; paths of kernels are seen from ``base``, ``at`` says where the table stands.

    Raises ``ValueError`` with one line that names the valid values.
    """
    check(table, _NEEDED, at, _OPTIONAL)
    try:
        run = tuple(kernels(table, base))
        schemes = chosen_schemes(table["schemes"])
        parts = _parts(table.get("parts", []), [part for scheme in schemes for part in scheme.chosen])
        sizes = _sizes(table.get("sizes", {}), parts)
        delays = Library.at(base / table["delays"]) if "delays" in table and timer() else None
        if table["preset"] not in PRESETS:
            raise ValueError(f"preset must be one of {', '.join(PRESETS)}, not {table['preset']!r}")
        found = candidates(schemes, parts, table["preset"], table.get("set", {}), sizes)
    except (ValueError, click.UsageError) as error:
        raise ValueError(f"{at}: {error}") from None
    watched = table.get("lockstep", {}).get("kernels", [])
    if unknown := [name for name in watched if name not in {kernel.name for kernel in run}]:
        raise ValueError(f"{at}: lockstep: kernels must be of those of the search, not {unknown[0]!r}")
    return Search(
        name=table.get("name", "search"),
        preset=table["preset"],
        common=table.get("set", {}),
        kernels=run,
        seeds=tuple(table.get("seeds", [0])),
        candidates=tuple(found),
        sizes=sizes,
        watched=tuple(watched),
        most_error=table.get("most_error", 1.0),
        delays=delays,
    )


def _parts(names: Sequence[str], own: Sequence[Part]) -> list[Part]:
    """Those of the schemes and of the baseline's schedulers, and further ones by name."""
    if unknown := [name for name in names if name not in PARTS]:
        raise ValueError(f"parts must be of {', '.join(PARTS)}, not {unknown[0]!r}")
    plain = [part for part in PARTS.values() if part.slot == "scheduler"]
    return list({part.name: part for part in (*own, *plain, *(PARTS[name] for name in names))}.values())


def _sizes(table: Mapping[str, Any], parts: Sequence[Part]) -> Sizes:
    """Values of fields by part."""
    known = {part.name for part in parts}
    check(table, {}, "sizes", dict.fromkeys(known, _OF_SIZES))
    return table

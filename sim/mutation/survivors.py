"""Why some mutants survive although they are not proven equivalent: read from the data file of their scheme."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files

from warpfile.schemes import Scheme
from warpfile.sim.mutation.mutants import Mutant


@dataclass(frozen=True)
class Survivor:
    """One mutant of a scheme's list at a preset, and the reason why no trace shows it."""

    preset: str
    module: str
    place: str
    reason: str


def survivors(scheme: Scheme) -> tuple[Survivor, ...]:
    """All survivors with a verdict. The row names the file as ``package:path``; without one there are none."""
    if not scheme.survivors:
        return ()
    package, _, path = scheme.survivors.partition(":")
    document = tomllib.loads((files(package) / path).read_text(encoding="utf-8"))
    return tuple(Survivor(**row) for row in document.get("survivors", ()))


def reason(scheme: Scheme, preset: str, mutant: Mutant) -> str:
    """Why a mutant survives; empty as long as it has no verdict."""
    key = (preset, mutant.module, mutant.place)
    known = (one for one in survivors(scheme) if (one.preset, one.module, one.place) == key)
    return next((one.reason for one in known), "")

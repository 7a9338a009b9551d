"""Rows of the table of schemes, and what they have in addition to parts: claims of papers, setups of regressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: What a claim compares with the bits of the register file's banks.
MEASURES = ("storage over the baseline", "area over the baseline", "bits", "area")


@dataclass(frozen=True)
class Row:
    """What the registry knows of a scheme: its name, and that of the scheme of which it is a variant, if it is one."""

    name: str
    variant_of: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class Claim:
    """A published share of the register file.

    ``measure`` gives the quantity (``MEASURES``); ``of`` names the structures whose bits, or the modules whose area is
    measured. ``source`` is the place in the paper, ``why`` the reason of a difference.
    """

    what: str
    published: float
    source: str
    measure: str
    of: tuple[str, ...] = ()
    why: str = ""

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            raise ValueError(f"measure must be one of {', '.join(MEASURES)}, not {self.measure!r}")
        if bool(self.of) != (self.measure in ("bits", "area")):
            raise ValueError(
                f"of must name structures or modules for bits and area only, not {self.of} for {self.what}"
            )


@dataclass(frozen=True)
class Setup:
    """One configuration of a scheme's regression. ``settings`` are the launches of every kernel that it runs.

    ``machine``: the scheme with other parts, by name; its own if there is none.
    """

    preset: str
    changes: Mapping[str, object] = field(default_factory=dict)
    settings: tuple[str, ...] = ("launch",)
    machine: str = ""

    @property
    def name(self) -> str:
        """Preset and what is changed, for the table and the command line."""
        machine = (self.machine,) if self.machine else ()
        return " ".join((*machine, self.preset, *(f"{name}={value}" for name, value in self.changes.items())))

"""Tables of ``warpfile energy --switching``: toggles of the logic of machines, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from warpfile.output.display import say, show_table
from warpfile.results.designs import Design

if TYPE_CHECKING:
    from warpfile.results.logic import LogicEnergy

_KINDS = ("clock", "registers", "gates")
_MOST = 12  #: modules that are listed


class Bill(Protocol):
    """A scheme whose logic may have been looked at, and the baseline's."""

    @property
    def design(self) -> Design:
        """The scheme."""

    @property
    def logic(self) -> LogicEnergy | None:
        """Its logic."""

    @property
    def baseline_logic(self) -> LogicEnergy | None:
        """The baseline's in the same configuration."""


def show_logic(bills: Sequence[Bill]) -> None:
    """A row per scheme and cycle of the window, then the modules of each, and what that is worth."""
    rows = list(_rows(bills))
    columns = ("logic of", "window", "toggles", "baseline", *(f"pJ {kind}" for kind in _KINDS), "pJ", "pJ baseline")
    show_table((*columns, "over the baseline", "without clock"), rows)
    for one in bills:
        if one.logic:
            _show_modules(one.design.scheme.name, one.logic)
    found = next(one.logic for one in bills if one.logic)
    if found.picojoules is None:
        say(f"{found.library} has no power: toggles per cycle only.")
    else:
        say(f"Per cycle of the window, at {found.volts:g} V of {found.library}: not to be added to the memories.")
        say("No wires, no gated clock, no glitches.")


def _rows(bills: Iterable[Bill]) -> Iterator[tuple[object, ...]]:
    for one in bills:
        ours, base = one.logic, one.baseline_logic
        if ours and base:
            parts = ["-" if ours.part(kind) is None else ours.part(kind) for kind in _KINDS]
            totals = ["-" if it.picojoules is None else it.picojoules for it in (ours, base)]
            window = f"{ours.first}:{ours.last}"
            growth = (_growth(ours, base, _KINDS), _growth(ours, base, _KINDS[1:]))
            yield (one.design.scheme.name, window, ours.toggles, base.toggles, *parts, *totals, *growth)


def _growth(ours: LogicEnergy, base: LogicEnergy, kinds: Iterable[str]) -> str:
    """Growth over the baseline in what these kinds cost."""
    first, second = (sum(it.part(kind) or 0.0 for kind in kinds) for it in (ours, base))
    return f"{first / second - 1:+.1%}" if second else "-"


def _show_modules(name: str, found: LogicEnergy) -> None:
    """The modules that cost most, or toggle most where nothing is known of costs."""
    modules = sorted(found.modules, key=lambda one: (one.picojoules or 0.0, one.toggles), reverse=True)
    columns = (f"modules of {name}", "each", "cells", "flip-flops", "toggles", *(f"pJ {kind}" for kind in _KINDS))
    rows = []
    for one in modules[:_MOST]:
        costs = [getattr(one, kind) for kind in _KINDS]
        per_cycle = ["-" if cost is None else cost / found.cycles for cost in costs]
        rows.append((one.name, one.instances, one.cells, one.flip_flops, one.toggles / found.cycles, *per_cycle))
    show_table(columns, rows)

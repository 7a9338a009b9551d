"""Tables of the generated pages, and how their figures are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from warpfile.results.spread import Spread

_NUMBER = re.compile(r"-|(noise: )?[+-]?[\d,]*\.?\d+%?( ± [\d.]+)?")


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; all columns but the first are aligned to the right where they hold numbers or shares."""
    found = [[str(value) for value in row] for row in rows]
    numeric = [all(_NUMBER.fullmatch(row[index]) for row in found) for index in range(len(columns))]
    rule = ["---:" if aligned and index else "---" for index, aligned in enumerate(numeric)]
    lines = [columns, rule, *found]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def percent(share: float | Spread) -> str:
    """A share of one; of several seeds the mean, and half of its interval in percent."""
    return f"{share.mean:.1%}{_half(share)}" if isinstance(share, Spread) else f"{share:.1%}"


def signed(growth: float | Spread) -> str:
    """A growth, with its sign; noise is called so."""
    return f"{_noise(growth)}{growth.mean:+.1%}{_half(growth)}" if isinstance(growth, Spread) else f"{growth:+.1%}"


def points(difference: Spread) -> str:
    """The difference of two shares or growths, in points; noise is called so."""
    return f"{_noise(difference)}{100 * difference.mean:+.1f}{_half(difference)} points"


def _half(spread: Spread) -> str:
    return f" ± {100 * spread.half:.1f}"


def _noise(spread: Spread) -> str:
    return "noise: " if spread.noise else ""

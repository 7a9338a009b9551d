"""Tables of the generated pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; all columns but the first are aligned to the right where they hold numbers or shares."""
    found = [[str(value) for value in row] for row in rows]
    numeric = [all(_is_number(row[index]) for row in found) for index in range(len(columns))]
    rule = ["---:" if aligned and index else "---" for index, aligned in enumerate(numeric)]
    lines = [columns, rule, *found]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _is_number(text: str) -> bool:
    return text == "-" or text.strip("+-%").replace(",", "").replace(".", "", 1).isdigit()


def percent(share: float) -> str:
    """A share of one."""
    return f"{share:.1%}"


def signed(growth: float) -> str:
    """A growth, with its sign."""
    return f"{growth:+.1%}"

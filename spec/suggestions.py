"""The nearest known name to a wrong one, for messages."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def suggestion(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'saxpy'?`` for ``saxpyy``; nothing if no known name is near."""
    near = get_close_matches(name, list(known), 1)
    return f"; did you mean {near[0]!r}?" if near else ""

"""Tables of TOML files whose fields must be as rules say."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from warpfile.spec.suggestions import suggestion

#: What a field must be, in words, and whether a value is that.
Rule = tuple[str, Callable[[Any], bool]]
TEXT: Rule = ("text", lambda value: isinstance(value, str) and bool(value.strip()))
NUMBER: Rule = ("a number above 0", lambda value: type(value) in (int, float) and 0 < value < math.inf)
WHOLE: Rule = ("a whole number above 0", lambda value: type(value) is int and value > 0)
TABLE: Rule = ("a table with entries", lambda value: isinstance(value, dict) and bool(value))
LIST: Rule = ("a list with entries", lambda value: isinstance(value, list) and bool(value))


def check(table: Any, rules: Mapping[str, Rule], at: str, optional: Mapping[str, Rule] | None = None) -> None:
    """A table with these fields, each as its rule says, and no others."""
    if not isinstance(table, dict):
        raise ValueError(f"{at}: must be a table, not {table!r}")
    known = {**rules, **(optional or {})}
    for name in table:
        if name not in known:
            raise ValueError(f"{at}: fields must be {', '.join(known)}, not {name}{suggestion(name, known)}")
    for name, (rule, holds) in known.items():
        if (name in table or name in rules) and not holds(table.get(name)):
            raise ValueError(f"{at}: {name} must be {rule}, not {table.get(name)!r}")

"""Boolean functions as Liberty files write them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product

_TOKEN = re.compile(r"[()!'*&+|^]|\w+")


class _Reader:
    """Recursive descent over ``|`` or ``+``, ``^``, ``&`` or ``*`` or nothing between, ``!`` before, ``'`` behind."""

    def __init__(self, text: str, values: Mapping[str, bool]) -> None:
        self._tokens = _TOKEN.findall(text)
        self._values = values

    def value(self) -> bool:
        result = self._sum()
        if self._tokens:
            raise ValueError(f"{self._tokens[0]!r} is unexpected")
        return result

    def _peek(self) -> str:
        return self._tokens[0] if self._tokens else ""

    def _sum(self) -> bool:
        result = self._difference()
        while self._peek() in ("+", "|"):
            self._tokens.pop(0)
            result = self._difference() or result
        return result

    def _difference(self) -> bool:
        result = self._product()
        while self._peek() == "^":
            self._tokens.pop(0)
            result = self._product() != result
        return result

    def _product(self) -> bool:
        result = self._factor()
        while self._peek() not in ("", ")", "+", "|", "^"):
            if self._peek() in ("*", "&"):
                self._tokens.pop(0)
            result = self._factor() and result
        return result

    def _factor(self) -> bool:
        if not self._tokens:
            raise ValueError("an operand is missing")
        token = self._tokens.pop(0)
        if token == "!":
            return not self._factor()
        if token == "(":
            result = self._sum()
            if self._peek() != ")":
                raise ValueError("a parenthesis is not closed")
            self._tokens.pop(0)
        else:
            result = self._values[token] if token in self._values else bool(int(token))
        while self._peek() == "'":
            self._tokens.pop(0)
            result = not result
        return result


def truth_table(function: str, inputs: Sequence[str]) -> tuple[bool, ...]:
    """Values of ``function`` for all assignments of ``inputs``, the last input changing fastest.

    Raises ``ValueError`` where it is no function of these inputs.
    """
    assignments = product((False, True), repeat=len(inputs))
    return tuple(_Reader(function, dict(zip(inputs, values, strict=True))).value() for values in assignments)

"""Transitions of single bits in a waveform, counted by scope and name."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from vcd.reader import TokenKind, tokenize

_VALUES = ("0", "1")


def count_toggles(waveform: Path, within: str, names: re.Pattern[str]) -> Counter[tuple[str, str]]:
    """How often each bit with such a name went from 0 to 1 or back, below the scope ``within`` of a VCD.

    Keys are the scope behind ``within``, its names with dots between, and the bit's name. Values that are neither 0 nor
    1 are skipped: what comes back as it was has not changed. All changes of one time count as one.
    """
    bits: dict[str, list[tuple[str, str]]] = {}
    scopes: list[str] = []
    last: dict[str, str] = {}
    found: Counter[str] = Counter()
    with waveform.open("rb") as stream:
        for token in tokenize(stream):
            if token.kind is TokenKind.CHANGE_SCALAR:
                change = token.scalar_change
                if change.id_code in bits and change.value in _VALUES:
                    found[change.id_code] += last.get(change.id_code, change.value) != change.value
                    last[change.id_code] = change.value
            elif token.kind is TokenKind.SCOPE:
                scopes.append(token.scope.ident)
            elif token.kind is TokenKind.UPSCOPE:
                scopes.pop()
            elif token.kind is TokenKind.VAR and token.var.size == 1 and names.fullmatch(token.var.reference):
                scope = ".".join(scopes)
                if scope == within or scope.startswith(f"{within}."):
                    bits.setdefault(token.var.id_code, []).append((scope[len(within) + 1 :], token.var.reference))
    return Counter({bit: found[code] for code, named in bits.items() for bit in named})

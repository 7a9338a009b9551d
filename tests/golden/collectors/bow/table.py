"""The table of step 1 in docs/schemes/bow.md, row by row, as a list of patterns."""

from __future__ import annotations

#: Result, classes, entry, late, room; what happens to the window; whether a bank writes it. A dot matches anything.
#: "merge+" and "store+" mean that a window which writes through has it written as well.
_ROWS = """
partial .     inside . .  merge+ no
partial .     leaving . . merge  no
partial 10,00 none yes .  nothing no
partial .     none . .    nothing yes
full    01    . . .       free   yes
full    00    . . .       free   no
full    10,11 . no yes    store+ no
full    10,11 . no no     nothing yes
full    11    . yes .     free   yes
full    10    . yes .     free   no
"""
_PLACES = {"clean": "inside", "dirty": "inside", "owed": "inside", "evicting": "leaving", "none": "none"}


def fate(writes: str, full: bool, write_class: int, late: bool, state: str, room: bool) -> tuple[str, bool]:
    """What the first row that fits says of a result: the effect on the window, and whether a bank writes it.

    ``state`` is that of its entry, ``room``: an entry can be had.
    """
    has_room = room or state != "none"
    facts = ("full" if full else "partial", f"{write_class:02b}", _PLACES[state], _said(late), _said(has_room))
    for row in _ROWS.strip().splitlines():
        *patterns, effect, bank = row.split()
        if all(pattern == "." or fact in pattern.split(",") for pattern, fact in zip(patterns, facts, strict=True)):
            through = effect.endswith("+") and writes == "through"
            return effect.rstrip("+"), bank == "yes" or through
    raise AssertionError("the table has a row for every result")


def _said(holds: bool) -> str:
    return "yes" if holds else "no"

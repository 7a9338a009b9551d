"""Tables of text that fit a width: what does not fit side by side is laid out in blocks below each other."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.cells import cell_len

_GAP = 2
_PROSE = 24  #: columns within which a text of several words is still read with ease
_PARTS = re.compile(r" ?(?:[^ _]*_+|[^ _]+)")  #: of a heading: it is broken between words, and behind an underscore


@dataclass(frozen=True)
class Column:
    """A heading and its cells. ``least`` is the width below which a word would be broken, or prose gets too narrow."""

    heading: str
    cells: tuple[str, ...]
    right: bool

    @property
    def least(self) -> int:
        """Words of headings and cells stay whole; a number or a name is one word."""
        parts = [part.strip() for part in _PARTS.findall(self.heading)]
        words = (word for cell in self.cells for word in cell.split())
        prose = min(max(map(cell_len, self.cells), default=0), _PROSE)
        return max(prose, *map(cell_len, parts), *map(cell_len, words), 0)

    @property
    def most(self) -> int:
        """The width in which nothing is wrapped."""
        return max(map(cell_len, (self.heading, *self.cells)))


def lines(columns: Sequence[Column], width: int) -> Iterator[str]:
    """The lines of a table: one block, or several that begin with the columns by which rows are distinguished.

    A line is longer than ``width`` only where a single word is.
    """
    key = _key(columns)
    for number, block in enumerate(_blocks(columns, key, width)):
        if number:
            yield ""
        yield from _block(block, _widths(block, width))


def _key(columns: Sequence[Column]) -> int:
    """How many columns from the first on name a row."""
    for count in range(1, len(columns)):
        rows = list(zip(*(column.cells for column in columns[:count]), strict=True))
        if len(set(rows)) == len(rows):
            return count
    return 1


def _blocks(columns: Sequence[Column], key: int, width: int) -> Iterator[Sequence[Column]]:
    """As many columns as fit go into each block."""
    head, rest = list(columns[:key]), list(columns[key:])
    block = list(head)
    for column in rest:
        if len(block) > key and _total([one.least for one in (*block, column)]) > width:
            yield block
            block = list(head)
        block.append(column)
    yield block


def _total(widths: Sequence[int]) -> int:
    return 1 + sum(widths) + _GAP * (len(widths) - 1)


def _widths(block: Sequence[Column], width: int) -> list[int]:
    """What is left of the width goes to columns that need no second line with it, and to prose, from the first on."""
    found = [column.least for column in block]
    left = width - _total(found)
    for index, column in enumerate(block):
        more = column.most - found[index]
        if more > left:
            more = left if any(" " in cell for cell in column.cells) else 0
        found[index] += max(more, 0)
        left -= max(more, 0)
    return found


def _block(block: Sequence[Column], widths: Sequence[int]) -> Iterator[str]:
    yield from _row([_heading(*one) for one in zip(block, widths, strict=True)], block, widths, bottom=True)
    yield " " + "─" * (_total(widths) - 1)
    for row in zip(*(column.cells for column in block), strict=True):
        yield from _row([_wrapped(*one) for one in zip(row, widths, strict=True)], block, widths)


def _row(
    cells: Sequence[list[str]], block: Sequence[Column], widths: Sequence[int], bottom: bool = False
) -> Iterator[str]:
    """The lines of one row, whose cells may have several; headings stand on their rule."""
    height = max(map(len, cells))
    if bottom:
        cells = [[""] * (height - len(cell)) + cell for cell in cells]
    for line in zip_longest(*cells, fillvalue=""):
        padded = (_padded(*one) for one in zip(line, widths, (column.right for column in block), strict=True))
        yield f" {(' ' * _GAP).join(padded)}".rstrip()


def _heading(column: Column, width: int) -> list[str]:
    """Its lines; parts that fit share one."""
    found = [""]
    for part in _PARTS.findall(column.heading):
        if found[-1] and cell_len(found[-1] + part) > width:
            found.append("")
        found[-1] += part if found[-1] else part.lstrip()
    return found


def _wrapped(cell: str, width: int) -> list[str]:
    if cell_len(cell) <= width:
        return [cell]
    return textwrap.wrap(cell, width, break_long_words=False, break_on_hyphens=False)


def _padded(text: str, width: int, right: bool) -> str:
    space = " " * (width - cell_len(text))
    return space + text if right else text + space

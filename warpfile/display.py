"""What people see: tables, and progress bars on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

_PATIENCE = 2.0  #: seconds of work that need no progress bar
_PLAIN_WIDTH = 160
_MANY = 500  #: rows from which on a table is drawn without folding


class Report(Protocol):
    """Takes how far the work is; ``total`` zero where nobody knows."""

    def __call__(self, stage: str, done: int = 0, total: int = 0) -> None:
        """Show a stage of the work and how much of it is done."""


def console() -> Console:
    """Standard output: colour and terminal width only where it is a terminal."""
    terminal = sys.stdout.isatty()
    return Console(
        file=sys.stdout,
        width=None if terminal else _PLAIN_WIDTH,
        highlight=False,
        soft_wrap=not terminal,
        markup=False,  # names come from inputs
        emoji=False,
    )


def show_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None) -> None:
    """Print a table; columns in which every value is a number are aligned to the right."""
    found = [tuple(row) for row in rows]
    if len(found) > _MANY:
        _show_plainly(columns, found)
        return
    table = Table(title=title and printable(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(columns):
        numeric = all(isinstance(row[index], int | float) for row in found)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in found:
        table.add_row(*map(text_of, row))
    console().print(table)


def _show_plainly(columns: Sequence[str], rows: Sequence[tuple[object, ...]]) -> None:
    """A table of more rows than anybody looks at, in columns of fixed width: a hundred times as fast."""
    texts = [tuple(columns), *(tuple(map(text_of, row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in texts)
    sys.stdout.writelines(f"{line}\n" for line in lines)


def say(line: str) -> None:
    """Print one line."""
    console().print(printable(line))


def printable(text: str) -> str:
    """The text without characters that a terminal would act on: they are shown as Python would write them."""
    return text if text.isprintable() else "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


def text_of(value: object) -> str:
    """A value as people read it: thousands separated, three or four significant digits."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return printable(str(value))


@contextmanager
def progress(title: str) -> Iterator[Report]:
    """A progress bar that appears after two seconds on a terminal and disappears at the end; elsewhere nothing."""
    if not sys.stdout.isatty():
        yield silent
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=console(), transient=True)
    task = bar.add_task(title, total=None)
    start = time.monotonic()

    def report(stage: str, done: int = 0, total: int = 0) -> None:
        if not bar.live.is_started and time.monotonic() - start > _PATIENCE:
            bar.start()
        bar.update(task, description=f"{title}: {stage}", completed=done, total=total or None)

    try:
        yield report
    finally:
        bar.stop()


def silent(stage: str, done: int = 0, total: int = 0) -> None:
    """The report of work that nobody watches."""

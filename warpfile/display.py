"""What people see: tables, and progress bars on a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

_PATIENCE = 2.0  #: seconds of work that need no progress bar
_PERIOD = 60.0  #: seconds between two lines where there is no terminal
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


def say_notes(runs: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Print what is to be known of each scheme's trace: a line per note, with the schemes that it concerns."""
    schemes: dict[str, list[str]] = {}
    for scheme, notes in runs:
        for note in notes:
            schemes.setdefault(note, []).append(scheme)
    for note, named in schemes.items():
        say(f"note ({', '.join(dict.fromkeys(named))}): {note}")


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
    """Shows what goes on, by time and not by what is done, so that work without an end shows, too.

    On a terminal a bar appears after two seconds and disappears at the end; elsewhere standard error gets a line a
    minute.
    """
    with _bar(title) if sys.stdout.isatty() else _lines(title) as report:
        yield report


@contextmanager
def _bar(title: str) -> Iterator[Report]:
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=console(), transient=True)
    task = bar.add_task(title, total=None)

    def report(stage: str, done: int = 0, total: int = 0) -> None:
        bar.update(task, description=f"{title}: {stage}", completed=done, total=total or None)

    timer = threading.Timer(_PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield report
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


@contextmanager
def _lines(title: str) -> Iterator[Report]:
    latest, ended, start = ["start"], threading.Event(), time.monotonic()

    def report(stage: str, done: int = 0, total: int = 0) -> None:
        latest[0] = f"{stage} {done:,} of {total:,}" if total else stage

    def tell() -> None:
        while not ended.wait(_PERIOD):
            seconds = time.monotonic() - start
            sys.stderr.write(f"warpfile: {title} goes on: {printable(latest[0])}, {seconds:.0f} s\n")
            sys.stderr.flush()

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield report
    finally:
        ended.set()
        thread.join()


def silent(stage: str, done: int = 0, total: int = 0) -> None:
    """The report of work that nobody watches."""


def left(seconds: float) -> str:
    """How long work goes on, as people say it."""
    return f"about {seconds / 60:.0f} min left" if seconds >= 90 else f"about {seconds:.0f} s left"

"""What people see: tables, and progress bars on a terminal."""

from __future__ import annotations

import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from warpfile.output import tables

Subject = TypeVar("Subject")
_PATIENCE = 2.0  #: seconds of work that need no progress bar
_FIRST = 10.0  #: seconds until the first line where there is no terminal
_PERIOD = 60.0  #: seconds between two lines there


class Report(Protocol):
    """Takes how far the work is; ``total`` zero if unknown."""

    def __call__(self, stage: str, done: int = 0, total: int = 0) -> None:
        """Show a stage of the work and how much of it is done."""


def console() -> Console:
    """Standard output, if it is a terminal."""
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)  # names come from inputs


def show_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table that fits the terminal, or 80 columns, in blocks below each other if it must be.

    Columns in which every value is a number, or there is none, are aligned to the right.
    """
    found = [tuple(row) for row in rows]
    made = [_column(name, [row[index] for row in found]) for index, name in enumerate(columns)]
    write(*tables.lines(made, width()), "")


def _column(name: str, values: Sequence[object]) -> tables.Column:
    numbers = all(isinstance(value, int | float | None) and not isinstance(value, bool) for value in values)
    return tables.Column(name, tuple(map(text_of, values)), right=numbers)


def width() -> int:
    """Columns of the terminal, or of the environment's COLUMNS; 80 where there is neither."""
    return shutil.get_terminal_size().columns


def say(line: str) -> None:
    """Print one line, which a terminal gets wrapped between words."""
    if sys.stdout.isatty():
        console().print(printable(line))
    else:
        write(printable(line))


def write(*lines: str) -> None:
    """Print lines as they are, at once: a reader that has gone away is seen here, not when Python ends."""
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


def say_notes(runs: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Print what is to be known of each scheme's trace: a line per note, with the schemes that it concerns."""
    schemes: dict[str, list[str]] = {}
    for scheme, notes in runs:
        for note in notes:
            schemes.setdefault(note, []).append(scheme)
    for note, named in schemes.items():
        say(f"note ({', '.join(dict.fromkeys(named))}): {note}")


#: What stands above the fields in which machines differ from their baselines, with matched baselines and without.
MATCHED = "Matched: over a baseline with these values, except for those of the scheme:"
BESIDE = "Beside their schemes, machines differ from their baselines in these fields:"


def say_differences(machines: Iterable[tuple[str, str]], head: str = MATCHED) -> None:
    """Print in which fields machines differ from their baselines, if any do: a line per text, with their names."""
    found: dict[str, list[str]] = {}
    for name, differs in machines:
        if differs:
            found.setdefault(differs, []).append(name)
    if found:
        say(head)
    for differs, names in found.items():
        say_wrapped(f"{', '.join(names)}: {differs}")


def say_wrapped(line: str) -> None:
    """Print a line of any length, wrapped between words everywhere."""
    write(*textwrap.wrap(printable(line), width(), subsequent_indent="  ", break_long_words=False))


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

    On a terminal a bar appears after two seconds and disappears at the end; elsewhere standard error gets a line after
    ten seconds, and then one a minute. A terminal has room for one bar at a time: work inside takes the report.
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
        pause = _FIRST
        while not ended.wait(pause):
            pause = _PERIOD
            seconds = time.monotonic() - start
            sys.stderr.write(f"warpfile: {title} still running: {printable(latest[0])}, {seconds:.0f} s\n")
            sys.stderr.flush()

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield report
    finally:
        ended.set()
        thread.join()


def followed(title: str, some: Collection[Subject], name: Callable[[Subject], str] = str) -> Iterator[Subject]:
    """One after the other, with progress over all of them; ``name`` gives the name of each."""
    with progress(title) as report:
        for number, one in enumerate(some):
            report(name(one), number, len(some))
            yield one


def silent(stage: str, done: int = 0, total: int = 0) -> None:
    """The report of work without an observer."""


def left(seconds: float) -> str:
    """How long work goes on, as people say it."""
    return f"about {seconds / 60:.0f} min left" if seconds >= 90 else f"about {seconds:.0f} s left"

"""The command group: one line per error, exit status as promised, never a traceback for a wrong input."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from warpfile.output.difference import Difference
from warpfile.output.display import printable

DIFFERENCE = 1  #: exit status: the work was done and found a difference or a failed expectation
WRONG_INPUT = 2  #: exit status: the request or an input is wrong
_INTERRUPTED = 130
_LONGEST_LINE = 900
_CACHE = Path("build") / "cache"


class Application(click.Group):
    """A group that ends the process itself, with the exit status of the outcome."""

    def main(  # type: ignore[override]  # the overloads differ in what they return, this one never does
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run a command line and exit."""
        extra["standalone_mode"] = False
        give_cache()
        try:
            status = super().main(args, prog_name or "warpfile", **extra)
        except Difference as difference:
            _complain(difference)
            status = DIFFERENCE
        except (click.Abort, KeyboardInterrupt):
            warnings.simplefilter("ignore")  # Amaranth's, of hardware that was given up half made
            _complain("interrupted")
            status = _INTERRUPTED
        except (click.ClickException, ValueError, OSError) as error:
            _complain(describe(error))
            status = WRONG_INPUT
        sys.exit(status if isinstance(status, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command. A closed output pipe is no failure here; click would report one."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # The interpreter must not flush into the closed pipe again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0


def describe(error: Exception) -> str:
    """The error as one line."""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"{error.format_message().rstrip('.')} (see '{error.ctx.command_path} --help')"
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


def _complain(problem: object) -> None:
    click.echo(f"warpfile: {_shortened(printable(' '.join(str(problem).split())))}", err=True)


def _shortened(line: str) -> str:
    """A line that a person reads: what an input put into it is cut in the middle."""
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[: _LONGEST_LINE * 2 // 3]} ... {line[-_LONGEST_LINE // 3 :]}"


def give_cache() -> None:
    """Let the WebAssembly tools keep their compiled code under ``build`` where the user's cache cannot be written."""
    own = Path(os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME") or "/", ".cache"))
    if not _can_write(own):
        os.environ["XDG_CACHE_HOME"] = str(_CACHE.resolve())


def _can_write(folder: Path) -> bool:
    """Whether files can be made in a folder, which is made if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)

"""What all programs of this room have in common: a page is written, checked or printed."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path

from warpfile.output.display import say, write
from warpfile.output.files import write_files

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """Of a program that only prints."""
    return argparse.ArgumentParser(prog=f"python -m warpfile.pages {name}", description=description)


def page_parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """Of a program whose outcome :func:`write_or_check` takes: it has ``--check`` and ``--print``."""
    made = parser(name, description)
    how = made.add_mutually_exclusive_group()
    how.add_argument("--check", action="store_true", help="say which pages differ from what would be written; 1 if any")
    how.add_argument("--print", action="store_true", dest="printed", help="print instead of writing")
    return made


def write_or_check(options: argparse.Namespace, pages: Mapping[Path, str], shown: Iterable[str] | None = None) -> int:
    """Write pages that differ from their text, or print them, or say which differ; returns the exit status.

    ``shown`` is what is printed where a page is more than what was made anew.
    """
    if options.printed:
        write(*(text.rstrip("\n") for text in (pages.values() if shown is None else shown)))
        return 0
    stale = {path: text for path, text in pages.items() if not path.exists() or path.read_text() != text}
    for path in pages:
        differs = "differs from what its command prints" if options.check else "written"
        say(f"{_named(path)}: {differs if path in stale else 'as it was'}")
    if not options.check:
        write_files(stale)
    return int(options.check and bool(stale))


def _named(path: Path) -> Path:
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def with_tables(text: str, tables: Iterable[str]) -> str:
    """A page with Markdown tables instead of those with the same columns, in this order.

    Raises ``ValueError`` where it has no table with those columns behind the last one that was put in.
    """
    done, rest = "", text
    for table in tables:
        head = table[: table.index("\n") + 1]
        before, found, behind = rest.partition(head)
        if not found:
            raise ValueError(f"the page must have a table with the columns {head.strip()}")
        done += before + table.rstrip("\n") + "\n"
        while behind.startswith("|"):
            behind = behind.partition("\n")[2]
        rest = behind
    return done + rest

"""The files of a profile: events while it runs, the rest when it is done; all of them appear whole or not at all."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from warpfile.output.display import Report
from warpfile.output.files import json_text, write_files
from warpfile.results.designs import Design
from warpfile.results.profiles.events import ChromeTrace, KanataLog
from warpfile.results.profiles.in_flight import Listener
from warpfile.results.profiles.page import page
from warpfile.results.profiles.profile import Profile, all_columns
from warpfile.results.profiles.profiling import operand_columns, profiled
from warpfile.spec.trace import Trace
from warpfile.spec.writing import atomic_file


@dataclass(frozen=True)
class Files:
    """Files that are asked for; None: not."""

    csv: Path | None = None
    json: Path | None = None
    html: Path | None = None
    chrome: Path | None = None
    kanata: Path | None = None


def check_column(design: Design, column: str) -> None:
    """Raise ``ValueError`` for a column that the profile of a design does not have."""
    columns = all_columns(operand_columns(design))
    if column not in columns:
        raise ValueError(f"--sort must be one of {', '.join(columns)}, not {column!r}")


def write_profile(design: Design, obtain: Callable[[], Trace], report: Report, files: Files) -> Profile:
    """Profile a design over the trace that ``obtain`` gives, and write the files.

    Raises what :func:`profiled` and ``obtain`` raise, and ``OSError`` for a file that cannot be.
    """
    for path in filter(None, (files.csv, files.json, files.html, files.chrome, files.kanata)):
        if path.is_dir():
            raise IsADirectoryError(f"{path} must be a file, not a directory")
    with _events(design, files) as listeners:
        found = profiled(design, obtain(), report, listeners)
    texts = {files.csv: _csv, files.json: _json, files.html: page}
    write_files({path: text(found) for path, text in texts.items() if path})
    return found


@contextmanager
def _events(design: Design, files: Files) -> Iterator[list[Listener]]:
    """Listeners that write while the run goes on."""
    name = f"{design.scheme.name}, {design.preset}"
    asked = ((files.chrome, ChromeTrace), (files.kanata, KanataLog))
    with ExitStack() as opened:
        listeners: list[Listener] = []
        for path, kind in asked:
            if path is None:
                continue
            partial = opened.enter_context(atomic_file(path))
            listeners.append(kind(opened.enter_context(partial.open("w", encoding="utf-8")), name))
        yield listeners


def _json(found: Profile) -> str:
    return json_text(found.to_json())


def _csv(found: Profile) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(found.rows())
    return stream.getvalue()

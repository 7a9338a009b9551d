"""Imports of Accel-Sim traces: which kernels, under which names, all of them or none."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpfile.output.display import Report, say, show_table
from warpfile.output.files import file_name
from warpfile.spec.writing import atomic_file

if TYPE_CHECKING:
    from warpfile.compiler.accelsim import Imported

_RANGE = re.compile(r"\d{1,9}(-(\d{1,9})?)?")  #: what is no pattern of names
_MOST_NAMES, _LONGEST_NAME = 8, 60


@dataclass(frozen=True)
class Written:
    """One imported kernel: its place in launch order, its file and its trace, and what the import found."""

    number: int
    file: Path
    trace: Path
    facts: dict[str, object]
    rows: list[tuple[str, int, int]]
    remarks: tuple[str, ...]


def import_traces(
    place: Path, chosen: Sequence[str], headers: Sequence[str], output: Path | None, report: Report
) -> list[Written]:
    """Import the kernels of a list, or those that are ``chosen``, and write a trace for each.

    One kernel is written to ``output``; several get their number appended, ``T.npz`` becoming ``T-1.npz``, ``T-2.npz``.
    No trace appears unless all do. Raises ``ValueError`` for whatever is wrong with an input.
    """
    from warpfile.compiler.accelsim import import_kernel

    overrides = _overrides(headers)
    files = _files(place, chosen, overrides)
    written = []
    with ExitStack() as partials:
        for number, file in files:
            start = time.perf_counter()
            found = import_kernel(file, overrides, lambda done, total: report("CTAs", done, total))
            path = _destination(output, found.trace.kernel, number if len(files) > 1 else None)
            found.trace.save(partials.enter_context(atomic_file(path)))
            written.append(_written(number, file, path, found, time.perf_counter() - start))
    return written


def _files(place: Path, chosen: Sequence[str], overrides: Mapping[str, str]) -> list[tuple[int, Path]]:
    """Numbers and files of the kernels to import: those that any of ``chosen`` takes, or all."""
    from warpfile.compiler.accelsim import kernel_files, kernel_name

    files = list(enumerate(kernel_files(place), 1))
    if not chosen:
        return files
    ranges = [_range(text, len(files), place) for text in chosen if _RANGE.fullmatch(text)]
    patterns = [text for text in chosen if not _RANGE.fullmatch(text)]
    names = {number: kernel_name(file, overrides) for number, file in files} if patterns else {}
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names.values()):
            raise click.UsageError(
                f"--kernel must fit one of the kernels of {place}, and {pattern!r} fits none: {_some(names)}"
            )
    return [
        (number, file)
        for number, file in files
        if any(number in numbers for numbers in ranges)
        or any(fnmatchcase(names[number], pattern) for pattern in patterns)
    ]


def _range(text: str, count: int, place: Path) -> range:
    """The numbers that N, N-M or N- stands for."""
    first, dash, last = text.partition("-")
    found = range(int(first), (int(last) if last else count if dash else int(first)) + 1)
    if not found or found[0] < 1 or found[-1] > count:
        raise click.UsageError(f"--kernel must be from 1 to {count}, the kernels of {place}, not {text}")
    return found


def _some(names: Mapping[int, str]) -> str:
    """The different names, the first few."""
    found = list(dict.fromkeys(names.values()))
    more = f" and {len(found) - _MOST_NAMES} more" if len(found) > _MOST_NAMES else ""
    return ", ".join(name[:_LONGEST_NAME] for name in found[:_MOST_NAMES]) + more


def show_imports(written: Sequence[Written]) -> None:
    """Print what was imported and what had to be repaired."""
    for one in written:
        facts = one.facts
        say(f"{facts['kernel']}: {facts['warps']} warps, {facts['instructions']:,} warp instructions from {one.file}")
        if one.rows:
            show_table(("repair", "instructions", "times"), one.rows)
        for remark in one.remarks:
            say(f"note: {remark}")
        say(str(one.trace))


def _written(number: int, file: Path, path: Path, found: Imported, seconds: float) -> Written:
    trace = found.trace
    facts: dict[str, object] = {
        "kernel": trace.kernel,
        "number": number,
        "file": str(file),
        "trace": str(path),
        "warps": trace.warps,
        "instructions": trace.instructions,
        "program": len(trace.program),
        "lines": found.lines,
        "expectations": [],
        "repairs": found.repairs.to_json(),
        "notes": list(trace.notes),
        "seconds": seconds,
    }
    return Written(number, file, path, facts, found.repairs.rows(), tuple(found.repairs.remarks))


def _overrides(headers: Sequence[str]) -> Mapping[str, str]:
    values = {}
    for text in headers:
        key, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"--header must be KEY=VALUE, not {text!r}")
        values[key.strip().removeprefix("-")] = value.strip()
    return values


def _destination(output: Path | None, kernel: str, number: int | None) -> Path:
    path = output or Path(f"{file_name(kernel)}.npz")
    path = path if number is None else path.with_name(f"{path.stem}-{number}{path.suffix}")
    if path.is_dir():
        raise IsADirectoryError(f"{path} must be a file, not a directory")
    return path

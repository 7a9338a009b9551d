"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warpfile.spec.reading import named


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """A file beside ``path`` that takes its place at the end, unless something was raised.

    Its name is of this call alone, so any number of processes and threads, on several machines too, may write the same
    file at once; its reader gets the file of one of them. Errors of the operating system name ``path``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.urandom(8).hex()}.partial")
    try:
        with named(path):
            yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)

"""A file is whole whoever writes it at the same time."""

from __future__ import annotations

import errno
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from warpfile.spec.stress import stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.writing import atomic_file


def test_the_last_of_two_that_write_at_once_stays(tmp_path: Path) -> None:
    """The second begins and ends while the first is at work."""
    path = tmp_path / "folder" / "file"
    with atomic_file(path) as first:
        first.write_text("first")
        with atomic_file(path) as second:
            second.write_text("second")
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert [*path.parent.iterdir()] == [path]


def test_nothing_stays_of_a_file_that_is_not_finished(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    with pytest.raises(OSError, match="No space left on device") as error, atomic_file(path) as partial:
        partial.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert error.value.filename == str(path)
    assert path.read_text() == "before" and [*tmp_path.iterdir()] == [path]


def test_readers_see_whole_files_while_many_write(tmp_path: Path) -> None:
    path, texts = tmp_path / "file", [letter * 100_000 for letter in "abcd"]

    def write(text: str) -> None:
        for _ in range(20):
            with atomic_file(path) as partial:
                partial.write_text(text)

    path.write_text(texts[0])
    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write, text) for text in texts]
        seen = [path.read_text()]
        while not all(writer.done() for writer in writers):
            seen.append(path.read_text())
        assert [writer.result() for writer in writers] == [None] * 4
    assert set(seen) <= set(texts) and [*tmp_path.iterdir()] == [path]


def test_a_trace_that_two_processes_write_at_once_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one writes it while its first bytes are written here."""
    import numpy as np

    path, save = tmp_path / "trace.npz", np.savez_compressed
    mine, other = (stress_trace(seed, warps_per_cta=[1], ctas=1, length=4) for seed in (1, 2))
    found: list[Trace] = []

    def late(stream, **arrays) -> None:
        monkeypatch.setattr(np, "savez_compressed", save)
        stream.write(b"half")
        stream.flush()
        other.save(path)
        found.append(Trace.load(path))
        stream.seek(0)
        save(stream, **arrays)

    monkeypatch.setattr(np, "savez_compressed", late)
    mine.save(path)
    found.append(Trace.load(path))
    assert [trace.program for trace in found] == [other.program, mine.program] and mine.program != other.program

"""Takes inputs until its time is over: mutates, judges, shrinks what breaks the rules, and keeps it.

The rules: an input is taken, or refused with an error that a user is told in one line; within ten seconds; no file is
written outside the folder it may write to. Coverage guides it where atheris (libFuzzer) is installed: an input that
reaches new code is kept and mutated further.
"""

from __future__ import annotations

import contextlib
import hashlib
import random
import re
import signal
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from tests.fuzz.targets import LONGEST, Target
from warpfile.cli.application import describe
from warpfile.output.difference import Difference

PATIENCE = 10.0  #: seconds of one input
_LATE = "too slow"
_SHRINKING = 20.0  #: seconds of shrinking one finding
_TOLD = (click.ClickException, ValueError, OSError, Difference)
_FOREIGN = re.compile(
    r"invalid literal|zip\(\) argument|Exceeds the limit|object is not|NoneType|out of range|not supported between"
    r"|unpack|must be str|codec can|broadcast|is not a valid [A-Z]|too large to convert|empty sequence|arg is an empty"
)
_WRITING = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link", "os.truncate")
_NUMBERS = (b"0", b"-1", b"255", b"256", b"65536", b"9" * 20, b"9" * 5000, b"0x" + b"f" * 20, b"1e999")
_MARKS = (b"\n", b"[", b"]", b"(", b"{", b'"', b"\\", b"\0", b"\xff", b".", b"/", b"../", b" ", b"\x1b[31m")


@dataclass
class Watch:
    """Every file that this process touches for writing, outside of the folder where it may."""

    folder: Path
    outside: list[str] = field(default_factory=list)
    on: bool = False

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Audit hook of the interpreter."""
        if not self.on or event not in _WRITING or not isinstance(arguments[0], str | bytes | Path):
            return
        if event == "open" and not _writes(arguments[1], arguments[2]):
            return
        place = Path(str(arguments[0])).resolve()
        if not place.is_relative_to(self.folder) and not str(place).startswith(("/dev/", "/proc/")):
            self.outside.append(f"{event} {place}")


def _writes(mode: object, flags: object) -> bool:
    """Whether a file is opened for writing, by Python's mode or else by the flags of the system."""
    if isinstance(mode, str):
        return bool(set(mode) & set("wax+"))
    return isinstance(flags, int) and bool(flags & 3)


def watched(folder: Path) -> Watch:
    """A watch over this process, which lasts as long as the process."""
    watch = Watch(folder.resolve())
    sys.addaudithook(watch.hook)
    return watch


class Hangs(Exception):
    """An input is still not done when its time is over."""


def interrupt() -> None:
    """End inputs that take too long from now on; only in a process that libFuzzer does not watch itself."""
    signal.signal(signal.SIGALRM, _late)


def _late(number: int, frame: object) -> None:
    raise Hangs


def _timed(seconds: float) -> None:
    if signal.getsignal(signal.SIGALRM) is _late:
        signal.setitimer(signal.ITIMER_REAL, seconds)


def judged(target: Target, data: bytes, watch: Watch) -> str | None:
    """What is wrong with how an input is treated, in a few words that stay when it is shrunk; None if nothing is."""
    start, found = time.monotonic(), None
    watch.outside.clear()
    watch.on = True
    try:
        _timed(PATIENCE)
        target.run(data, watch.folder)
    except _TOLD as error:
        line = " ".join(describe(error).split())
        found = f"foreign words: {_FOREIGN.search(line)[0]}" if _FOREIGN.search(line) else None  # type: ignore[index]
    except Exception as error:  # the findings
        place = traceback.extract_tb(error.__traceback__)[-1]
        found = f"{type(error).__name__} in {Path(place.filename).name} {place.name}"
    finally:
        _timed(0)
        watch.on = False
    if watch.outside:
        return f"written outside: {watch.outside[0]}"
    return _LATE if time.monotonic() - start > PATIENCE else found


def shrunk(target: Target, data: bytes, problem: str, watch: Watch) -> bytes:
    """A shorter input with the same problem: pieces are left out as long as it stays."""
    end, size = time.monotonic() + _SHRINKING, max(1, len(data) // 2)
    while size and time.monotonic() < end:
        at = 0
        while at < len(data) and time.monotonic() < end:
            shorter = data[:at] + data[at + size :]
            if judged(target, shorter, watch) == problem:
                data = shorter
            else:
                at += size
        size //= 2
    return data


def mutated(data: bytes, rng: random.Random, target: Target, others: list[bytes]) -> bytes:
    """A few changes: bytes, numbers, words of the class, lines, and pieces of other inputs."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        at, end = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        end = min(end, at + rng.choice((1, 4, 40, 400)))
        other = rng.choice(others)
        from_other = rng.randrange(len(other) + 1)
        insert = rng.choice(
            (
                bytes([rng.randrange(256)]),
                rng.choice(target.words or ("0",)).encode(),
                rng.choice(_NUMBERS),
                rng.choice(_MARKS),
                other[from_other : from_other + rng.choice((2, 10, 60))],
                data[at:end] * rng.choice((2, 2, 100)),
                b"",
            )
        )
        data = data[:at] + insert + data[rng.choice((at, end)) :]
    return data[:LONGEST]


@dataclass
class Findings:
    """Figures of one class, and what was found: the problem and the smallest input of each."""

    name: str
    target: Target
    watch: Watch
    keep: Path | None = None
    inputs: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    problems: dict[str, bytes] = field(default_factory=dict)

    def take(self, data: bytes) -> None:
        """Judge one input."""
        start = time.monotonic()
        problem = judged(self.target, data, self.watch)
        used = time.monotonic() - start
        if problem == _LATE:  # a busy machine may halt any process for a while, but hardly twice at the same input
            problem = judged(self.target, data, self.watch)
        self.inputs, self.seconds, self.slowest = self.inputs + 1, self.seconds + used, max(self.slowest, used)
        if problem and problem not in self.problems:
            self.problems[problem] = small = shrunk(self.target, data, problem, self.watch)
            if self.keep:
                self.keep.mkdir(parents=True, exist_ok=True)
                stem = f"{self.name}-{hashlib.sha256(problem.encode()).hexdigest()[:8]}"
                (self.keep / stem).write_bytes(small)
                (self.keep / f"{stem}.txt").write_text(f"{problem}\n")


def inputs(target: Target, seed: int, corpus: Iterable[bytes] = ()) -> Iterator[bytes]:
    """Seeds and what a corpus has beside them, then mutations of them without end."""
    rng, seeds = random.Random(seed), [*target.seeds(), *corpus]
    yield from seeds
    while True:
        yield mutated(rng.choice(seeds), rng, target, seeds)


def fuzzed(findings: Findings, seed: int, seconds: float, most: int, corpus: Iterable[bytes] = ()) -> None:
    """Mutate blindly for some time, or so many inputs."""
    end = time.monotonic() + seconds
    with contextlib.closing(inputs(findings.target, seed, corpus)) as stream:
        for data in stream:
            if time.monotonic() > end or findings.inputs >= most:
                return
            findings.take(data)

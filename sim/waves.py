"""What is recorded of a run: a window of cycles, and where to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from warpfile import tools
from warpfile.sim.simulators import SimulatorError

FORMATS = ("fst", "vcd")
#: Cycles before a difference that its waveform shows.
BEFORE = 200
#: Environment variable with more arguments for a simulator.
_SUFFIX = "SIM_CMD_SUFFIX"
_WINDOW = re.compile(r"(\d*):(\d*)")


@dataclass(frozen=True)
class Waves:
    """Cycles ``first`` to ``last``, both included (None: to the end), in ``path``; without one, beside the simulation.

    The suffix of the path says the format. Raises ``ValueError`` for a window without a cycle or another suffix.
    """

    first: int = 0
    last: int | None = None
    path: Path | None = None

    def __post_init__(self) -> None:
        if self.last is not None and self.last < self.first:
            raise ValueError(f"window must end at or after its first cycle {self.first}, not at {self.last}")
        if self.path and self.path.suffix[1:] not in FORMATS:
            raise ValueError(f"waveform must be a file *.fst or *.vcd, not {self.path}")

    @classmethod
    def of(cls, window: str | None, path: Path | None) -> Waves:
        """From ``FIRST:LAST``, of which either may be left out. Raises ``ValueError`` for anything else."""
        found = _WINDOW.fullmatch(window or ":")
        if not found:
            raise ValueError(f"window must be FIRST:LAST, two cycles of which either may be left out, not {window!r}")
        first, last = found.groups()
        return cls(int(first or 0), int(last) if last else None, path)

    @classmethod
    def before(cls, cycle: int, path: Path | None = None) -> Waves:
        """The last cycles before one, and the next."""
        return cls(max(0, cycle - BEFORE), cycle + 1, path)

    def until(self, cycle: int) -> Waves:
        """The window in a run that ends with a difference in ``cycle``: the last before it if this one lies behind."""
        return self if self.first <= cycle else Waves.before(cycle, self.path)

    def format(self, simulator: str) -> str:
        """``fst`` or ``vcd``: as the path says, else FST where it can be written.

        Raises :class:`SimulatorError` for a path that asks for what cannot be.
        """
        if self.path is None:
            return "fst" if simulator != "verilator" or fst_builds() else "vcd"
        if self.path.suffix == ".fst" and simulator == "verilator" and not fst_builds():
            raise SimulatorError(f"{tools.missing('lz4.h')}, or give a file *.vcd")
        return self.path.suffix[1:]


@cache
def fst_builds() -> bool:
    """Whether the headers are there with which Verilator's writer of FST is compiled."""
    return tools.find("lz4.h") is not None


@contextmanager
def dumping(simulator: str, form: str) -> Iterator[None]:
    """Makes cocotb's runner start Icarus with a writer of this format, which it has no argument for."""
    before = os.environ.get(_SUFFIX, "")
    if simulator == "icarus" and form:
        os.environ[_SUFFIX] = f"{before} -{form}"
    try:
        yield
    finally:
        os.environ[_SUFFIX] = before

"""What the bench process must know of a lockstep run, and what it reports back, as JSON files."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from warpfile.schemes import find
from warpfile.spec.config import Config

PLAN_VARIABLE = "WARPFILE_LOCKSTEP_PLAN"
#: Cycles without an event after which a run counts as stuck.
HANG_CYCLES = 100_000


@dataclass(frozen=True)
class Plan:
    """One interactive run. ``stop_cycle`` is its last cycle if given (a waveform needs no more), ``hang_cycles``
    without an event end it too. ``reset_after``: :class:`sim.initial_state.InitialState`.
    """

    scheme: str
    config: Config
    trace: Path
    outcome: Path
    progress: Path
    stop_cycle: int | None = None
    reset_after: int | None = None
    hang_cycles: int = HANG_CYCLES

    def save(self, path: Path) -> None:
        """Write the plan for :meth:`load`."""
        document = asdict(self)
        document["config"] = self.config.to_json()
        path.write_text(json.dumps(document, default=str))

    @classmethod
    def load(cls, path: Path) -> Plan:
        """Read a plan; the configuration is checked again."""
        document = json.loads(path.read_text())
        document["config"] = find(document["scheme"]).parameters(**document["config"])
        for name in ("trace", "outcome", "progress"):
            document[name] = Path(document[name])
        return cls(**document)


@dataclass
class Outcome:
    """What the bench found. ``counters`` are the RTL's, summed from its probes; ``golden_counters`` the model's own.

    ``cycles`` is the counter; ``start_cycles`` came before, and before them ``cycles_before`` of a run that a reset
    ended. They were compared as well, with their operands.
    """

    cycles: int = 0
    instructions: int = 0
    mismatches: int = 0
    operands_checked: int = 0
    lanes_checked: int = 0
    golden_operands_checked: int = 0
    seconds: float = 0.0
    start_cycles: int = 0
    cycles_before: int = 0
    counters: dict[str, int] = field(default_factory=dict)
    golden_counters: dict[str, int] = field(default_factory=dict)
    first_mismatch: dict[str, object] | None = None

    @property
    def compared(self) -> int:
        """Cycles from the first reset on."""
        return self.cycles_before + self.start_cycles + self.cycles

    def save(self, path: Path) -> None:
        """Write the outcome for :meth:`load`."""
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, path: Path) -> Outcome:
        """Read an outcome."""
        return cls(**json.loads(path.read_text()))

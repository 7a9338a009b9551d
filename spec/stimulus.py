"""What drives the machine in one cycle (docs/machine.md, section 2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from warpfile.spec.beat import Beat
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.workload import Kernel


class Origin(IntEnum):
    """Where a result comes from."""

    EXECUTION = 0  #: any unit but memory
    SHARED = 1  #: shared memory or constant bank
    HIT = 2  #: global or local memory, no line waited for; textures
    MISS = 3  #: global or local memory, waited for a line from beyond the cache


class Result:
    """One request of a write-back port. ``row`` names the value in the trace (-1 unknown).

    ``full`` and ``hints`` are those of the beat, as far as results carry them; ``component`` numbers the registers of
    one instruction. ``data`` is the value of the built lanes, lane 0 lowest, for machines that decide by values: only
    lanes in ``mask`` may be looked at. None if the trace does not know it; the pins carry zero then.
    """

    __slots__ = (
        "component",
        "data",
        "full",
        "hints",
        "mask",
        "origin",
        "ready",
        "register",
        "row",
        "tokens",
        "warp",
        "writes",
    )

    # Written out: the constructor of a dataclass is not compiled, and there is a result in every second cycle.
    def __init__(self, ready: int, warp: int, writes: bool, register: int, tokens: int, mask: int, row: int) -> None:
        self.ready, self.warp, self.writes, self.register = ready, warp, writes, register
        self.tokens, self.mask, self.row, self.full = tokens, mask, row, True
        self.component = self.origin = self.hints = 0
        self.data: int | None = None


@dataclass(slots=True, eq=False)
class Missed:
    """The load of these registers of a warp slot is known to miss."""

    warp: int
    dest: int
    dest_count: int


@dataclass(slots=True, eq=False)
class Stimulus:
    """Inputs of one cycle. ``beat`` belongs to warp slot ``beat_warp``; ``ready`` is a mask of execution ports.

    ``kernel`` is offered before the first launch, ``operand`` is that of the pseudo-instruction that issued in the
    cycle before, ``missed`` a notice; all only for machines that take them.
    """

    launch: Launch | None = None
    beat: Beat | None = None
    beat_warp: int = 0
    ready: int = 0
    results: list[Result | None] = field(default_factory=list)
    kernel: Kernel | None = None
    operand: int | None = None
    missed: Missed | None = None

"""The annotated trace: what the warps of one kernel launch executed, in a form that outlives the emulator.

A trace stores the *original* instruction stream. A scheme's annotation pass adds its hints to it, for one
configuration, and may put instructions of its own between the others or give registers other names
(``spec.rewrite``); emulated and imported traces take the same road.
``docs/trace.md`` documents the file for readers without this code.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

import numpy as np

LANES = 32
NO_ROW = -1
NO_CODE = -1

#: Scoreboard tokens: what an instruction needs other than vector registers. P0..P6, then UP0..UP6 as one token, then
#: the uniform registers in eight groups by number modulo eight (a group may block needlessly, never too little).
TOKENS = 16
UNIFORM_PREDICATE_TOKEN = 7
UNIFORM_REGISTER_TOKEN = 8


class Port(IntEnum):
    """Class of the unit that executes an instruction; a configuration says which classes share an execution port.

    ``ALU`` takes integers, logic, moves and comparisons, ``FMA`` sums and products of single and half precision and
    integer multiply-adds. ``NONE``: no vector source and no vector destination and no memory access (branch, barrier,
    NOP, EXIT, uniform datapath, predicate logic); it passes by the operand stage and executes beside it. A branch that
    reads a vector register (BRX, RET) uses ``ALU``.
    """

    ALU = 0
    SFU = 1
    LSU = 2
    NONE = 3
    FMA = 4
    DOUBLE = 5
    TENSOR = 6


class Kind(IntEnum):
    """What the frame must know of an instruction in addition to its operands."""

    NORMAL = 0
    BRANCH = 1  #: the warp's next instruction is fetched only after this one (BRA, CALL, RET, BSYNC, guarded EXIT ...)
    BARRIER = 2  #: waits for all unfinished warps of the CTA (BAR.SYNC)
    EXIT = 3  #: unguarded EXIT; ends the warp where it is the last record of its stream, else acts as BRANCH
    SCHEME = 4  #: pseudo-instruction of a scheme: it has an operand for a part of the machine, and nothing else


class Drain(IntEnum):
    """What a pseudo-instruction waits for before it issues."""

    NONE = 0
    DISPATCHED = 1  #: every older beat of the warp was dispatched
    EMPTY = 2  #: that, and no register and no token of the warp is pending


class Space(IntEnum):
    """Memory an instruction addresses. ``NONE`` for everything that is no memory access."""

    NONE = 0
    GLOBAL = 1
    SHARED = 2
    LOCAL = 3
    CONSTANT = 4
    TEXTURE = 5  #: textures and surfaces; a trace has no addresses of them


class Access(IntEnum):
    """Direction of a memory instruction."""

    NONE = 0
    LOAD = 1
    STORE = 2
    ATOMIC = 3


class TraceError(ValueError):
    """A trace file that cannot be used; the message names the file and the rule it breaks."""


@dataclass(frozen=True)
class StaticInstruction:
    """One instruction of the listing, as the machine sees it.

    ``sources`` are vector registers in operand order, wide operands expanded low register first, RZ dropped,
    repetitions kept. ``dest`` is the lowest destination register and ``dest_count`` (0..4) how many consecutive
    registers are written. Token masks have ``TOKENS`` bits. ``bytes`` is the access size per lane of a memory
    instruction, 0 for textures. ``approximate`` marks results that hardware may give with other last bits (MUFU).

    ``drain`` and ``operand`` belong to pseudo-instructions. An instruction that a pass ``inserted`` counts nowhere as
    an instruction; ``origin`` is the place in the program of the one that this one is with other register names, beats
    or unit. ``control`` are the scheduling hints of the encoding, bits 105 to 125 (``NO_CODE``: not known). ``groups``
    are the distinct sources of each beat, where a pass has cut them in another way than ``spec.beat`` does.
    """

    offset: int
    opcode: str  #: with modifiers, e.g. ``LDG.E.SYS``
    text: str
    port: Port
    kind: Kind
    sources: tuple[int, ...] = ()
    dest: int = 0
    dest_count: int = 0
    token_reads: int = 0
    token_writes: int = 0
    space: Space = Space.NONE
    access: Access = Access.NONE
    bytes: int = 0
    approximate: bool = False
    drain: Drain = Drain.NONE
    operand: int = 0
    inserted: bool = False
    origin: int = -1
    control: int = NO_CODE
    groups: tuple[tuple[int, ...], ...] = ()

    @property
    def dests(self) -> tuple[int, ...]:
        """Destination registers, ascending."""
        return tuple(range(self.dest, self.dest + self.dest_count))


def _no_hints() -> np.ndarray:
    return np.zeros(0, dtype=np.uint64)


def _no_rows() -> np.ndarray:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Trace:
    """One kernel launch. Dynamic arrays have one element per executed warp instruction, warp after warp.

    Warps are in launch order: CTA after CTA (x fastest), within a CTA by warp number. The records of warp ``w`` are
    ``warp_start[w]:warp_start[w + 1]``.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int  #: per CTA, static and dynamic
    registers: int  #: per thread: highest vector register used, plus one
    source: str  #: ``emulated`` or ``accelsim``
    listing: str  #: text the program was parsed from; empty where there is none
    program: tuple[StaticInstruction, ...]
    warp_start: np.ndarray  #: int64[warps + 1]
    warp_cta: np.ndarray  #: int32[warps], linear CTA number
    instruction: np.ndarray  #: int32[n], index into ``program``
    active: np.ndarray  #: uint32[n], SIMT mask before the guard
    execute: np.ndarray  #: uint32[n], SIMT mask and guard
    live: np.ndarray  #: uint32[n], lanes that had not exited before this instruction
    value_row: np.ndarray  #: int64[n], first row of the results in ``values`` or NO_ROW; one row per destination
    values: np.ndarray  #: uint32[rows, 32], the register's content in all lanes *after* the write
    written: np.ndarray  #: uint32[rows], lanes of that register that were ever written, this write included
    address_row: np.ndarray  #: int64[n], row in ``addresses`` or NO_ROW
    addresses: np.ndarray  #: uint64[rows, 32], byte address per lane; zero in lanes outside ``execute``
    notes: tuple[str, ...] = field(default=())
    annotation: str = ""  #: what the hints are: scheme and the parameters they hold for; empty where there are none
    hints: np.ndarray = field(default_factory=_no_hints)  #: uint64, one per beat in the order of the records, or none
    descriptor: dict[str, int] = field(default_factory=dict)  #: what the kernel's start tells the machine, by name
    before: tuple[int, ...] = ()  #: of a rewritten trace: lengths of program, values and addresses of the original
    original_row: np.ndarray = field(default_factory=_no_rows)  #: int64[n], its ``value_row`` there; NO_ROW if inserted

    @property
    def has_values(self) -> bool:
        """Whether register values are known: of an emulated trace, or of an imported one that has any."""
        return self.source == "emulated" or len(self.values) > 0

    @property
    def warps(self) -> int:
        """Warps of the whole launch."""
        return len(self.warp_cta)

    @property
    def records(self) -> int:
        """Length of the dynamic arrays."""
        return len(self.instruction)

    @property
    def instructions(self) -> int:
        """Executed warp instructions; what a pass inserted is none."""
        return self.records - int(self.inserted.sum())

    @property
    def inserted(self) -> np.ndarray:
        """bool[n], the records that a pass inserted."""
        return np.array([static.inserted for static in self.program], dtype=bool)[self.instruction]

    def save(self, path: Path) -> None:
        """Write a compressed ``.npz``; the file appears whole or not at all."""
        from warpfile.spec.trace_file import write_trace

        write_trace(self, path)

    @classmethod
    def load(cls, path: Path) -> Trace:
        """Read what :meth:`save` wrote. Raises :class:`TraceError` for anything else."""
        from warpfile.spec.trace_file import read_trace

        return read_trace(path)

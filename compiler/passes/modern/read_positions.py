"""How the read window takes an instruction: its unit, its beats, and the position of every source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest

from warpfile.compiler.model import Instruction
from warpfile.compiler.operands import operand_registers
from warpfile.spec.beat import distinct_sources, source_groups
from warpfile.spec.schemes.modern import NOWHERE, POSITIONS
from warpfile.spec.trace import Port, StaticInstruction

#: Variable latency, wherever they execute in the baseline; without registers BMOV does nothing here.
_LATE = frozenset("BMOV DMNMX LDCU MOVM R2UR REDUX S2UR".split())
_EARLY = ("CREDUX", "CS2R")  #: fixed latency, though they reduce over lanes or read a special register
#: In the encoding the first source of these is operand 1, and the second one of the sums and comparisons operand 2.
_SECOND = frozenset("MOV IABS".split())
_SUMS = frozenset("DADD DSETP FADD HADD2 HSET2 HSETP2".split())

#: Registers at each operand position, none where the operand has none.
Operands = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Placed:
    """``groups`` are the distinct sources of each beat; ``slots``, beat by beat, the source at each position."""

    port: Port
    groups: tuple[tuple[int, ...], ...]
    slots: tuple[tuple[int, ...], ...]

    @property
    def fixed(self) -> bool:
        """Whether its latency is fixed."""
        return self.port in (Port.ALU, Port.FMA)

    @property
    def variable(self) -> bool:
        """Whether its latency varies; without a unit it is neither."""
        return not self.fixed and self.port is not Port.NONE


_DEPBAR = re.compile(r"(?:@!?U?P\d )?DEPBAR\.LE SB(\d), (0x[0-9a-f]+|\d+)(?:, \{([\d, ]*)\})?")


@dataclass(frozen=True)
class Waits:
    """DEPBAR.LE: no more than ``most`` beats are out under counter ``barrier``, and none under those of ``mask``.

    With ``most`` 0 the counter itself is one of these.
    """

    barrier: int
    most: int
    mask: int


def waits_of(static: StaticInstruction) -> Waits | None:
    """What a DEPBAR waits for, None for all other instructions. Raises ``ValueError`` for one of another form."""
    if not static.opcode.startswith("DEPBAR"):
        return None
    match = _DEPBAR.fullmatch(static.text.strip())
    if match is None:
        raise ValueError(
            f"{static.text!r} at {static.offset:#x} must be DEPBAR.LE with a counter and a number under control codes;"
            " or set dependences=scoreboard"
        )
    mask = sum(1 << int(number) for number in re.findall(r"\d", match[3] or ""))
    barrier, most = int(match[1]), int(match[2], 0)
    return Waits(barrier, most, mask if most else mask | 1 << barrier)


def port_of(static: StaticInstruction) -> Port:
    """Class of the unit that executes it here."""
    opcode = static.opcode.partition(".")[0]
    if opcode in _EARLY and static.port is not Port.NONE:
        return Port.ALU
    if opcode in _LATE and (static.port is not Port.NONE or opcode != "BMOV"):
        return Port.SFU
    return static.port


def placed(static: StaticInstruction, instruction: Instruction | None) -> Placed:
    """An instruction of a program, with its text if that is known. Raises ``ValueError`` for a fourth operand."""
    port = port_of(static)
    if instruction is None or port not in (Port.ALU, Port.FMA):
        groups = source_groups(static, POSITIONS)
        slots = [tuple(range(len(group))) + (NOWHERE,) * (POSITIONS - len(group)) for group in groups]
        return Placed(port, groups, tuple(slots))
    beats = _beats(positions(instruction))
    groups = tuple(distinct_sources(one for one in beat if one >= 0) for beat in beats)
    slots = [
        tuple(group.index(one) if one >= 0 else NOWHERE for one in beat)
        for beat, group in zip(beats, groups, strict=True)
    ]
    return Placed(port, groups, tuple(slots))


def positions(instruction: Instruction) -> Operands:
    """Registers at the operand positions of an encoding."""
    operands = list(operand_registers(instruction))
    if instruction.opcode in _SECOND:
        operands.insert(0, ())
    elif instruction.opcode in _SUMS and len(operands) == 2:
        operands.insert(1, ())
    if any(operands[POSITIONS:]):
        raise ValueError(
            f"{instruction.text} at {instruction.offset:#x} must have its registers in the first {POSITIONS} operands"
        )
    return tuple((*operands, *((),) * POSITIONS)[:POSITIONS])


def _beats(operands: Operands) -> list[tuple[int, ...]]:
    """One register per position and beat, low ones first; -1 for none."""
    rows = list(zip_longest(*operands, fillvalue=-1))
    return rows or [(-1,) * POSITIONS]

"""Opcodes that ``compiler.opcodes`` does not know, told by one it knows whose operands have the same shape.

Kepler to Pascal (binary versions below 70) have integer and control instructions of their own; Ampere and later add a
few. Only register files, widths, port and kind matter here, so a shift may stand for an addition.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpfile.compiler.opcodes import FORMS
from warpfile.spec.trace import Port

FIRST_WITH_PAIRED_TARGETS = 70  #: from Volta on BRX and RET read a 64-bit target


@dataclass(frozen=True)
class Shape:
    """A known base opcode, with its own modifiers where those of the recorded opcode mean something else."""

    opcode: str
    modifiers: tuple[str, ...] | None = None
    port: Port | None = None


def _shapes() -> dict[str, Shape]:
    table: dict[str, Shape] = {}

    def add(names: str, shape: Shape) -> None:
        table.update(dict.fromkeys(names.split(), shape))

    narrow = Shape("MOV", ())
    add("MOV32I XMAD SHL SHR IADD32I ISCADD ISCADD32I LOP LOP32I BFE BFI IMUL IMUL32I IMAD32I IMADSP ISAD", narrow)
    add("ISET ICMP FCMP FSET PSET CSET RRO FADD32I FMUL32I FFMA32I HADD2_32I HMUL2_32I HFMA2_32I", narrow)
    add("VADD VMAD VMNMX VSET VSHL VSHR VIADD VIADDMNMX VIMNMX VIMNMX3 FMNMX3 HMNMX2 VHMNMX", narrow)
    add("F2IP I2IP IDP4A", narrow)
    add("DMNMX", Shape("DADD"))
    add("DSET", Shape("F2I", ("F64",), Port.ALU))
    add("PSETP CSETP VSETP", Shape("PLOP3", ()))
    add("LDU", Shape("LDG"))
    add("JMP", Shape("BRA", ()))
    add("SYNC BRK CONT", Shape("BSYNC", ()))
    add("JMX", Shape("BRX", ()))
    add("SSY PBK PCNT PRET PEXIT", Shape("BSSY", ()))
    add("CAL JCAL", Shape("CALL", ()))
    add("KIL", Shape("KILL", ()))
    add("RTT", Shape("RET", ()))
    add("CCTLT TEXDEPBAR", Shape("NOP", ()))
    add("CREDUX", Shape("R2UR", ()))
    add("QMMA", Shape("IMMA"))
    return table


SHAPES = _shapes()
_NARROW_TARGETS = {"BRX": Shape("WARPSYNC", ()), "JMX": Shape("WARPSYNC", ())}


def shape_of(opcode: str, architecture: int) -> Shape | None:
    """How to read the operands of a base opcode on a machine; None if unknown."""
    if architecture < FIRST_WITH_PAIRED_TARGETS and opcode in _NARROW_TARGETS:
        return _NARROW_TARGETS[opcode]
    return Shape(opcode) if opcode in FORMS else SHAPES.get(opcode)

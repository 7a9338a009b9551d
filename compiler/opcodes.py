"""What each opcode does with its operands, by base opcode; modifiers only change widths.

Sources: the semantics of ``docs/sass.md``, the operand order that nvdisasm prints for sm_75, and for where
opcodes execute the pipelines that NVIDIA's profiler documents. An opcode that is not
here is kept by the parser as opaque and refused by everything that needs its definitions and uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from warpfile.spec.trace import Access, Port, Space


class Dest(Enum):
    """Register file that the destination operand belongs to."""

    NONE = auto()
    GENERAL = auto()
    UNIFORM = auto()


@dataclass(frozen=True)
class Form:
    """Operand structure of an opcode: destination file, most predicates it defines, and where it executes."""

    dest: Dest = Dest.NONE
    predicates: int = 0
    port: Port = Port.ALU  #: where it executes if it touches vector registers
    space: Space = Space.NONE
    access: Access = Access.NONE
    approximate: bool = False


def _forms() -> dict[str, Form]:
    general, uniform = Dest.GENERAL, Dest.UNIFORM
    table: dict[str, Form] = {}

    def add(names: str, form: Form) -> None:
        table.update(dict.fromkeys(names.split(), form))

    add("MOV IABS PRMT SEL SHF BMSK SGXT I2I VABSDIFF FSEL FMNMX FMNMX3 FSET", Form(general))
    add("HMNMX2 HSET2 F2FP I2FP I2IP P2R VABSDIFF4 LEPC VIADD", Form(general))
    add("IMNMX VIMNMX VIMNMX3 VIADDMNMX", Form(general, 2))
    add("FADD FMUL FFMA FSWZADD FADD2 FMUL2 FFMA2 HADD2 HMUL2 HFMA2 IDP", Form(general, port=Port.FMA))
    add("DADD DMUL DFMA", Form(general, port=Port.DOUBLE))
    add("LDGDEPBAR ARRIVES", Form())
    add("IADD3 IADD", Form(general, 2))
    add("LEA LOP3 VOTE", Form(general, 1))
    add("IMAD", Form(general, 1, Port.FMA))
    add("ISETP FSETP PLOP3 HSETP2", Form(predicates=2))
    add("DSETP", Form(predicates=2, port=Port.DOUBLE))
    add("FCHK", Form(predicates=1, port=Port.SFU))
    add("MUFU", Form(general, port=Port.SFU, approximate=True))
    add("I2F F2I F2F FRND POPC FLO BREV S2R CS2R", Form(general, port=Port.SFU))
    add("SHFL MATCH B2R QSPC", Form(general, 1, port=Port.SFU))
    add("MOVM", Form(general))
    add("IMMA BMMA DMMA", Form(general, port=Port.TENSOR))
    add("HMMA", Form(general, port=Port.TENSOR, approximate=True))
    add("R2P", Form())
    add("BMOV", Form(general))
    add(
        "BSSY BSYNC BREAK BRA BRX CALL RET EXIT WARPSYNC YIELD NOP BAR MEMBAR DEPBAR ERRBAR CCTL CCTLL CGAERRBAR",
        Form(),
    )
    add("NANOSLEEP BPT KILL PMTRIG ACQBULK PREEXIT ENDCOLLECTIVE", Form())
    add("USHF UMOV USEL UPRMT UBREV UFLO UPOPC ULDC USGXT UBMSK", Form(uniform))
    add("UIADD3 UVIMNMX", Form(uniform, 2))
    add("ULEA ULOP3 VOTEU UIMAD", Form(uniform, 1))
    add("UISETP UPLOP3", Form(predicates=2))
    add("S2UR CS2UR REDUX CREDUX LDCU UFADD UFMUL UFFMA", Form(uniform))
    add("R2UR ELECT", Form(uniform, 1))
    return table | _memory_forms()


def _memory_forms() -> dict[str, Form]:
    table: dict[str, Form] = {}
    for name, space in (("G", Space.GLOBAL), ("", Space.GLOBAL), ("S", Space.SHARED), ("L", Space.LOCAL)):
        table[f"LD{name}"] = Form(Dest.GENERAL, 0, Port.LSU, space, Access.LOAD)
        table[f"ST{name}"] = Form(port=Port.LSU, space=space, access=Access.STORE)
    table["LDGSTS"] = Form(port=Port.LSU, space=Space.GLOBAL, access=Access.LOAD)
    table["LDSM"] = Form(Dest.GENERAL, 0, Port.LSU, Space.SHARED, Access.LOAD)
    table["LDC"] = Form(Dest.GENERAL, 0, Port.LSU, Space.CONSTANT, Access.LOAD)
    table["ATOM"] = table["ATOMG"] = Form(Dest.GENERAL, 1, Port.LSU, Space.GLOBAL, Access.ATOMIC)
    table["ATOMS"] = Form(Dest.GENERAL, 1, Port.LSU, Space.SHARED, Access.ATOMIC)
    table["STSM"] = Form(port=Port.LSU, space=Space.SHARED, access=Access.STORE)
    table["RED"] = table["REDG"] = Form(port=Port.LSU, space=Space.GLOBAL, access=Access.ATOMIC)
    for name in "TEX TLD TLD4 TXD TMML TXQ SULD".split():
        table[name] = Form(Dest.GENERAL, 0, Port.LSU, Space.TEXTURE, Access.LOAD)
    table["SUATOM"] = Form(Dest.GENERAL, 0, Port.LSU, Space.TEXTURE, Access.ATOMIC)
    table["SUST"] = Form(port=Port.LSU, space=Space.TEXTURE, access=Access.STORE)
    table["SURED"] = Form(port=Port.LSU, space=Space.TEXTURE, access=Access.ATOMIC)
    return table


FORMS = _forms()

#: Instructions after which the next one of the warp may come from elsewhere.
BRANCHES = frozenset("BRA BRX CALL RET EXIT BSYNC WARPSYNC KILL".split())
#: Branches that end a basic block for nvdisasm (BSYNC and WARPSYNC do not).
BLOCK_ENDS = frozenset("BRA BRX CALL RET EXIT KILL".split())


def is_known(opcode: str) -> bool:
    """Whether definitions and uses of the base opcode are known."""
    return opcode in FORMS

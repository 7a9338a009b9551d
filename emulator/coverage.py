"""The table of ``docs/opcodes.md``, and which opcodes lack something."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from warpfile.compiler.opcodes import FORMS
from warpfile.emulator import families  # noqa: F401  registers the opcodes
from warpfile.emulator.decode import modifiers_of, supported_opcodes

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "opcodes.md"
TESTS = ROOT / "tests" / "emulator"

#: The 73 base opcodes of all Rodinia, Parboil and PolyBench kernels, and the others of the CUDA samples.
SUITES = frozenset(
    "ATOMG ATOMS BAR BMOV BRA BREAK BRX BSSY BSYNC CALL CS2R DADD DFMA DMUL DSETP EXIT F2F F2I FADD FCHK FFMA FLO "
    "FMNMX FMUL FRND FSEL FSETP I2F IABS IADD3 IMAD IMNMX ISETP LD LDC LDG LDL LDS LEA LOP3 MOV MUFU NOP P2R PLOP3 "
    "POPC PRMT R2P R2UR RED RET S2R S2UR SEL SHF SHFL ST STG STL STS UIADD3 UIMAD UISETP ULDC ULEA ULOP3 UMOV USEL "
    "USHF VOTE VOTEU WARPSYNC YIELD".split()
)
SAMPLES = frozenset(
    "ATOM BPT BREV CCTL DEPBAR ERRBAR HADD2 HFMA2 HMMA IMMA LDSM LEPC MATCH MEMBAR NANOSLEEP QSPC SUST TEX TLD UBREV "
    "UFLO UPOPC UPRMT".split()
)
#: Opcodes that are executed only as an error message.
REFUSED = frozenset("TEX TLD TLD4 TXD TMML TXQ SULD SUST SUATOM SURED".split())

_HEAD = """# Opcodes

Made by `python -m warpfile.pages opcodes`; a test keeps it current. *Parsed*: definitions and uses are known.
*Executed*: the emulator runs it; *refused*: a kernel that reaches it ends with one line. *Tested*: a test in
`tests/emulator` executes it by name. *Suites*: in Rodinia, Parboil or PolyBench; *samples*: beyond those in the CUDA
samples. Modifiers are those that the emulator knows, and also cache and ordering hints of memory instructions.
"""


@dataclass(frozen=True)
class Row:
    """What is known of one base opcode."""

    opcode: str
    parsed: bool
    executed: str  #: yes, refused or no
    tested: bool

    @property
    def needed(self) -> str:
        """Who needs it."""
        return "suites" if self.opcode in SUITES else "samples" if self.opcode in SAMPLES else ""


def rows() -> tuple[Row, ...]:
    """All opcodes that anything knows, by name."""
    tested, executed = tested_opcodes(), supported_opcodes()
    names = sorted(SUITES | SAMPLES | FORMS.keys() | executed)
    return tuple(Row(name, name in FORMS, _executed(name, executed), name in tested) for name in names)


def _executed(name: str, executed: frozenset[str]) -> str:
    return "no" if name not in executed else "refused" if name in REFUSED else "yes"


def tested_opcodes() -> frozenset[str]:
    """Opcodes that stand as instructions in the strings of the emulator's tests."""
    pattern = re.compile(r"(?<![\w.])([A-Z][A-Z0-9]*)(?=[.\s]|$)")
    found: set[str] = set()
    for path in sorted(TESTS.glob("test_*.py")):
        for text in _strings(ast.parse(path.read_text(encoding="utf-8"))):
            found.update(pattern.findall(text))
    return frozenset(found)


def _strings(tree: ast.Module) -> Iterator[str]:
    """String literals that are no docstrings."""
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def table() -> str:
    """The page."""
    found = rows()
    lines = [_HEAD, *_summary(found), "", "| opcode | parsed | executed | tested | needed by | modifiers |"]
    lines.append("|---|---|---|---|---|---|")
    for row in found:
        marks = " ".join(sorted(modifiers_of(row.opcode) - {"*"}))
        cells = (row.opcode, _yes(row.parsed), row.executed, _yes(row.tested), row.needed, marks)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _summary(found: tuple[Row, ...]) -> list[str]:
    lines = ["| | opcodes | parsed | executed | refused | tested |", "|---|---|---|---|---|---|"]
    for name, chosen in (
        ("suites", [row for row in found if row.opcode in SUITES]),
        ("suites and samples", [row for row in found if row.needed]),
        ("all", list(found)),
    ):
        executed, refused = ([row for row in chosen if row.executed == kind] for kind in ("yes", "refused"))
        counts = (len(chosen), sum(row.parsed for row in chosen), len(executed), len(refused))
        lines.append(f"| {name} | {' | '.join(map(str, counts))} | {sum(row.tested for row in chosen)} |")
    return lines


def _yes(value: bool) -> str:
    return "yes" if value else "no"

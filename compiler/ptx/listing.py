"""The listing of allocated PTX: text in SASS notation, which the parser of listings reads like any other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count

from warpfile.compiler.cfg import STEP, Cfg, build_cfg
from warpfile.compiler.divergence import divergence
from warpfile.compiler.model import Listing
from warpfile.compiler.parser import parse
from warpfile.compiler.ptx.allocate import Allocation, allocate
from warpfile.compiler.ptx.lower import Code, Lowered, lower
from warpfile.compiler.ptx.parse import Kernel, parse_ptx
from warpfile.compiler.ptx.reconverge import Line, meetings, with_barriers, with_loop_entries

ARCHITECTURE = 75
_VIRTUAL = re.compile(r"%([\w$]+)(?::([01]))?")


def allocated(ptx: str, name: str) -> Listing:
    """Listing of the only kernel of a PTX module; ``name`` stands for it in messages.

    It has no control codes, since PTX has none. Raises ``ValueError``, most of them :class:`PtxError`.
    """
    try:
        lowered = lower(parse_ptx(ptx))
        found = allocate(lowered)
        return _listing(lowered.kernel, found, _lines(lowered, found), name)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _lines(lowered: Lowered, found: Allocation) -> list[Line]:
    """Instructions with machine registers; labels that no branch names are left out."""
    named = {one.target for one in lowered.code if isinstance(one, Code)}
    lines, labels = [], []
    for one in lowered.code:
        if isinstance(one, str):
            labels += [one] if one in named else []
        else:
            lines.append(Line(_with_registers(one.text, lowered, found), labels))
            labels = []
    return lines


def _with_registers(text: str, lowered: Lowered, found: Allocation) -> str:
    def register(match: re.Match[str]) -> str:
        number = found.numbers[match[1]] + int(match[2] or 0)
        return f"{'R' if lowered.widths[match[1]] else 'P'}{number}"

    return _VIRTUAL.sub(register, text)


def _listing(kernel: Kernel, found: Allocation, lines: list[Line], name: str) -> Listing:
    """The listing with convergence barriers for the branches that are not proven uniform.

    What is uniform depends on where lanes meet; so the proof is of the code with barriers for all branches.
    """
    plain = _parsed(kernel, found, lines, name)
    lines = with_loop_entries(lines, _cfg(plain, kernel))
    cfg = _cfg(_parsed(kernel, found, lines, name), kernel)
    every = _branches(cfg)
    full = _cfg(_parsed(kernel, found, with_barriers(lines, cfg, meetings(cfg, every)), name), kernel)
    uniform = {branch.block for branch in divergence(full).branches if branch.is_uniform}
    parting = [block for block, same in zip(every, _branches(full), strict=True) if same not in uniform]
    return _parsed(kernel, found, _short(with_barriers(lines, cfg, meetings(cfg, parting))), name)


def _branches(cfg: Cfg) -> list[int]:
    """Blocks that end with a conditional branch, in the order of the code."""
    lasts = ((block.index, cfg.last(block)) for block in cfg.blocks)
    return [index for index, last in lasts if last.opcode == "BRA" and last.is_conditional]


def _cfg(listing: Listing, kernel: Kernel) -> Cfg:
    return build_cfg(listing.function(kernel.name))


def _short(lines: Sequence[Line]) -> list[Line]:
    """Without branches to the next instruction, which loop entries that turned out to be empty leave."""
    kept: list[Line] = []
    for line, behind in zip(lines, [*lines[1:], Line("")], strict=True):
        if any(line.text == f"BRA `({label})" for label in behind.labels):
            behind.labels[:0] = line.labels
        else:
            kept.append(line)
    return kept


def _parsed(kernel: Kernel, found: Allocation, lines: Sequence[Line], name: str) -> Listing:
    return parse(_text(kernel, found.registers, lines), name)


def _text(kernel: Kernel, registers: int, lines: Sequence[Line]) -> str:
    head = [
        f"\t.target\tsm_{ARCHITECTURE}",
        f"\t.section\t.nv.shared.{kernel.name}",
        f"\t.zero\t{kernel.shared_bytes}",
        f"\t.section\t.text.{kernel.name}",
        f'\t.sectioninfo\t@"SHI_REGISTERS={registers}"',
        f".text.{kernel.name}:",
    ]
    for offset, line in zip(count(0, STEP), lines):
        head += [f"{label}:" for label in line.labels]
        head.append(f"        /*{offset:04x}*/                   {line.text} ;")
    return "\n".join(head) + "\n"

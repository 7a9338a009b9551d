"""Intervals next to those of the authors' program: a table.

PROGRAM is ``RegisterIntervalCreation`` of https://github.com/CMU-SAFARI/Register-Interval (M. Sadrosadati et al.,
ASPLOS 2018), compiled; nothing of it is part of this project. It reads a graph of blocks as nvdisasm draws it. Here it
gets the blocks of a kernel's listing, and of every instruction the registers that it names, so that both start from the
same. It cuts a block with more registers than its first argument, and puts blocks together as long as there are fewer:
N gives too few, N + 1 too many. Lengths are instructions of the code per interval, *most* is the largest set.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from warpfile.compiler.liveness import general_registers
from warpfile.compiler.parser import load_listing
from warpfile.compiler.passes.ltrf.code import Code, code_of
from warpfile.compiler.passes.ltrf.intervals import Blocks, intervals
from warpfile.compiler.passes.ltrf.units import NONE
from warpfile.output.display import followed, show_table
from warpfile.pages.writing import parser
from warpfile.workloads.inputs import bundled_kernels

COLUMNS = (
    *("kernel", "instructions", "blocks"),
    *("ours", "length", "most", "theirs, N", "length", "most", "theirs, N + 1", "length", "most"),
)
REGISTERS = 16
#: How many the program has room for; it writes beyond that.
ROOM = 64
SECONDS = 60
_INTERVAL = re.compile(r"#Number of Instructions = (\d+)[^=]*=[^=]*#Number of Registers = (\d+)")


class Unfit(ValueError):
    """Code that the program cannot be asked about."""


def blocks_of(code: Code) -> dict[int, tuple[range, list[int]]]:
    """By first instruction, the blocks that control reaches: their instructions, and where they lead.

    Raises :class:`Unfit` for code with more ways in than one: the program knows no calls.
    """
    if code.heads != {0}:
        raise Unfit("calls, or more ways in than one")
    found = Blocks(code, ROOM)
    return {start: (range(start, found.ends[start]), found.graph.after[start]) for start in sorted(found.graph.after)}


def nvdisasm_graph(code: Code) -> str:
    """The graph as nvdisasm would draw it.

    The program takes an edge that does not lead to the next block from the text of a guarded branch alone, drops blocks
    with an EXIT, and begins where no edge leads. So every edge is such a branch, and a NOP comes first.
    """
    blocks = blocks_of(code)
    used = sorted({register for one in code.registers for register in general_registers(one)})
    if len(used) > ROOM:
        raise Unfit(f"{len(used)} registers")
    number = {register: place for place, register in enumerate(used)}
    name = {start: f"b{place:05}" for place, start in enumerate(blocks, 1)}
    lines = ["digraph f {", *_node("b00000", ["NOP"], [name[0]])]
    for start, (inside, targets) in blocks.items():
        texts = (" ".join(f"R{number[one]}" for one in general_registers(code.registers[index])) for index in inside)
        lines += _node(name[start], [f"OP {text}".strip() for text in texts], [name[target] for target in targets])
    return "\n".join((*lines, "}\n"))


def _node(name: str, instructions: Sequence[str], targets: Sequence[str]) -> Iterator[str]:
    body = "".join(f"{text};\\l" for text in instructions)
    branch = f"|<exit0>@P0 BRA {' '.join(targets)};\\l" if targets else ""
    yield f'"{name}"'
    yield f'[label="{{<entry>{body}{branch}}}"]'
    yield from (f'"{name}":exit0:e -> "{target}":entry:n [style=solid];' for target in targets)


def theirs(program: Path, code: Code, limit: int) -> list[tuple[int, int]]:
    """Instructions and registers of each interval that the program finds with a first argument of ``limit``; the NOP,
    too, is in one.

    Raises :class:`Unfit` where it cannot be asked, and where it gives no answer.
    """
    text = nvdisasm_graph(code)
    with tempfile.TemporaryDirectory(prefix="warpfile-intervals-") as name:
        folder = Path(name)
        (folder / "output").mkdir()
        (folder / "kernel.dot").write_text(text)
        try:
            command = [str(program.resolve()), str(limit), "kernel.dot"]
            done = subprocess.run(command, cwd=folder, capture_output=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise Unfit(f"no end in {SECONDS} s") from None
        answer = folder / "output" / "registerIntervals_kernel.txt"
        if done.returncode or not answer.exists():
            raise Unfit(f"exit status {done.returncode}")
        found = [(int(length), int(registers)) for length, registers in _INTERVAL.findall(answer.read_text())]
    count, all_of_them = sum(length for length, _ in found) - 1, len(instructions_of(code))
    if count != all_of_them:
        raise Unfit(f"{count} of {all_of_them} instructions")
    return found


def ours(code: Code, limit: int) -> list[tuple[int, int]]:
    """Instructions and registers of each interval of at most ``limit`` registers."""
    units = intervals(code, limit)
    numbers = sorted({*units.of} - {NONE})
    return [(units.of.count(unit), units.sets[unit].bit_count()) for unit in numbers]


def instructions_of(code: Code) -> list[int]:
    """All that control reaches."""
    return [*chain.from_iterable(inside for inside, _ in blocks_of(code).values())]


def rows(program: Path, registers: int) -> Iterator[tuple[object, ...]]:
    """A row per bundled kernel."""
    folders = bundled_kernels()
    for kernel in followed("published_intervals", folders):
        (function,) = load_listing(folders[kernel] / "kernel.sass").functions.values()
        yield kernel, *_cells(program, code_of(function), registers)


def _cells(program: Path, code: Code, registers: int) -> Iterator[object]:
    try:
        size = len(instructions_of(code))
        yield from (size, len(blocks_of(code)), *_summary(ours(code, registers), size))
    except ValueError as error:
        yield from (str(error), *[""] * (len(COLUMNS) - 2))
        return
    for limit in (registers, registers + 1):
        try:
            yield from _summary(theirs(program, code, limit), size)
        except Unfit as error:
            yield from (str(error), "", "")


def _summary(found: Sequence[tuple[int, int]], size: int) -> tuple[object, ...]:
    return len(found), size / len(found), max(registers for _, registers in found)


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    options_of = parser("published_intervals", __doc__)
    options_of.add_argument("program", type=Path, metavar="PROGRAM", help="the authors' program, compiled")
    options_of.add_argument("--registers", type=int, default=REGISTERS, help="N (default: %(default)s)")
    options = options_of.parse_args(arguments)
    if not options.program.is_file():
        options_of.error(f"PROGRAM must be a file, not {options.program}")
    show_table(COLUMNS, rows(options.program, options.registers))
    return 0

"""NVIDIA's disassembler as an outside judge: its control-flow graph and its register life ranges as data."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from warpfile import tools
from warpfile.compiler import Listing
from warpfile.compiler.cfg import build_cfg
from warpfile.compiler.liveness import (
    defined,
    general_registers,
    liveness,
    predicates,
    uniform_predicates,
    uniform_registers,
    used,
)
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.operands import effects

CLASSES = {"GPR": general_registers, "PRED": predicates, "UGPR": uniform_registers, "UPRED": uniform_predicates}

_NODE = re.compile(r'^"(?P<name>[^"]+)"$')
_EDGE = re.compile(r'^"([^"]+)":\w+:\w -> "([^"]+)":\w+:\w')
_OFFSET = re.compile(r"(?:^|\\l|>)([0-9a-f]{4,}):\\ ")
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/")
_SECTION = re.compile(r"\s*\.section\s+\.text\.([^,\s]+)")


def run(*arguments: str) -> str:
    """Output of nvdisasm."""
    binary = tools.find("nvdisasm")
    assert binary is not None
    return subprocess.run([binary, *arguments], capture_output=True, text=True, check=True).stdout


def edges(cubin: Path) -> dict[str, set[tuple[int, int]]]:
    """Edges of every function as pairs of block start offsets; ``(start, -1)`` for a block without successors."""
    result: dict[str, set[tuple[int, int]]] = {}
    starts: dict[str, int] = {}
    arrows: list[tuple[str, str]] = []
    owner: dict[str, str] = {}
    cluster = name = ""
    for line in run("-bbcfg", "-poff", str(cubin)).splitlines():
        if match := re.match(r'subgraph "cluster_(.*)" \{', line):
            cluster = match[1]
        elif match := _NODE.match(line):
            name = match["name"]
        elif line.startswith("[label=") and (match := _OFFSET.search(line)):
            starts[name], owner[name] = int(match[1], 16), cluster
        elif match := _EDGE.match(line):
            arrows.append((match[1], match[2]))
    for source, target in arrows:
        result.setdefault(owner[source], set()).add((starts[source], starts[target]))
    for node, start in starts.items():
        if node not in {source for source, _ in arrows}:
            result.setdefault(owner[node], set()).add((start, -1))
    return result


@dataclass(frozen=True)
class Row:
    """Marks of one instruction, by register class: register number -> one of ``^ v x :``."""

    function: str
    offset: int
    marks: dict[str, dict[int, str]]


def life_ranges(cubin: Path) -> Iterator[Row]:
    """Rows of ``nvdisasm -plr -lrm narrow``."""
    function, header, columns = "", list[list[str]](), list[tuple[str, dict[int, int]]]()
    for line in run("-c", "-plr", "-lrm", "narrow", str(cubin)).splitlines():
        if match := _SECTION.match(line):
            function, header, columns = match[1], [], []
        code, separator, marks = line.partition("// |")
        if not separator:
            continue
        cells = marks.rstrip().rstrip("|").split("|")
        instruction = _INSTRUCTION.match(code)
        if instruction is None:
            header.append(cells)  # labels have marks too; the header ends at the first instruction
            continue
        columns = columns or [
            (title.strip(), _columns([row[place] for row in header[1:] if place < len(row)]))
            for place, title in enumerate(header[0])
        ]
        found = {
            title: {number: text[at] for at, number in numbers.items() if text[at : at + 1].strip()}
            for (title, numbers), text in zip(columns, cells, strict=True)
        }
        yield Row(function, int(instruction[1], 16), found)


def compare_graphs(cubin: Path, listing: Listing) -> None:
    """Blocks and edges of every function."""
    wanted = edges(cubin)
    assert wanted
    for function in listing.functions.values():
        cfg = build_cfg(function)
        found: dict[str, set[tuple[int, int]]] = {}
        for block in (block for block in cfg.blocks if block.index not in cfg.padding):
            targets = [16 * cfg.blocks[target].start for target in cfg.successors[block.index]] or [-1]
            found.setdefault(block.routine, set()).update((16 * block.start, target) for target in targets)
        for routine, pairs in found.items():
            assert pairs == wanted[routine], routine


def compare_life_ranges(cubin: Path, listing: Listing, spared: frozenset[int] = frozenset()) -> None:
    """Definitions, uses and live registers of every instruction; ``spared`` are general registers left to us.

    Exclusions: opcodes that are not known, and beside one what is live; around calls nvdisasm marks every register, for
    P2R and R2P it marks no predicate at all; instructions that nothing reaches.
    """
    rows = list(life_ranges(cubin))
    assert rows
    for name, function in listing.functions.items():
        cfg = build_cfg(function)
        found, reachable = liveness(cfg), cfg.reachable()
        opcodes = {instruction.opcode for instruction in function.instructions}
        classes = {kind: CLASSES[kind] for kind in CLASSES if kind != "PRED" or not opcodes & {"P2R", "R2P"}}
        for row in (row for row in rows if row.function == name):
            index = row.offset // 16
            instruction = function.instructions[index]
            is_known_here = is_known(instruction.opcode) and instruction.opcode != "CALL"
            if cfg.block_of[index] not in reachable or not is_known_here:
                continue
            own = effects(instruction)
            live = found.live_in[index] | found.live_out[index] | defined(own)
            for kind, members in classes.items():
                marks = row.marks.get(kind, {})
                where = f"{row.offset:#06x} {instruction.text} {kind}"
                assert {n for n, mark in marks.items() if mark in "^x"} == set(members(defined(own))), where
                assert {n for n, mark in marks.items() if mark in "vx"} == set(members(used(own))), where
                if "CALL" not in opcodes and all(map(is_known, opcodes)):
                    left = spared if kind == "GPR" else frozenset()
                    assert set(marks) - left == set(members(live)) - left, where


def _columns(rows: list[str]) -> dict[int, int]:
    """Register number of every column from the vertically written digits of the header."""
    found = {}
    for column in range(max(map(len, rows))):
        text = "".join(row[column] for row in rows if column < len(row))
        digits = text.replace(" ", "")
        if digits.isdigit():
            found[column] = int(digits)
    return found

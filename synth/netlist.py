"""What the generated Verilog holds: flip-flops, memories and instances of every module.

Reads the regular text that the generator emits, not Verilog at large: one declaration per line, one assignment per
clocked statement.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from warpfile.spec.structure import ARRAYS, CLOCK_GATE, LATCHES, WORD_BITS

_NAME = r"(\\\S+|[A-Za-z_]\w*)"
_MODULE = re.compile(rf"module {_NAME}\s*\(")
_REGISTER = re.compile(rf"\s*(?:output\s+)?reg\s+(?:\[(\d+):0\]\s*)?{_NAME}\s*(\[[^\]]*\])?")
_ROWS = re.compile(r"\[(\d+):(\d+)\]")
_EDGE = re.compile(r"\s*always @\(posedge (\w+)\)")
_CLOCKED = re.compile(rf"(?:.*\))?\s*{_NAME}\s*(?:\[[^<]*\])?\s*<= ")
_INSTANCE = re.compile(rf"  {_NAME}\s+(?:#\(.*\)\s*)?{_NAME}\s*\($")


@dataclass(frozen=True)
class Memory:
    """One array of ``depth`` words of ``width`` bits. ``ports`` is what SRAM of that kind is called: 1RW, 1R1W ..."""

    depth: int
    width: int
    ports: str

    @property
    def bits(self) -> int:
        """Storage in bits."""
        return self.depth * self.width


@dataclass(frozen=True)
class ModuleFacts:
    """One module by itself. Registers of a module with a memory belong to the memory and are not flip-flops.

    ``registers`` are the widths of the flip-flops by name, without escapes. ``latches`` are bits in latches. ``arrays``
    are modules of arrays of operands, or of their latches, by the names of their instances. ``gated`` are the registers
    behind a clock gate.
    """

    name: str
    registers: dict[str, int]
    memories: tuple[Memory, ...]
    instances: Counter[str]
    latches: int = 0
    arrays: dict[str, str] = field(default_factory=dict)
    gated: frozenset[str] = frozenset()

    @property
    def flip_flops(self) -> int:
        """Bits of all registers."""
        return sum(self.registers.values())


def read_modules(text: str) -> dict[str, ModuleFacts]:
    """Facts of every module of a generated file, in its order, by names without escapes."""
    bodies = dict(_bodies(text))
    latches = ModuleFacts(LATCHES, {}, (), Counter({CLOCK_GATE} & bodies.keys()), WORD_BITS)
    return {name: latches if name == LATCHES else _facts(name, lines, set(bodies)) for name, lines in bodies.items()}


def instance_counts(modules: dict[str, ModuleFacts], top: str) -> Counter[str]:
    """How often each module occurs in the whole hierarchy below (and including) ``top``."""
    total: Counter[str] = Counter({top: 1})
    for child, count in modules[top].instances.items():
        below = instance_counts(modules, child)
        total.update({name: number * count for name, number in below.items()})
    return total


def _bodies(text: str) -> Iterator[tuple[str, list[str]]]:
    name = ""
    lines: list[str] = []
    for line in text.splitlines():
        if match := _MODULE.match(line):
            name, lines = _plain(match[1]), []
        elif line.startswith("endmodule"):
            yield name, lines
        else:
            lines.append(line.partition("//")[0])


def _facts(name: str, lines: list[str], known: set[str]) -> ModuleFacts:
    widths: dict[str, int] = {}
    arrays: dict[str, tuple[int, int]] = {}
    instances: Counter[str] = Counter()
    inner: dict[str, str] = {}
    for line in lines:
        if match := _REGISTER.match(line):
            width = int(match[1] or 0) + 1
            if match[3] and (rows := _ROWS.match(match[3])):
                arrays[match[2]] = abs(int(rows[1]) - int(rows[2])) + 1, width
            else:
                widths[match[2]] = width
        elif (match := _INSTANCE.match(line)) and _plain(match[1]) in known:
            instances[_plain(match[1])] += 1
            inner[_plain(match[2])] = _plain(match[1])
    clocked = {match[1] for line in lines if (match := _CLOCKED.match(line)) and "assign" not in line}
    ports = _word_line_ports if name in ARRAYS else _ports
    memories = tuple(Memory(depth, width, ports(array, lines)) for array, (depth, width) in arrays.items())
    registers = {_plain(name): width for name, width in widths.items() if name in clocked and not memories}
    operands = {instance: module for instance, module in inner.items() if module in ARRAYS}
    return ModuleFacts(name, registers, memories, instances, arrays=operands, gated=frozenset(_gated(lines)))


def _gated(lines: list[str]) -> Iterator[str]:
    """Registers of the clocked blocks whose clock comes from a clock gate."""
    behind = False
    for line in lines:
        if "always @" in line:
            edge = _EDGE.match(line)
            behind = bool(edge and edge[1].endswith("gated_clk"))
        elif behind and (match := _CLOCKED.match(line)):
            yield _plain(match[1])


def _ports(array: str, lines: list[str]) -> str:
    """Ports of a memory: addresses that are only read, only written, or both."""
    access = re.compile(re.escape(array) + r"\s*\[([^\]]+)\]")
    reads: set[str] = set()
    writes: set[str] = set()
    for line in lines:
        target, arrow, value = line.partition("<=")
        for side, found in ((target, writes if arrow else reads), (value, reads)):
            found.update(address.strip() for address in access.findall(side) if ":" not in address)
    kinds = (("R", reads - writes), ("W", writes - reads), ("RW", reads & writes))
    return "".join(f"{len(addresses)}{kind}" for kind, addresses in kinds if addresses)


def _word_line_ports(_array: str, lines: list[str]) -> str:
    """Ports of a memory with word lines instead of addresses."""
    text = "\n".join(lines)
    reads, writes = (len(re.findall(rf"^  input .* {kind}_row\d+", text, re.MULTILINE)) for kind in ("read", "write"))
    return f"{reads}R{writes}W"


def _plain(name: str) -> str:
    return name.removeprefix("\\")

"""How well generated Verilog can be read, in numbers: a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from warpfile.hdl.readable import readable
from warpfile.hdl.systemverilog import Types
from warpfile.output.display import followed, say
from warpfile.pages.writing import parser
from warpfile.schemes import SCHEMES, Scheme
from warpfile.verilog.generate import design, presented
from warpfile.verilog.names import Names

_HEADING = """\
| scheme | preset | lines | nets | without a reader | numbered names | numbered only to differ | longest line | bits |
|---|---|---:|---:|---:|---:|---:|---:|---:|
"""
_DECLARED = re.compile(r"^ +(wire|reg|input|output) +(?:\[\d+:0\] )?(\w+)", re.MULTILINE)
_TARGET = re.compile(r"^ +(?:assign )?(\w+)(?:\[[^]=]*\])? <?= ", re.MULTILINE)
_ELEMENT = re.compile(r"^ +assign (\w+) = \w+\[[\d:]+\];", re.MULTILINE)


@dataclass(frozen=True)
class Figures:
    """Of a file: lines, and columns of the longest one. Of its wires and registers, without ports: how many there are,
    have no reader, have a name with a number at its end, and have one only because another net has the plain name."""

    lines: int = 0
    longest: int = 0
    nets: int = 0
    unread: int = 0
    numbers: int = 0
    repeated: int = 0


def figures(text: str) -> Figures:
    """Of Verilog with plain names. Bits of a net that are called after it, such as ``sources_3``, differ by what they
    are."""
    nets = unread = numbers = repeated = 0
    lines = text.splitlines()
    for body in re.split(r"^endmodule$", re.sub(r"//.*", "", text), flags=re.MULTILINE):
        declared = _DECLARED.findall(body)
        ports = {name for kind, name in declared if kind in ("input", "output")}
        names = {name for _, name in declared} - ports
        reads = Counter(re.findall(r"[A-Za-z_]\w*", body))
        reads -= Counter(_TARGET.findall(body)) + Counter(name for _, name in declared)
        elements = set(_ELEMENT.findall(body))
        numbered = {name for name in names if re.search(r"_\d+$", name)}
        nets += len(names)
        unread += sum(not reads[name] for name in names)
        numbers += len(numbered)
        repeated += sum(name.rpartition("_")[0] in names | ports for name in numbered - elements)
    return Figures(len(lines), max(map(len, lines)), nets, unread, numbers, repeated)


def row(scheme: Scheme) -> str:
    """Of one scheme: what the generator gives with plain names, and what its files have; of bits of records that are
    selected by their places, those in Verilog and those that are left in SystemVerilog."""
    cfg, names = scheme.configuration(scheme.preset), Names.of(scheme.name, True, None, None)
    _, raw = design(scheme, cfg)
    before, after = figures(readable(raw, names.module)), figures("".join(presented(cfg, raw, names)))
    counts = [(f"{one:,}", f"{other:,}") for one, other in zip(_counts(before), _counts(after), strict=True)]
    shares = [(f"{one / before.nets:.0%}", f"{other / after.nets:.0%}") for one, other in _shares(before, after)]
    longest = (f"{max(map(len, raw.splitlines())):,}", f"{after.longest:,}")
    types = Types(names.package, {})
    presented(cfg, raw, names, types)
    ranges = (f"{types.ranges:,}", f"{types.left:,}")
    cells = " | ".join(f"{one} → {other}" for one, other in [*counts, *shares, longest, ranges])
    return f"| `{scheme.name}` | {scheme.preset} | {cells} |\n"


def _counts(of: Figures) -> tuple[int, ...]:
    return of.lines, of.nets, of.unread


def _shares(before: Figures, after: Figures) -> tuple[tuple[int, int], ...]:
    return (before.numbers, after.numbers), (before.repeated, after.repeated)


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser("readability", __doc__).parse_args(arguments)
    say(_HEADING + "".join(row(SCHEMES[name]) for name in followed("readability", SCHEMES)))
    return 0

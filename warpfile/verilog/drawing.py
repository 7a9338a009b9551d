"""A machine as a block diagram: text for Graphviz, or an SVG where ``dot`` is there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpfile.verilog.blocks import Block, Diagram, Place, Signals

_SHADES = 6
#: Fill colours from little area to much: of parts that a baseline has, and of those that the scheme adds.
BASE = ("#ffffff", "#eaf1f8", "#d0e1f0", "#aecde6", "#84b1d8", "#5c95c8")
ADDED = ("#fff7ec", "#fee8c8", "#fdd49e", "#fdbb84", "#fc8d59", "#ef6548")
_SIGNALS = 2  #: that a line names; its tooltip has all of them
_WIDE = 64  #: bits, from which on a line is thick


@dataclass(frozen=True)
class Sizes:
    """``areas`` are NAND2 equivalents of one instance of each module, without the parts in it; without them boxes are
    shaded by flip-flops. ``base`` are the modules of the baseline: others are the scheme's own."""

    areas: Mapping[str, float] | None
    base: frozenset[str]

    def of(self, block: Block) -> float:
        """Size of all instances of a block together."""
        if self.areas is None:
            return float(block.flip_flops * block.count)
        return sum(self.areas.get(name, 0.0) * times for name, times in block.parts.items()) * block.count


def graph(found: Diagram, sizes: Sizes, title: str) -> str:
    """Graphviz text: a box per block, a frame around the boxes of a module, an arrow per connection.

    The darker a box, the larger its part of the logic. Boxes of the scheme's own parts are orange.
    """
    total = sum(map(sizes.of, found.blocks)) or 1.0
    lines = [
        "digraph blocks {",
        f"  graph [rankdir=LR, label={_quoted(title)}, labelloc=t, fontname=Helvetica, ranksep=1.2, nodesep=0.3];",
        "  node [shape=box, style=filled, fontname=Helvetica, fontsize=11];",
        "  edge [fontname=Helvetica, fontsize=8, color=gray40];",
    ]
    lines += _boxes((), found, Look(sizes, total), "  ")
    for (source, target), signals in sorted(found.connections.items()):
        lines.append(f"  {_node(source)} -> {_node(target)} [{_arrow(signals)}];")
    lines += _pins(found)
    return "\n".join([*lines, "}"]) + "\n"


@dataclass(frozen=True)
class Look:
    """What decides the colour of a box: ``total`` is the size of the machine."""

    sizes: Sizes
    total: float

    def colour(self, block: Block) -> str:
        """The shade doubles the part of the machine: from 1/64 on, 1/32, 1/16, 1/8, 1/4."""
        share = self.sizes.of(block) / self.total
        shade = min(_SHADES - 1, max(0, math.floor(math.log2(share)) + 7)) if share > 0 else 0
        return (BASE if block.module in self.sizes.base else ADDED)[shade]

    def text(self, block: Block, name: str) -> str:
        """Name, area, flip-flops and memory of one instance."""
        lines = [name + (f" \u00d7 {block.count}" if block.count > 1 else "")]
        if self.sizes.areas is not None:
            lines.append(f"{self.sizes.of(block) / block.count:,.0f} NAND2 equivalents")
        if block.flip_flops:
            lines.append(f"{block.flip_flops:,} flip-flop{'s' if block.flip_flops > 1 else ''}")
        if block.memory_bits:
            lines.append(f"{block.memory_bits / 8 / 1024:,.6g} KiB of SRAM")
        return "\n".join(lines)


def _boxes(place: Place, found: Diagram, look: Look, indent: str) -> Iterator[str]:
    """The own logic of a module, if anything is connected with it, and its parts."""
    for block in found.blocks:
        if block.place == place and place in _ends(found):
            yield f'{indent}{_node(place)} [{_box(block, look, "own logic")}, style="filled,rounded"];'
        elif block.place and block.place[:-1] == place:
            name = block.module.rpartition(".")[2]
            if not block.opened:
                yield f"{indent}{_node(block.place)} [{_box(block, look, name)}];"
                continue
            count = f" \u00d7 {block.count}" if block.count > 1 else ""
            yield f"{indent}subgraph {_quoted('cluster_' + '/'.join(block.place))} {{"
            yield f"{indent}  graph [label={_quoted(name + count)}, style=rounded, color=gray60];"
            yield from _boxes(block.place, found, look, indent + "  ")
            yield f"{indent}}}"


def _ends(found: Diagram) -> set[Place]:
    return {place for pair in found.connections for place in pair} | {*found.inputs} | {*found.outputs}


def _pins(found: Diagram) -> Iterator[str]:
    """Ports of the machine, an arrow for each place that they go to or come from."""
    for inwards, ways in ((True, found.inputs), (False, found.outputs)):
        for name in sorted({name for signals in ways.values() for name in signals}):
            port = _quoted(f"{'in' if inwards else 'out'}:{name}")
            yield f'  {port} [label={_quoted(name)}, shape=cds, fillcolor="#f4f4f4", fontsize=10];'
            for place, signals in sorted(ways.items()):
                if name in signals:
                    ends = (port, _node(place)) if inwards else (_node(place), port)
                    yield f"  {ends[0]} -> {ends[1]} [{_arrow({name: signals[name]}, named=False)}];"


def _box(block: Block, look: Look, name: str) -> str:
    return f"label={_quoted(look.text(block, name))}, fillcolor={_quoted(look.colour(block))}"


def _arrow(signals: Signals, *, named: bool = True) -> str:
    """Label and weight of an arrow: bits, and the names of the widest signals."""
    widest = sorted(signals, key=lambda name: (-signals[name], name))
    bits = sum(signals.values())
    names = ", ".join(widest[:_SIGNALS]) + (f" +{len(widest) - _SIGNALS}" if len(widest) > _SIGNALS else "")
    every = ", ".join(f"{name} {signals[name]:,}" for name in widest)
    label = f"{names}: {bits:,}" if named else f"{bits:,}"
    return f"label={_quoted(label)}, tooltip={_quoted(every)}, penwidth={3 if bits >= _WIDE else 1}"


def _node(place: Place) -> str:
    return _quoted("/".join(place) or "machine")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'

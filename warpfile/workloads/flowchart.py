"""Control flow as a picture: text for Graphviz, or an SVG where ``dot`` is there."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from warpfile import tools
from warpfile.compiler.cfg import STEP
from warpfile.output.files import write_files

DOT = "dot"


def write_flowchart(path: Path, functions: Iterable[Mapping[str, Any]]) -> None:
    """Write functions as ``analyze_function`` gives them, whole or not at all: SVG by its suffix, else Graphviz text.

    Raises ``ValueError`` where there is no ``dot`` to draw with.
    """
    text = graph(functions)
    write_files({path: svg(text) if path.suffix == ".svg" else text})


def svg(text: str) -> str:
    """An SVG of a graph."""
    if tools.find(DOT) is None:
        raise ValueError(f"{tools.missing(DOT)}, or give a FILE.dot")
    done = subprocess.run([DOT, "-Tsvg"], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError(f"dot refuses the graph: {(done.stderr.splitlines() or ['no message'])[0]}")
    return done.stdout


def graph(functions: Iterable[Mapping[str, Any]]) -> str:
    """Graphviz text: a cluster per function, a box per block with its instructions.

    A box with a thick line ends in a branch that may diverge, one with a double line is where a loop is entered. The
    dashed arrow of a branch is the way of the lanes that take it.
    """
    lines = ["digraph control_flow {", "  node [shape=box, fontname=monospace];", "  edge [fontname=monospace];"]
    for number, function in enumerate(functions):
        lines += _cluster(number, function)
    return "\n".join([*lines, "}"]) + "\n"


def _cluster(number: int, function: Mapping[str, Any]) -> Iterator[str]:
    ends = {block["start"]: block["end"] for block in function["blocks"]}
    yield f"  subgraph cluster_{number} {{"
    yield f"    label={_quoted(function['name'])};"
    for start, label, style in _boxes(function):
        yield f"    {_node(number, start)} [label={_quoted(label)}{style}];"
    for source, target in function["edges"]:
        style = "" if target == ends[source] else " [style=dashed]"
        yield f"    {_node(number, source)} -> {_node(number, target)}{style};"
    yield "  }"


def _boxes(function: Mapping[str, Any]) -> Iterator[tuple[int, str, str]]:
    """Start, text and line of every block."""
    headers = {loop["header"] for loop in function["loops"]}
    divergent = {branch["offset"] for branch in function["branches"] if not branch["uniform"]}
    for block in function["blocks"]:
        rows = function["instructions"][block["start"] // STEP : block["end"] // STEP]
        style = ", penwidth=3" if rows[-1]["offset"] in divergent else ""
        style += ", peripheries=2" if block["start"] in headers else ""
        yield block["start"], "".join(f"{row['offset']:04x}  {row['text']}\n" for row in rows), style


def _node(number: int, start: int) -> str:
    return f"f{number}_{start:04x}"


def _quoted(text: str) -> str:
    """A string of Graphviz whose lines stand to the left."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\l") + '"'

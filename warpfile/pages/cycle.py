"""docs/integration.md: which pins depend on which in the same cycle."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from warpfile.output.display import followed
from warpfile.pages.integration import PAGE
from warpfile.pages.writing import page_parser, write_or_check
from warpfile.results.markdown import table
from warpfile.schemes import SCHEMES, TOP, Scheme
from warpfile.spec.structure import RAMS
from warpfile.synth.cones import cones

#: What stands before the table and behind it.
BEFORE, BEHIND = "structural; false paths are included.\n\n", "\n## Timing\n"
PORTS = 3  #: execution ports, and write-back ports, of `tiny`
Cones = Mapping[str, frozenset[str]]


def dependencies(scheme: Scheme, preset: str = "tiny") -> Cones:
    """Of every output of a machine with one lane the inputs that it depends on in the same cycle."""
    cfg = scheme.configuration(preset, lanes=1)
    return cones(scheme.verilog(cfg, probes=False), TOP, RAMS)


def rows(found: Mapping[str, Cones]) -> str:
    """The table: outputs that depend on the same inputs in every scheme share a row; empty where there is none."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for output in dict.fromkeys(name for one in found.values() for name in one):
        cells = tuple(_said(one[output]) if output in one else "" for one in found.values())
        groups.setdefault(cells, []).append(output)
    lines = sorted((_folded(outputs), *inputs) for inputs, outputs in groups.items())
    return table(("output", *(f"`{name}`" for name in found)), lines)


def _said(inputs: frozenset[str]) -> str:
    """Streams instead of their payloads and valid bits."""
    return _folded(sorted({re.sub("__(payload|valid)$", "", name) for name in inputs})) or "-"


def _folded(names: list[str]) -> str:
    """Names with N for a number where all its values are there."""
    folded = [re.sub(r"__\d", "__N", name) for name in names]
    shown = (one if folded.count(one) == PORTS else name for name, one in zip(names, folded, strict=True))
    return ", ".join(f"`{name}`" for name in sorted(set(shown)))


def page(text: str, found: Mapping[str, Cones]) -> str:
    """The page with its table as it should be. Raises ``ValueError`` where it has no place for it."""
    before, mark, rest = text.partition(BEFORE)
    _, end, behind = rest.partition(BEHIND)
    if not mark or not end:
        raise ValueError(f"docs/integration.md must have the lines {BEFORE.strip()!r} and {BEHIND.strip()!r}")
    return before + mark + rows(found) + end + behind


def main(arguments: Sequence[str]) -> int:
    """Write the table."""
    options = page_parser("cycle", __doc__).parse_args(arguments)
    measured = {name: dependencies(SCHEMES[name]) for name in followed("cycle", SCHEMES)}
    return write_or_check(options, {PAGE: page(PAGE.read_text(), measured)}, (rows(measured),))

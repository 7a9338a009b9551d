"""How well generated Verilog can be read, in numbers: ``python -m warpfile.readability`` prints a table."""

from __future__ import annotations

from warpfile.display import followed, say
from warpfile.generate import design, presented
from warpfile.hdl.readable import numbered_share
from warpfile.names import Names
from warpfile.schemes import SCHEMES, Scheme

_HEADING = """\
| scheme | preset | wires and registers | with a number for a name | in the files | longest line | in the files |
|---|---|---:|---:|---:|---:|---:|
"""


def row(scheme: Scheme) -> str:
    """Of one scheme: what the generator gives, and what its files have."""
    cfg = scheme.configuration(scheme.preset)
    _, raw = design(scheme, cfg)
    text = "".join(presented(cfg, raw, Names.of(scheme.name, True, None, None)))
    before, wires = numbered_share(raw)
    after, _ = numbered_share(text)
    lines = [max(map(len, one.splitlines())) for one in (raw, text)]
    counts = f"{wires:,} | {before / wires:.0%} | {after / wires:.0%} | {lines[0]:,} | {lines[1]:,}"
    return f"| `{scheme.name}` | {scheme.preset} | {counts} |\n"


if __name__ == "__main__":
    say(_HEADING + "".join(row(SCHEMES[name]) for name in followed("readability", SCHEMES)))

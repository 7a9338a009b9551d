"""docs/clock-gates.md: which bits of every scheme are behind clock gates, and why the others are not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpfile.pages.writing import DOCS, page_parser, write_or_check
from warpfile.results.designs import designs
from warpfile.results.markdown import table
from warpfile.schemes import SCHEMES
from warpfile.synth.storage import StructureBits, storage

PAGE = DOCS / "clock-gates.md"
_BITS = "bits that are set and cleared one by one, with a reset"
_SHIFTS = "a shift register, new in every cycle"
#: Why an array or a table has no gates, by the name of the structure.
WHY = {
    "scoreboards": _BITS,
    "loads under way": _BITS,
    "mapped bits": _BITS,
    "registers that are scalar": _BITS,
    "registers that are coming": _BITS,
    "free slices": _BITS,
    "reserved rows": _BITS,
    "mask of the extended set": "taken once per kernel, with a reset",
    "address tables": "bits that change one by one, in most cycles",
    "registers of full loads": _BITS,
    "working sets of the places": "taken from a beat or a memory, with a reset",
    "livenesses of the places": _BITS,
    "counts of rows, rows that are ready or marked": "counters with a reset",
    "access counters": "counters with a reset",
    "tags": "no enable of its own: an entry takes another one's tag when a beat comes",
    "sides": "two bits each, with a reset",
    "section table": "five bits each",
    "extended bases of the warps": "with a reset",
    "states, owners, ranks, pins of the entries": "a few bits each, with a reset or new in most cycles",
    "valid, dirty, dead, evict first, pins of the lines": "single bits and counters, with a reset",
    "operands in flight": _SHIFTS,
    "forward history": _SHIFTS,
    "names of forwarded results": _SHIFTS,
    "port schedule": _SHIFTS,
    "data of W0 and W1": "of W0: any later cycle merges lanes into it, beside its present bit",
    "data of T, W0 and W1": "of W0: any later cycle merges lanes into it, beside its present bit",
    "control, allocate, window": "stages of a pipeline",
    "channels": "a counter and a state each",
    "control of the main banks": "requests, new in most cycles",
}
OTHERS = "control: with a reset, or new in most cycles"
_INTRODUCTION = """\
# What is clock-gated

Written by `python -m warpfile.pages clock_gates`. With `--clock-gating` ([area.md](area.md#clock-gates)) these bits of
every scheme, at its own preset, are behind clock gates. Memories are not listed. Where part of a structure has gates,
the others are valid bits, states and stages, which are reset or new in most cycles, unless its row says why. The last
row sums up structures without gates that are no table and no array of operands.
"""


def main(arguments: Sequence[str]) -> int:
    """Generate every scheme with clock gates, and write the page."""
    options = page_parser("clock_gates", __doc__).parse_args(arguments)
    return write_or_check(options, {PAGE: "\n".join(_page())})


def _page() -> Iterator[str]:
    yield _INTRODUCTION
    for one in designs(("all",), None, ("clock_gating=arrays",)):
        yield f"## `{one.scheme.name}`, `{one.preset}`\n"
        verilog = one.scheme.verilog(one.config, probes=False)
        yield table(("structure", "bits", "gated", "why not"), rows(storage(one.scheme, one.config, verilog)))


def rows(structures: Sequence[StructureBits]) -> Iterator[tuple[str, str, str, str]]:
    """Of each structure with gates, or a reason for none: bits, those behind gates, the reason; then all others."""
    others = 0
    for one in structures:
        if one.kind == "memory":
            continue
        if one.gated or one.name in WHY:
            yield one.name, f"{one.bits:,}", f"{one.gated:,}", WHY.get(one.name, "") if one.gated < one.bits else ""
        else:
            others += one.bits
    yield "all others", f"{others:,}", "0", OTHERS


def known() -> set[str]:
    """Names of the structures of all schemes."""
    return {one.name for scheme in SCHEMES.values() for one in scheme.stored}

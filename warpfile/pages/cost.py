"""docs/cost.md: what every scheme costs at its own preset, from the kept figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from warpfile.pages.headline import section
from warpfile.pages.writing import DOCS, page_parser, write_or_check
from warpfile.results.claims import DENSE
from warpfile.results.designs import BASELINE
from warpfile.results.markdown import percent, signed, table
from warpfile.schemes import SCHEMES
from warpfile.synth.figures import KEPT, POINTS, read_figures
from warpfile.synth.overhead import NAND2_PER_BIT

PAGE = DOCS / "cost.md"
#: Modules below this share of a scheme's logic are summed up.
SMALL = 0.005

Facts = Mapping[str, Any]  #: what ``warpfile area --json`` has of one scheme


def main(arguments: Sequence[str]) -> int:
    """Write the page."""
    options = page_parser("cost", __doc__).parse_args(arguments)
    return write_or_check(options, {PAGE: "\n".join(_page(read_figures(KEPT), read_figures(POINTS)["schemes"]))})


def _page(kept: Facts, points: Mapping[str, Facts]) -> Iterator[str]:
    own: dict[str, Facts] = {name: kept["schemes"][name] for name in SCHEMES}
    libraries = list(own[BASELINE]["critical_paths"])
    measure = " ".join(("warpfile area all", *(f"--delays {name}" for name in libraries)))
    yield "# What the schemes cost\n"
    yield "Written by `python -m warpfile.pages cost` from the figures in `synth/figures`, which"
    yield f"`{measure} --json synth/figures/` measures. [area.md](area.md) describes the method."
    yield f"{kept['tool']}, library {kept['liberty']}. The rows are every scheme at its own preset,"
    yield "32 lanes; if its paper costs a design with other fields, that design comes first.\n"
    yield section(own)
    rows = dict(_rows(own, points))
    yield "## Cells\n"
    columns = ("scheme", "preset", "cells", "flip-flops", "NAND2 eq.", "memory bits", "levels")
    yield table(columns, (_sizes(*row) for row in rows.items()))
    yield "[arrays.md](arrays.md) has memories and small arrays as latches and as macros of open PDKs,"
    yield "[fpga.md](fpga.md) the register banks on FPGAs.\n"
    yield "## Over the baseline of the same preset, operands in flip-flops\n"
    columns = ("scheme", "logic", "storage", *(f"total, {name}" for name in NAND2_PER_BIT))
    yield table(columns, (_growth(*row) for row in rows.items() if row[0] != BASELINE))
    yield "A growth marked ~ is within the noise of the tools. The total is logic, and memory bits at that density.\n"
    for library in libraries:
        yield f"## Critical paths, {library}\n"
        yield "Buffer trees have at most 16 sinks. There are no wires, and the clock is ideal."
        yield "The baseline has the same preset.\n"
        columns = ("scheme", "ns", "baseline, ns", "ratio", "cells", "buffers added", "from", "to")
        yield table(columns, (_path(name, facts["critical_paths"][library]) for name, facts in rows.items()))
    for row in rows.items():
        yield from _scheme(*row)


def _rows(own: Mapping[str, Facts], points: Mapping[str, Facts]) -> Iterator[tuple[str, Facts]]:
    for name, facts in own.items():
        if point := SCHEMES[name].point:
            yield " ".join((name, *(f"{field}={value}" for field, value in point.items()))), points[name]
        yield name, facts


def _memory_bits(facts: Facts) -> int:
    return sum(facts["storage_bits"]["memories"].values())


def _sizes(name: str, facts: Facts) -> tuple[object, ...]:
    sizes = (facts["cells"], facts["flip_flops"], round(facts["nand2_equivalents"]), _memory_bits(facts))
    return (name, facts["preset"], *(f"{size:,}" for size in sizes), facts["logic_levels"])


def _growth(name: str, facts: Facts) -> tuple[str, ...]:
    grown = facts["overhead"]
    return (name, _over(grown), *map(signed, (grown["storage"], *grown["total"].values())))


def _path(name: str, path: Facts) -> tuple[object, ...]:
    if path["nanoseconds"] is None:
        return (name, *["-"] * 5, path["reason"], "")
    buffers, ratio = (path["fan_out"] or {}).get("buffers", 0), path.get("of_baseline")
    over = (f"{path['nanoseconds'] / ratio:.2f}", f"{ratio:.2f}") if ratio else ("-", "-")
    ends = (f"`{path['start']}`", f"`{path['end']}`")
    # A path that is kept of an earlier design says so.
    name += f" ({path['reason']})" if path["reason"] else ""
    return (name, f"{path['nanoseconds']:.2f}", *over, len(path["cells"]), buffers, *ends)


def _scheme(name: str, facts: Facts) -> Iterator[str]:
    yield f"## `{name}`\n"
    yield table(("stored", "kind", "bits", "published", "ratio", "why"), map(_stored, facts["structures"]))
    if facts["claims"]:
        yield table(("claimed", "paper", "ours", "ratio", "source", "why"), map(_claimed, facts["claims"]))
        yield f"The area of the register file is its bits at {DENSE}.\n"
    columns = ("module", "instances", "NAND2 eq., all", "share", "levels", "over the baseline's")
    yield table(columns, _modules(facts["modules"], facts["nand2_equivalents"], facts["overhead"]["modules"]))


def _stored(row: Facts) -> tuple[object, ...]:
    bits, published = row["bits"], row["published"]
    beside = ("-", "-") if published is None else (f"{published:,}", f"{bits / published:.2f}" if published else "-")
    return (row["name"], row["kind"], f"{bits:,}", *beside, row["why"] or "-")


def _claimed(claim: Facts) -> tuple[object, ...]:
    ours, published = claim["ours"], claim["published"]
    shares = (f"{published:.2%}", f"{ours:.2%}", f"{ours / published:.2f}")
    return (claim["what"], *shares, claim["source"], claim["why"] or "-")


def _modules(modules: Iterable[Facts], total: float, growth: Mapping[str, Facts]) -> Iterator[tuple[object, ...]]:
    """The large modules, the schedulers, and the sum of the rest."""
    shown = [module for module in modules if _size(module) >= SMALL * total or "scheduler" in module["name"]]
    for module in sorted(shown, key=_size, reverse=True):
        name = module["name"]
        share = (module["instances"], f"{_size(module):,.0f}", percent(_size(module) / total))
        yield (f"`{name}`", *share, module["logic_levels"], _over(growth.get(name)))
    rest = total - sum(map(_size, shown))
    yield ("all others", "-", f"{rest:,.0f}", percent(rest / total), "-", "-")


def _over(growth: Facts | None) -> str:
    if growth is None or growth["logic"] is None:
        return "-"
    return ("~" if growth["noise"] else "") + signed(growth["logic"])


def _size(module: Facts) -> float:
    return float(module["nand2_equivalents"]) * int(module["instances"])

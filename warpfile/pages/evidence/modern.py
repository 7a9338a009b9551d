"""What the read window does on the bundled kernels, next to its paper and to other register files in its machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from warpfile.pages.evidence.claims import Claim, Guess, Without, claims_table
from warpfile.pages.evidence.study import FEW, Outcome, Point, Study
from warpfile.results.markdown import percent, signed, table
from warpfile.results.spread import Spread
from warpfile.synth.figures import KEPT, read_figures
from warpfile.tools import OSU018

PRESET = "turing_rfc"
BASELINE, MODERN = Point("baseline", PRESET), Point("modern", PRESET)
OFF = MODERN.but(reuse_cache="off")
TWO, THREE = OFF.but(read_ports=2), OFF.but(read_ports=3)
SCOREBOARD = MODERN.but(dependences="scoreboard")
#: Kernels beside those of the paper: a long run of multiply-adds on registers, and a product of matrices in registers.
FLOPS, PRODUCT = "unrolled_poly", "matmul_registers"
#: Register files in one machine, beside the baseline.
FILES = {
    "modern": MODERN,
    "modern, scoreboard": SCOREBOARD,
    "malekeh": Point("malekeh", PRESET),
    "bow_wr": Point("bow_wr", PRESET),
    "rfc": Point("rfc", PRESET),
}
#: The baseline under the scheduler of `modern`, with its order of decode.
CGGTY = Point("baseline+cggty", PRESET).but(decode_order="follow")
NARROW = BASELINE.but(ports=3, write_back_ports=3)
#: Readers of a fixed result as late as in the baseline: its latency and four cycles (docs/schemes/baseline.md).
FAR = SCOREBOARD.but(alu_latency=6, fma_latency=6)
KERNELS = Guess("other kernels, code for another GPU")


def whole(point: Point) -> Point:
    """The same with fixed units as wide as a warp, as on the paper's RTX A6000."""
    return point.but(unit_interval=1)


def page(study: Study) -> str:
    """The generated part of the scheme's page."""
    return "\n".join(_sections(study))


def _sections(study: Study) -> Iterator[str]:
    yield f"Preset `{PRESET}`, control codes of the compiler for sm_75; of large launches, too, a mean is that of"
    yield f"{len(FEW)} runs. The paper's figures are of 128 benchmarks on a model of an RTX A6000. `{FLOPS}` stands"
    yield f"beside its MaxFlops, `{PRODUCT}` beside sgemm of CUTLASS. *Fixed*: of fixed latency.\n"
    yield "## Paper says, we measure\n"
    yield claims_table(claims(study))
    yield "## Ports and reuse cache\n"
    yield "Small launches; IPC over that of one read port per bank and the cache. *Freezes*: per issued instruction.\n"
    columns = ("ports, cache", "IPC", FLOPS, PRODUCT, "wide_accumulate", "freezes", "whole-warp units: IPC", PRODUCT)
    yield table(columns, (_ports(study, ports, kept) for ports in (1, 2, 3) for kept in ("on", "off")))
    yield from _one_machine(study)
    yield "## What it stores\n"
    yield f"Bits of the netlist at `{PRESET}`, and those that paper or page state; `warpfile area modern`.\n"
    stored = (
        (one["name"], f"{one['bits']:,}", _stated(one["published"])) for one in _figures()["modern"]["structures"]
    )
    yield table(("structure", "bits", "stated"), stored)
    yield "## Kernel by kernel\n"
    yield "Instructions with a mark of reuse in the listing; kept operands that are found; sources of fixed beats that"
    yield "the cache serves; freezes per thousand instructions; IPC.\n"
    columns = ("kernel", "marks", "found", "served", "freezes", "IPC baseline", *FILES, "no cache", "two ports")
    yield table(columns, (kernel_row(study, kernel) for kernel in study.kernels))


def claims(study: Study) -> Iterator[Claim]:
    """The paper's claims."""
    yield from _table_6(study)
    slower = Without("small launches", _gain(study, SCOREBOARD.small, MODERN.small))
    yield Claim(
        "IPC with a scoreboard in place of codes (Tab. 7, as many readers as there are)",
        "-2%",
        _gain(study, SCOREBOARD, MODERN),
        signed,
        (slower, Guess("codes wait 12 cycles and more for a predicate, the scoreboard until it is there")),
    )
    for kernel, paper in ((FLOPS, "1.3% (MaxFlops)"), (PRODUCT, "37.9% (sgemm)")):
        share = study.spread(lambda one, kernel=kernel: marked(one, kernel), FEW)
        yield Claim("instructions with a mark of reuse (section 7.4)", paper, share, percent, (), kernel)
    for metric, share in (("kept operands that are found", found), ("fixed sources that the cache serves", served)):
        yield Claim(metric, "-", _mean(study, MODERN, share), percent)
    growth = study.spread(lambda one: one.mean(MODERN, reads) / one.mean(OFF, reads) - 1, FEW)
    yield Claim("bank reads with the cache", "-", growth, signed)


def _table_6(study: Study) -> Iterator[Claim]:
    rows = {
        "IPC without the cache": (OFF, ("-2.6%", "0%", "-31%")),
        "IPC without it, two read ports": (TWO, ("+0.6%", "+45%", "+2%")),
        "IPC without it, three read ports": (THREE, ("+0.8%", "+45%", "+2%")),
    }
    for metric, (point, papers) in rows.items():
        small = Without("small launches", _gain(study, point.small, MODERN.small))
        wide = Without("and units of a whole warp", _gain(study, whole(point).small, whole(MODERN).small))
        yield Claim(f"{metric} (Tab. 6)", papers[0], _gain(study, point, MODERN), signed, (small, wide, KERNELS))
        for kernel, paper in zip((FLOPS, PRODUCT), papers[1:], strict=True):
            ours, wider = (_gain(study, change(point), change(MODERN), kernel) for change in (_same, whole))
            causes = Without("units of a whole warp", wider), KERNELS
            yield Claim(f"{metric} (Tab. 6)", paper, ours, signed, causes, kernel)


def _same(point: Point) -> Point:
    return point


def _ports(study: Study, ports: int, kept: str) -> tuple[str, ...]:
    changes: dict[str, object] = ({"read_ports": ports} if ports > 1 else {}) | (
        {} if kept == "on" else {"reuse_cache": kept}
    )
    point, base = MODERN.small.but(**changes), MODERN.small
    gains = [_gain(study, point, base, kernel) for kernel in ("", FLOPS, PRODUCT, "wide_accumulate")]
    wider = [_gain(study, whole(point), whole(base), kernel) for kernel in ("", PRODUCT)]
    freezes = _mean(study, point, lambda run: run["freezes"] / run.instructions)
    return (f"{ports}, {kept}", *map(signed, gains), percent(freezes), *map(signed, wider))


def _one_machine(study: Study) -> Iterator[str]:
    yield "## One machine, five register files\n"
    yield f"All at `{PRESET}`: eight warps, two banks with one read and one write port, the same latencies from"
    yield "dispatch to result, the same memory; large launches, over the baseline. Collectors and scheduler are each"
    yield "scheme's own: two units (`baseline`, `malekeh`, `rfc`), a window for every warp (`bow_wr`), none"
    yield "(`modern`). The papers of the others have more banks, that of `rfc` many more warps. A reader of a fixed"
    yield "result issues 4 cycles after its producer in `modern`, 7 in the baseline. Logic of 32 lanes without the"
    yield f"banks, as `warpfile area SCHEME --preset {PRESET} --delays {OSU018.name}` counts it.\n"
    columns = ("register file", "IPC", "bank reads", "bank writes", "NAND2 eq.", "flip-flops", "critical path, ns")
    yield table(columns, (_file(study, name, point) for name, point in {"baseline": BASELINE, **FILES}.items()))
    yield "Parts of `modern` one by one; small launches:\n"
    rows = {
        "`modern` over `baseline`": (MODERN, BASELINE),
        "with a scoreboard": (SCOREBOARD, BASELINE),
        "with a scoreboard, readers 7 cycles behind producers": (FAR, BASELINE),
        "over `baseline+cggty` that decodes in the same order": (MODERN, CGGTY),
        "over the baseline with three execution and write-back ports": (MODERN, NARROW),
        "without the reuse cache": (OFF, BASELINE),
    }
    pairs = ((name, _gain(study, one.small, other.small)) for name, (one, other) in rows.items())
    yield table(("runs", "IPC"), ((name, signed(gain)) for name, gain in pairs))


def _file(study: Study, name: str, point: Point) -> tuple[str, ...]:
    grown = [_over(study, point, counter) for counter in ("bank_reads", "bank_writes")]
    run = ("-",) * 3 if point == BASELINE else tuple(map(signed, (_gain(study, point, BASELINE), *grown)))
    return (name, *run, *_cost(point.scheme if point != SCOREBOARD else ""))


def _cost(scheme: str) -> tuple[str, str, str]:
    """What a scheme costs in this machine, of kept figures."""
    if scheme not in _figures():
        return "-", "-", "-"
    kept = _figures()[scheme]
    nanoseconds = kept["critical_paths"][OSU018.name]["nanoseconds"]
    return f"{kept['nand2_equivalents']:,.0f}", f"{kept['flip_flops']:,}", f"{nanoseconds:.2f}"


def _stated(bits: int | None) -> str:
    return "-" if bits is None else f"{bits:,}"


@cache
def _figures() -> Mapping[str, Any]:
    schemes: Mapping[str, Any] = read_figures(KEPT / PRESET)["schemes"] | read_figures(KEPT / "modern.json")["schemes"]
    assert all(one["preset"] == PRESET for one in schemes.values())
    return schemes


def marked(study: Study, kernel: str) -> float:
    """Share of the instructions of a kernel's code, NOPs aside, that have a mark of reuse."""
    code = [one for one in study.reuse(kernel).trace.program if one.opcode != "NOP"]
    return sum(".reuse" in one.text for one in code) / max(1, len(code))


def found(run: Outcome) -> float:
    """Share of the operands that are kept which a later beat finds; all where none is kept."""
    return run["rfc_hits"] / run["rfc_allocations"] if run["rfc_allocations"] else 1.0


def served(run: Outcome) -> float:
    """Share of the operand positions of fixed beats that the cache serves."""
    return run["rfc_hits"] / max(1, run["fixed_sources"])


def reads(run: Outcome) -> float:
    """Bank reads per instruction."""
    return run["bank_reads"] / run.instructions


def _over(study: Study, point: Point, counter: str) -> Spread:
    def growth(one: Study, kernel: str) -> float:
        return one.of(point, kernel)[counter] / max(1, one.of(BASELINE, kernel)[counter]) - 1

    return study.spread(lambda one: one.over_kernels(lambda kernel: growth(one, kernel)), FEW)


def _gain(study: Study, point: Point, over: Point, kernel: str = "") -> Spread:
    """Of all kernels, or of one."""
    if kernel:
        return study.spread(lambda one: one.gain(kernel, point, over), FEW)
    return study.spread(lambda one: one.speedup(point, over), FEW)


def _mean(study: Study, point: Point, share: Callable[[Outcome], float]) -> Spread:
    return study.spread(lambda one: one.mean(point, share), FEW)


def kernel_row(study: Study, kernel: str) -> tuple[object, ...]:
    """The row of a kernel in the last table, of runs at seed 0."""
    ours = study.of(MODERN, kernel)
    kept = percent(found(ours)) if ours["rfc_allocations"] else "-"
    rates = (f"{study.of(point, kernel).ipc:.3f}" for point in (BASELINE, *FILES.values(), OFF, TWO))
    freezes = f"{1000 * ours['freezes'] / ours.instructions:.1f}"
    return (kernel, percent(marked(study, kernel)), kept, percent(served(ours)), freezes, *rates)

"""Micro-benchmarks: cycles of single kinds of instructions beside what was measured or simulated elsewhere.

The table of docs/micro.md. A benchmark is one kind of instruction, many times over, behind a few that prepare
its registers. The difference of the cycles of a long one and a short one leaves out start and end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from warpfile.compiler import parse
from warpfile.emulator.arguments import Argument
from warpfile.emulator.launch import Launch
from warpfile.emulator.run import execute
from warpfile.pages.writing import DOCS, page_parser, with_tables, write_or_check
from warpfile.results.markdown import table as markdown
from warpfile.results.run import golden_run
from warpfile.schemes import find
from warpfile.spec.presets import PRESETS
from warpfile.spec.trace import LANES, Trace

COLUMNS = ("instruction", "scheme", "preset", "cycles here", "elsewhere", "error", "source")
PAGE = DOCS / "micro.md"
SHORT, LONG = 32, 96  #: instructions under test
_BUFFER = LONG * LANES * 128  #: bytes: a line for every lane of every load
_START = (
    "S2R R0, SR_TID.X",
    "MOV R2, c[0x0][0x160]",
    "MOV R3, c[0x0][0x164]",
    "LOP3.LUT R1, R0, 0x1f, RZ, 0xc0, !PT",
    "SHF.L.U32 R6, R1, 0x2, RZ",
    "IMAD.WIDE R4, R1, 0x4, R2",
    "IMAD.WIDE R8, R1, 0x80, R2",
)


@dataclass(frozen=True)
class Known:
    """Cycles per instruction that hardware or another simulator takes, and the machine of ours that stands for it."""

    cycles: float
    source: str
    presets: tuple[str, ...]
    scheme: str = "baseline"


@dataclass(frozen=True)
class Benchmark:
    """``text`` makes the instruction number n; ``warps`` of each domain run it."""

    name: str
    text: Callable[[int], str]
    warps: int
    known: tuple[Known, ...]


def _turning(line: str, first: int = 16, count: int = 8, step: int = 1) -> Callable[[int], str]:
    """Destinations in turn, so that no instruction waits for another."""
    return lambda number: line.format(first + number % count * step)


_TURING = ("turing", "turing_rfc")
_HUERTA = "Huerta et al., MICRO 2025"
_H100 = "measured on an H100 (docs/hardware.md)"
_CHAIN = (
    Known(4, f"{_HUERTA}, section 5.3: from issue to a dependent issue", ("ampere",), "modern"),
    Known(4, _H100, ("hopper",), "modern"),
)
_SIMULATED = Known(7, "GPGPU-Sim SM86_RTX3070, measured, with the same latency of the unit", ("turing",))
_BUSY = "measured on RTX 2060 and 2070 with all four domains busy"
_ACCESS = (Known(8, _BUSY, _TURING), Known(8, f"{_HUERTA}, Tab. 1", ("ampere",)))
_OLDER = (
    Known(9, "GPGPU-Sim: latency 4, and 5 from issue to execution and back", ("pascal", "pascal_larf", "kepler")),
    Known(10, "GPGPU-Sim: latency 4, and 6 from issue to execution and back", ("fermi", "fermi_linear")),
)
BENCHMARKS = (
    Benchmark(
        "FFMA, three registers",
        _turning("FFMA R{}, R2, R3, R5"),
        8,
        (
            Known(2.05, "GPGPU-Sim SM75_RTX2060, measured; hardware: units of half a warp, 2", _TURING),
            Known(2, "hardware: two of the three registers are in one of two banks", ("ampere",)),
            Known(1.85, f"{_H100}: two of the three registers are in one of two banks", ("hopper",)),
        ),
    ),
    Benchmark("FADD chain", lambda number: "FADD R16, R16, R3", 1, (_SIMULATED, *_CHAIN, *_OLDER)),
    Benchmark(
        "FFMA chain",
        lambda number: "FFMA R16, R2, R3, R16",
        1,
        (Known(7, "GPGPU-Sim: latency 2, and 5 from issue to execution and back", ("turing",)), *_CHAIN),
    ),
    Benchmark(
        "LDS chain",
        lambda number: "LDS.U R16, [R16]",
        1,
        (
            Known(23, "measured on an RTX 2070", _TURING),
            Known(24, f"{_HUERTA}, Tab. 2", ("ampere",), "modern"),
            Known(23, _H100, ("hopper",), "modern"),
        ),
    ),
    Benchmark("MUFU chain", lambda number: "MUFU.RSQ R16, R16", 1, (Known(17, _H100, ("hopper",), "modern"),)),
    Benchmark("LDS", _turning("LDS.U R{}, [R6]"), 8, _ACCESS),
    Benchmark("LDG, 32 bits, hit", _turning("LDG.E.SYS R{}, [R4]"), 8, _ACCESS),
    Benchmark(
        "LDG, a line per lane",
        lambda number: f"LDG.E.SYS R{16 + number % 8}, [R8+{number * LANES * 128:#x}]",
        1,
        (Known(132, "32 sectors at 32 bytes per cycle and SM, all four domains at once", _TURING),),
    ),
    Benchmark("MUFU", _turning("MUFU.RCP R{}, R2"), 8, (Known(8, "four lanes per domain", (*_TURING, "ampere")),)),
    Benchmark(
        "DFMA",
        _turning("DFMA R{}, R2, R4, R6", step=2, count=4),
        8,
        (Known(64, "two lanes per SM", (*_TURING, "ampere")),),
    ),
)


def _launch(benchmark: Benchmark, length: int, domains: int) -> Launch:
    lines = [*_START, *(benchmark.text(number) for number in range(length)), "EXIT"]
    text = "\t\tFunction : micro\n" + "".join(f"        /*{16 * n:04x}*/   {one} ;\n" for n, one in enumerate(lines))
    listing = parse(text, "micro")
    buffer = Argument("buffer", "buffer", init=np.zeros(_BUFFER, dtype=np.uint8))
    return Launch(
        path=Path("micro"),
        listing=listing,
        function=listing.functions["micro"],
        grid=(1, 1, 1),
        block=(LANES * benchmark.warps * domains, 1, 1),
        static_shared=0,
        dynamic_shared=4096,
        arguments=(buffer,),
    )


@cache
def traced(name: str, length: int, domains: int) -> Trace:
    """The trace of a benchmark that runs so many instructions under test in every warp."""
    (benchmark,) = (one for one in BENCHMARKS if one.name == name)
    return execute(_launch(benchmark, length, domains)).trace


def cycles(benchmark: Benchmark, preset: str, scheme: str = "baseline", **changes: object) -> float:
    """Cycles of a domain per instruction under test; ``changes`` are other values of fields."""
    cfg = find(scheme).configuration(preset, **changes)
    short, long = (
        golden_run(find(scheme), cfg, preset, traced(benchmark.name, length, cfg.domains), _silent).cycles
        for length in (SHORT, LONG)
    )
    return (long - short) / ((LONG - SHORT) * benchmark.warps)


def _silent(stage: str, done: int = 0, total: int = 0) -> None:
    """These runs are short."""


def table(presets: Sequence[str]) -> Iterator[tuple[str, str, str, float, float, str]]:
    """Benchmark, scheme, preset, cycles here, cycles there, source."""
    for one in BENCHMARKS:
        for known in one.known:
            for preset in known.presets:
                if preset in presets:
                    changes = {"dependences": "scoreboard"} if known.scheme == "modern" else {}
                    ours = cycles(one, preset, known.scheme, **changes)
                    yield one.name, known.scheme, preset, ours, known.cycles, known.source


def page_rows(presets: Sequence[str]) -> Iterator[tuple[object, ...]]:
    """The rows of the table, as they are printed."""
    for name, scheme, preset, ours, theirs, source in table(presets):
        yield name, f"`{scheme}`", f"`{preset}`", f"{ours:.2f}", f"{theirs:g}", f"{ours / theirs - 1:+.0%}", source


def main(arguments: Sequence[str]) -> int:
    """Write the table of all presets, or print that of the named ones."""
    parser = page_parser("micro", __doc__)
    parser.add_argument("presets", metavar="PRESET", nargs="*", help="print the rows of these; default: all")
    options = parser.parse_args(arguments)
    for one in options.presets:
        if one not in PRESETS:
            parser.error(f"PRESET must be one of {', '.join(PRESETS)}, not {one}")
    made = markdown(COLUMNS, page_rows(options.presets or tuple(PRESETS)))
    options.printed |= bool(options.presets)
    return write_or_check(options, {PAGE: with_tables(PAGE.read_text(), (made,))}, (made,))

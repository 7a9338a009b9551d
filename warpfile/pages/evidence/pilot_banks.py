"""The tables of docs/schemes/pilot.md, section 14.

How long an access occupies its bank, beside the paper, and when the compiler's list is kept. Large launches, one run
of every kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from warpfile.compiler.passes.pilot.annotate import annotate
from warpfile.compiler.passes.pilot.exact import accesses
from warpfile.compiler.passes.pilot.static import hottest
from warpfile.output.display import progress
from warpfile.pages.evidence.pilot import BASELINE, PARTS, fast_share
from warpfile.pages.evidence.study import Study, runs_of, studied
from warpfile.pages.writing import DOCS, page_parser, with_tables, write_or_check
from warpfile.results.markdown import percent, signed, table
from warpfile.results.points import Point
from warpfile.spec.config import Config
from warpfile.spec.schemes.pilot import PilotConfig
from warpfile.spec.trace import Trace
from warpfile.workloads.inputs import bundled_kernels

PAGE = DOCS / "schemes" / "pilot.md"
PUBLISHED = ("paper", "-7.1%", "-2%", "-0.5%", "-2.4%")
#: What is said of a bank, and the values of ``bank_occupancy``.
BANKS = {"occupied as long as an access takes: `length`": "length", "pipelined: `one`": "one"}
COLUMNS = ("banks", "all slow", "fast and slow part", "4 cycles over 3", "5 over 3")
MOVES = ("versioned", "instant", "migrate")
POINT = 0.01  #: of all accesses; by less two maps are alike


def slow(occupancy: str) -> Point:
    """The baseline, all of whose banks are as slow as the slow part."""
    return BASELINE.with_changes(bank_cycles=3, bank_occupancy=occupancy)


def split(occupancy: str, cycles: int = 3) -> Point:
    """The scheme with such a slow part."""
    return PARTS.with_changes(slow_cycles=cycles, bank_occupancy=occupancy)


def taken(remap: str, pilot_map: str) -> Point:
    """The scheme, with what resident warps do, and when the pilot's map is taken."""
    return PARTS.with_changes(remap=remap, pilot_map=pilot_map)


def wanted() -> Iterator[Point]:
    """All machines that are run."""
    yield BASELINE
    for occupancy in BANKS.values():
        yield slow(occupancy)
        yield from (split(occupancy, cycles) for cycles in (3, 4, 5))
    yield from (taken(remap, pilot_map) for remap in MOVES for pilot_map in ("always", "checked"))


def banks_table(study: Study) -> str:
    """IPC over the baseline, and of slower slow parts over that of three cycles."""
    return table(COLUMNS, (PUBLISHED, *(_row(study, name, occupancy) for name, occupancy in BANKS.items())))


def _row(study: Study, name: str, occupancy: str) -> tuple[str, ...]:
    three = split(occupancy)
    over = [study.speedup(slow(occupancy), BASELINE), study.speedup(three, BASELINE)]
    return name, *map(signed, (*over, *(study.speedup(split(occupancy, cycles), three) for cycles in (4, 5))))


def kept_table(study: Study) -> str:
    """Kernels whose list is kept: what the fast part serves with either map, by what resident warps do."""
    columns = ("kernel", *(f"{remap}, {what}" for remap in MOVES for what in ("the pilot's", "the list's")))
    return table(columns, (_kept_row(study, kernel) for kernel in study.kernels if _is_kept(study, kernel)))


def _is_kept(study: Study, kernel: str) -> bool:
    return study.of(taken("versioned", "checked"), kernel)["lists_kept"] > 0


def _kept_row(study: Study, kernel: str) -> tuple[str, ...]:
    points = (taken(remap, pilot_map) for remap in MOVES for pilot_map in ("always", "checked"))
    return kernel, *(percent(fast_share(study.of(point, kernel))) for point in points)


def judged(cfg: Config, trace: Trace) -> Iterator[tuple[float, bool]]:
    """Of every warp, taken as the pilot: by how much of all accesses its map serves more than the list, and whether the
    list is kept."""
    assert isinstance(cfg, PilotConfig)
    every, registers = accesses(trace), range(cfg.register_names)
    descriptor = annotate(cfg, trace, None).descriptor
    listed = [register for register in descriptor.values() if register != cfg.marker]
    for first, end in zip(trace.warp_start, trace.warp_start[1:], strict=False):
        own = accesses(trace, slice(int(first), int(end)))
        found = hottest(own, cfg.fast_registers)
        rest = (register for register in registers if register not in found)
        found += tuple(next(rest) for _ in range(cfg.fast_registers - len(found)))
        gain = sum(every[register] for register in found) - sum(every[register] for register in listed)
        yield gain / max(1, every.total()), any(not own[register] for register in listed)


def pilots_table(traces: Mapping[str, Iterable[tuple[Config, Trace]]]) -> str:
    """All warps of all kernels as pilots, each kernel's counting as one: whose list is kept, by size of the launch."""
    sizes = [[[(_kind(gain), kept) for gain, kept in judged(*one)] for one in some] for some in traces.values()]

    def share(kernels: list[list[tuple[str, bool]]], *wanted: tuple[str, bool]) -> str:
        return percent(sum(sum(one in wanted for one in found) / len(found) for found in kernels) / len(kernels))

    def shares(kind: str) -> Iterator[str]:
        for kernels in sizes:
            yield from (share(kernels, (kind, True), (kind, False)), share(kernels, (kind, True)))

    columns = ("the pilot's map", *(column for size in traces for column in (f"warps, {size}", "list kept")))
    return table(columns, ((kind, *shares(kind)) for kind in ("worse", "alike", "better")))


def _kind(gain: float) -> str:
    return "worse" if gain < -POINT else "better" if gain > POINT else "alike"


def main(arguments: Sequence[str]) -> int:
    """Run all and write the tables."""
    options = page_parser("pilot_banks", __doc__).parse_args(arguments)
    kernels = tuple(bundled_kernels())
    with progress("pilot's banks") as report:
        study = studied(runs_of(wanted(), (0,), kernels), report)
    runs = {name: runs_of((point,), (0,), kernels) for name, point in (("large", PARTS), ("small", PARTS.small))}
    traces = {name: [(run.config, run.trace) for run in some] for name, some in runs.items()}
    tables = (banks_table(study), kept_table(study), pilots_table(traces))
    return write_or_check(options, {PAGE: with_tables(PAGE.read_text(), tables)}, tables)

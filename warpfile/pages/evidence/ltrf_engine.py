"""The tables of docs/schemes/ltrf.md, section 14.

What each piece of what moves registers is worth, and what it makes of main accesses. One run of every kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from warpfile.output.display import progress
from warpfile.pages.evidence.ltrf import BASELINE, LTRF, PLUS, main_accesses
from warpfile.pages.evidence.study import Study, runs_of, studied
from warpfile.pages.writing import DOCS, page_parser, with_tables, write_or_check
from warpfile.results.markdown import percent, signed, table
from warpfile.results.points import Point
from warpfile.workloads.inputs import bundled_kernels

PAGE = DOCS / "schemes" / "ltrf.md"
#: Large launches of which registers limit the warps that are resident.
PRESSED = ("conv_layer", "matmul_registers", "particle_boxes", "unrolled_poly", "wide_accumulate")
_LATE: dict[str, object] = {"moved_back": "dirty", "suspend_load": "needed", "suspend_barrier": "needed"}
_SPARED: dict[str, object] = _LATE | {"recall": "spared"}
_WIDE: dict[str, object] = {"interval_registers": 32}
#: What is changed in the preset, each piece taken back and added one at a time.
ROWS: dict[str, dict[str, object]] = {
    "the preset": {},
    "without duplex": {"duplex": 0},
    "without latches": {"latches": 0},
    "without both": {"duplex": 0, "latches": 0},
    "suspended at the miss notice (`outstanding`)": {"suspend": "outstanding"},
    "dirty registers alone go back": {"moved_back": "dirty"},
    "the same, and places kept until needed": _LATE,
    "the same, and no recall before a PREFETCH": _SPARED,
    "N = 32": _WIDE,
    "N = 32, dirty, kept until needed": _WIDE | _LATE,
    "N = 32, all three": _WIDE | _SPARED,
}
BEST = "N = 32, all three"
COLUMNS = (
    "changed",
    "small: `ltrf`",
    "`ltrf_plus`",
    "main accesses",
    "large, pressed: `ltrf`",
    "`ltrf_plus`",
    "accesses",
)


def wanted(setting: str) -> Iterator[Point]:
    """All points of the table in a setting."""
    yield replace(BASELINE, setting=setting)
    for scheme in (LTRF, PLUS):
        for changes in ROWS.values():
            yield replace(scheme.with_changes(**changes), setting=setting)


def accesses(study: Study, point: Point) -> float:
    """Accesses to main banks over the baseline's, mean over the kernels."""
    plain = replace(BASELINE, setting=point.setting)

    def share(kernel: str) -> float:
        base = study.of(plain, kernel)
        return main_accesses(study.of(point, kernel)) / (base["bank_reads"] + base["bank_writes"])

    return study.over_kernels(share)


def engine_table(small: Study, large: Study) -> str:
    """IPC over the baseline, and main accesses of ``ltrf_plus`` over the baseline's."""
    return table(COLUMNS, ((name, *_half(small, changes), *_half(large, changes)) for name, changes in ROWS.items()))


def _half(study: Study, changes: dict[str, object]) -> tuple[str, ...]:
    setting = next(iter(study.outcomes)).point.setting
    base, ours, plus = (replace(point, setting=setting) for point in (BASELINE, LTRF, PLUS))
    gains = (signed(study.speedup(point.with_changes(**changes), base)) for point in (ours, plus))
    return (*gains, percent(accesses(study, plus.with_changes(**changes))))


def goal_table(study: Study) -> str:
    """Every kernel's large launch with intervals of 32 registers and all that spares accesses."""
    best = PLUS.with_changes(**ROWS[BEST])
    rows = [(kernel, signed(study.gain(kernel, best, BASELINE)), _share(study, kernel)) for kernel in study.kernels]
    mean = ("all", signed(study.speedup(best, BASELINE)), percent(accesses(study, best)))
    return table(("kernel", f"`ltrf_plus`, {BEST}", "main accesses"), (*rows, mean))


def _share(study: Study, kernel: str) -> str:
    return percent(accesses(replace(study, kernels=[kernel]), PLUS.with_changes(**ROWS[BEST])))


def main(arguments: Sequence[str]) -> int:
    """Run all and write the tables."""
    options = page_parser("ltrf_engine", __doc__).parse_args(arguments)
    kernels = tuple(bundled_kernels())
    with progress("ltrf's pieces") as report:
        studies = []
        for setting, names in (("launch", kernels), ("large", PRESSED)):
            studies.append(studied(runs_of(wanted(setting), (0,), names), report))
        best = studied(runs_of((BASELINE, PLUS.with_changes(**ROWS[BEST])), (0,), kernels), report)
    tables = (engine_table(*studies), goal_table(best))
    return write_or_check(options, {PAGE: with_tables(PAGE.read_text(), tables)}, tables)

"""Golden runs of several machines over one trace, each beside its baseline and its matched baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpfile.output.display import Report
from warpfile.results.designs import Design
from warpfile.results.run import GoldenRun, golden_run
from warpfile.schemes.matching import Matching
from warpfile.spec.config import Config
from warpfile.spec.trace import Trace


@dataclass(frozen=True)
class Compared:
    """A run, that of the baseline at the same preset and that of the matched baseline; None where that refuses."""

    run: GoldenRun
    matching: Matching
    baseline: GoldenRun | None
    matched: GoldenRun | None

    @property
    def growth(self) -> float | None:
        """Of the IPC over the baseline; 0 is equal."""
        return self._over(self.baseline)

    @property
    def over_matched(self) -> float | None:
        """Of the IPC over the matched baseline."""
        return self._over(self.matched)

    def _over(self, beside: GoldenRun | None) -> float | None:
        return self.run.ipc / beside.ipc - 1 if beside and beside.ipc else None

    def to_json(self) -> dict[str, object]:
        """What is said of the run beside its own facts. Growths are fractions."""
        return {
            "differs": self.matching.to_json(),
            "baseline_cycles": self.baseline and self.baseline.cycles,
            "ipc_growth": self.growth,
            "matched_cycles": self.matched and self.matched.cycles,
            "ipc_growth_over_matched": self.over_matched,
        }


def compared(designs: Sequence[Design], runs: Sequence[GoldenRun], trace: Trace, report: Report) -> list[Compared]:
    """Put every run of a design beside its baselines; each of these machines runs once, here or in ``runs``."""
    known: dict[tuple[str, Config], GoldenRun | None] = {(one.scheme, one.config): one for one in runs}

    def ran(design: Design) -> GoldenRun | None:
        machine = (design.scheme.name, design.config)
        if machine not in known:
            try:
                known[machine] = golden_run(design.scheme, design.config, design.preset, trace, report)
            except ValueError:
                known[machine] = None
        return known[machine]

    return [
        Compared(run, design.matching, ran(design.baseline), ran(design.matched))
        for design, run in zip(designs, runs, strict=True)
    ]

"""The results of a study: one row per case, with all parameters, beside the baseline at the same preset."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpfile.results.points import Outcome
from warpfile.results.studies.plan import Case, Plan
from warpfile.results.studies.pricing import Cost, Prices, cost, one_set, without
from warpfile.results.studies.tasks import AREA, GOLDEN, LOCKSTEP, OK, PATH, PIPELINE_LOG, REFUSED, Done, Task
from warpfile.schemes import Scheme
from warpfile.sim.counters import reported
from warpfile.spec.steady import Steady
from warpfile.spec.writing import atomic_file
from warpfile.synth.area import AreaReport
from warpfile.synth.overhead import overhead

Row = dict[str, Any]
_WORD = re.compile(r"\W+")
#: Columns of a lockstep run, and the facts that they show.
_LOCKSTEP = {
    "lockstep_cycles": "cycles",
    "lockstep_mismatches": "mismatches",
    "lockstep_operands_checked": "operands_checked",
    "lockstep_simulator": "simulator",
    "lockstep_seconds": "seconds",
}


@dataclass(frozen=True)
class Results:
    """A study and what came of its tasks."""

    plan: Plan
    outcomes: Mapping[Task, Done]

    def of(self, case: Case, kind: str) -> Done:
        """What came of one kind of work for a case."""
        if not case.machine.design:
            return Done(REFUSED, {}, case.machine.refused)
        return self.outcomes[self.plan.task(case, kind)]

    @property
    def rows(self) -> list[Row]:
        """All cases in their order, each with the same columns; those that are empty everywhere are left out."""
        prices = self._prices
        rows = [self._row(case, prices) for case in self.plan.cases]
        names = dict.fromkeys(name for row in rows for name in row)
        first = [name for name in names if not name.startswith(("config_", "counter_"))]
        ordered = (*first, *(name for start in ("config_", "counter_") for name in names if name.startswith(start)))
        return [{name: row.get(name) for name in ordered} for row in rows]

    @property
    def _prices(self) -> Prices:
        """One set for all rows, so that their energies can be compared."""
        return one_set(self.plan.prices)

    @property
    def without_energy(self) -> list[str]:
        """A line per reason why machines have no energy."""
        cases = [case for case in self.plan.cases if case.machine.design and GOLDEN in self.plan.kinds]
        every = (one.machine for case in cases for one in (case, case.baseline) if one)
        known = {one.label: (one.design.scheme, one.design.config) for one in every if one.design}
        return list(without(known, self._prices))

    def _row(self, case: Case, prices: Prices) -> Row:
        machine = case.machine
        kinds = {kind: self.of(case, kind) for kind in self.plan.kinds_of(case)}
        wrong = [f"{kind}: {one.error}" for kind, one in kinds.items() if one.status != OK]
        row: Row = {"study": self.plan.name}
        row |= {**_point(case), **_machine(case), **_parts(case)}
        row |= {"status": next((one.status for one in kinds.values() if one.status != OK), OK)}
        row["error"] = "; ".join(dict.fromkeys(wrong)) if machine.design else machine.refused
        shown = {GOLDEN: self._golden, LOCKSTEP: self._lockstep, AREA: self._area, PATH: self._path}
        for kind, facts in shown.items():
            if kind in kinds and kinds[kind].facts and kinds[kind].status != REFUSED:
                row |= facts(case, prices)
        if machine.design:
            row["differs"] = str(machine.matching)
            row |= {f"config_{name}": value for name, value in machine.design.config.to_json().items()}
        return row

    def _golden(self, case: Case, prices: Prices) -> Row:
        """Cycles, accesses and energy, each over the baseline's and over those of the matched baseline."""
        ours, spent = self._priced(case, prices)
        accesses = bank_accesses(case.machine.scheme, ours.counters)
        hits = case.machine.scheme.hits
        row: Row = {"cycles": ours.cycles, "instructions": ours.instructions, "ipc": ours.ipc}
        steady = Steady.of(ours.steady)
        row |= steady.to_json() if steady else {}
        row |= {"hit_ratio": hits.ratio(ours.counters) if hits else None}
        row |= {"bank_accesses": accesses, **(spent.columns(prices) if spent else {}), "golden_seconds": ours.seconds}
        counters = reported(case.task(GOLDEN).run.config, dict(ours.counters))
        row |= {f"counter_{name}": count for name, count in counters.items()}
        for name, beside in {"baseline": case.baseline, "matched": case.matched}.items():
            if beside and self.of(beside, GOLDEN).status == OK:
                theirs, least = self._priced(beside, prices)
                banks = bank_accesses(beside.machine.scheme, theirs.counters)
                row |= {name: beside.machine.scheme.name, f"{name}_cycles": theirs.cycles}
                row |= {f"ipc_over_{name}": ours.ipc / theirs.ipc}
                row |= {f"energy_over_{name}": spent.over(least) if spent and least else None}
                row |= {f"bank_accesses_over_{name}": accesses / banks if banks else None}
        if case.matched:
            row["matched"] = " ".join(filter(None, (case.matched.machine.scheme.name, case.matched.machine.changed)))
        return row

    def _priced(self, case: Case, prices: Prices) -> tuple[Outcome, Cost | None]:
        """A golden run and its energy; None where a memory has no price."""
        found = Outcome(**self.of(case, GOLDEN).facts)
        return found, cost(case.machine.scheme, case.task(GOLDEN).run.config, found, prices)

    def _lockstep(self, case: Case, _: Prices) -> Row:
        facts = self.of(case, LOCKSTEP).facts
        return {name: facts[fact] for name, fact in _LOCKSTEP.items()}

    def _area(self, case: Case, _: Prices) -> Row:
        """Sizes, and how much the machine has grown over the baseline."""
        ours = AreaReport.from_json(self.of(case, AREA).facts)
        row: Row = {f"area_{name}": getattr(ours, name) for name in ("cells", "flip_flops", "nand2_equivalents")}
        row |= {"area_um2": ours.area_um2, "area_liberty": ours.liberty}
        row |= {"area_memory_bits": ours.memory_bits, "area_logic_levels": ours.logic_levels, "area_tool": ours.tool}
        beside = self.of(case.baseline, AREA) if case.baseline else None
        if beside and beside.status == OK:
            grown = overhead(ours, AreaReport.from_json(beside.facts))
            row |= {f"area_{name}_growth": grown[name] for name in ("logic", "flip_flops", "storage")}
            row |= {growth_column(density): value for density, value in grown["total"].items()}
        return row

    def _path(self, case: Case, _: Prices) -> Row:
        """The critical path, and that of the baseline."""
        ours = self.of(case, PATH).facts
        row: Row = {"path_ns": ours["nanoseconds"], "path_from": ours["start"], "path_to": ours["end"]}
        row["path_liberty"] = self.plan.delays.name if self.plan.delays else None
        beside = self.of(case.baseline, PATH) if case.baseline else None
        theirs = beside.facts["nanoseconds"] if beside and beside.status == OK else None
        row["path_over_baseline"] = ours["nanoseconds"] / theirs if theirs and ours["nanoseconds"] else None
        return row

    @property
    def modules(self) -> list[Row]:
        """Of every machine that was synthesised once, the modules of its hierarchy."""
        machines = {case.machine.label: case for case in self.plan.cases}
        areas = ((case, self.of(case, AREA)) for case in machines.values() if AREA in self.plan.kinds)
        return [
            {"study": self.plan.name, **_machine(case), **{name.replace("name", "module"): one[name] for name in one}}
            for case, area in areas
            if area.status == OK
            for one in area.facts["modules"]
        ]

    @property
    def pipeline_log(self) -> list[Row]:
        """Beats in the window of the study, of every machine that was watched."""
        watched = (case for case in self.plan.cases if PIPELINE_LOG in self.plan.kinds_of(case))
        return [
            {"study": self.plan.name, **_point(case), **_machine(case), **one}
            for case in watched
            if self.of(case, PIPELINE_LOG).status == OK
            for one in self.of(case, PIPELINE_LOG).facts["pipeline_log"]
        ]


def growth_column(density: str) -> str:
    """The column with the growth of logic and memory bits at a density of :data:`synth.overhead.NAND2_PER_BIT`."""
    return f"area_total_growth_{_WORD.sub('_', density)}"


def bank_accesses(scheme: Scheme, counters: Mapping[str, int]) -> int:
    """What passes between the banks and the rest of the machine: reads and writes of whole warp registers."""
    kinds = scheme.accesses
    names = kinds.get("crossbar") or (*kinds["bank_read"], *kinds["bank_write"])
    return sum(counters[name] for name in names)


def _machine(case: Case) -> Row:
    machine = case.machine
    return {"scheme": machine.scheme.name, "preset": machine.preset, "changes": machine.changed}


def _point(case: Case) -> Row:
    kernel = case.kernel
    return {"kernel": kernel.name, "setting": kernel.setting, "seed": case.seed} if kernel else {}


def _parts(case: Case) -> Row:
    """The parts of the machine, slot by slot."""
    machine = case.machine
    if not machine.design:
        return {}
    scheduler, collectors, file = machine.scheme.parts(machine.design.config)
    return {"scheduler": scheduler.name, "collectors": collectors.name, "rf": file.name}


def write_table(rows: Sequence[Row], stem: Path) -> list[Path]:
    """Write rows as Parquet and as CSV; columns without any value are left out."""
    import pyarrow
    from pyarrow import csv, parquet

    columns = {name: [row[name] for row in rows] for name in rows[0]}
    table = pyarrow.table({name: values for name, values in columns.items() if any(one is not None for one in values)})
    paths = [stem.with_suffix(".parquet"), stem.with_suffix(".csv")]
    with atomic_file(paths[0]) as path:
        parquet.write_table(table, path)
    with atomic_file(paths[1]) as path:
        csv.write_csv(table, path)
    return paths

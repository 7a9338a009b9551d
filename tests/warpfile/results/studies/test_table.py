"""The results: every parameter in every row, the baseline of the same preset beside it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow.csv
import pyarrow.parquet
import pytest

from tests.warpfile.conftest import Invoke
from tests.warpfile.results.studies.conftest import Sevens, answered, plan, ran
from warpfile.results.pipeline_log import LoggedBeat
from warpfile.results.studies import tasks
from warpfile.results.studies.junit import write_junit
from warpfile.results.studies.summary import COLUMNS, differences, starting, summary
from warpfile.results.studies.summary import table as summary_table
from warpfile.results.studies.table import Results, bank_accesses, write_table
from warpfile.results.studies.tasks import AREA, DIFFERENT, FAILED, GOLDEN, LOCKSTEP, PATH, PIPELINE_LOG, REFUSED, Done
from warpfile.schemes import SCHEMES, variants
from warpfile.sim.plan import Outcome
from warpfile.sim.runner import CosimReport
from warpfile.spec.presets import PRESETS
from warpfile.spec.steady import Steady
from warpfile.synth.liberty import NAND2_UNITS
from warpfile.synth.timing import CriticalPath

BOTH = {"schemes": ["bow", "baseline"], "presets": ["tiny"]}


def test_a_row_has_all_that_its_point_has() -> None:
    study = plan(BOTH, name="sizes", seeds=[2])
    row, base = Results(study, answered(study, bow=ran(80))).rows
    config = study.cases[0].machine.design.config.to_json()  # type: ignore[union-attr]
    assert {name: row[f"config_{name}"] for name in config} == config
    point = {"study": "sizes", "kernel": "saxpy", "setting": "launch", "seed": 2, "scheme": "bow", "preset": "tiny"}
    parts = {"scheduler": "gto", "collectors": "bow", "rf": "banked", "changes": "", "status": "ok", "error": ""}
    assert row.items() >= (point | parts).items()
    assert (row["cycles"], row["ipc"], row["baseline"], row["baseline_cycles"]) == (80, 50 / 80, "baseline", 100)
    assert row["ipc_over_baseline"] == pytest.approx(1.25) and row["bank_accesses_over_baseline"] == 1
    saved = 0.2 * base["energy_leakage_pj"] / base["energy_pj"]  # in 80 cycles of 100, with as many accesses
    assert row["energy_over_baseline"] == pytest.approx(1 - saved) and row["energy_prices"] == "cacti"


def test_a_row_is_compared_with_the_baseline_of_its_preset_and_no_other() -> None:
    study = plan({"schemes": ["bow"], "presets": ["tiny", "pascal"]})
    cycles = {("bow", "tiny"): 50, ("bow", "pascal"): 60, ("baseline", "tiny"): 100, ("baseline", "pascal"): 90}
    found = {task: ran(cycles[task.run.point.scheme, task.run.point.preset]) for task in study.tasks}
    assert [row["ipc_over_baseline"] for row in Results(study, found).rows] == pytest.approx([2.0, 1.5])


def test_a_row_names_what_differs_from_its_baseline_and_is_compared_with_the_matched_one() -> None:
    study = plan({"schemes": ["bow", "baseline"], "presets": ["turing"]})
    cycles = {True: 80, False: 100}
    found = {task: ran(cycles["collectors" in dict(task.run.point.changes)]) for task in study.tasks}
    row, base = Results(study, found).rows
    assert row["differs"].startswith("collectors 8 (baseline 2), collect lowest (baseline all)") and not base["differs"]
    assert row["matched"].startswith("baseline bank_arbitration=round_robin collect=lowest collectors=8")
    assert (row["baseline_cycles"], row["matched_cycles"]) == (100, 80)
    assert (row["ipc_over_baseline"], row["ipc_over_matched"]) == pytest.approx((1.0, 0.8))
    assert list(differences([row, base])) == [("bow", row["differs"]), ("baseline", "")]


def steady(resident: int, sparse: int, launched: int = 9) -> dict[str, Any]:
    """Of a run of 100 cycles in which four warps fit."""
    return {"steady": asdict(Steady(4, launched, 100, resident, 30, sparse))}


def test_a_row_and_the_summary_say_how_steady_runs_were() -> None:
    study = plan({"schemes": ["bow"], "presets": ["tiny"]}, kernels=["saxpy", "spmv", "stencil"])
    found = answered(study)
    facts = [steady(300, 10), steady(100, 60), steady(350, 0, launched=4)]
    for case, one in zip(study.cases, facts, strict=True):
        found[case.task(GOLDEN)] = ran(**one)
    rows = Results(study, found).rows
    assert [(row["mean_resident_warps"], row["sparse_share"]) for row in rows] == [(3, 0.1), (1, 0.6), (3.5, 0)]
    assert [row["starts_and_ends"] for row in rows] == [False, True, True]
    assert starting(rows) == "2 of 3 kernels measure start and end on every machine: spmv, stencil"
    (line,) = summary(rows)
    said = dict(zip(COLUMNS, line, strict=True))
    assert (said["resident"], said["eligible"], said["sparse"]) == (2.5, pytest.approx(0.3), "23.3%")


def test_a_kernel_that_is_steady_on_one_machine_is_not_named() -> None:
    rows = [{"kernel": "saxpy", "starts_and_ends": one} for one in (True, False)]
    assert starting(rows) == "0 of 1 kernels measure start and end on every machine"
    assert starting([{"kernel": "saxpy"}]) == ""


def test_a_point_that_failed_is_a_row_with_its_error() -> None:
    study = plan(BOTH)
    for wrong in (Done(FAILED, {}, "OSError: no room"), ran(0, refused="too large")):
        row, base = Results(study, answered(study, bow=wrong)).rows
        assert row["status"] == wrong.status and row["error"] == f"golden: {wrong.error}" and row["cycles"] is None
        assert row["config_window"] == 3 and base["status"] == "ok" and row.keys() == base.keys()


def test_a_row_without_its_baseline_says_nothing_of_growth() -> None:
    study = plan(BOTH)
    row, _ = Results(study, answered(study, baseline=Done(FAILED, {}, "OSError"))).rows
    assert row["cycles"] == 100 and "ipc_over_baseline" not in row


@pytest.mark.parametrize("name", [*SCHEMES, *variants(), "modern"])
def test_accesses_of_every_scheme_can_be_counted(name: str) -> None:
    scheme = SCHEMES[name]
    used: list[str] = []

    class Counters(dict[str, int]):
        def __missing__(self, key: str) -> int:
            return used.append(key) or 1

    assert bank_accesses(scheme, Counters()) == len(used) >= 2
    assert any("reads" in counter for counter in used) and any("writes" in counter for counter in used)


def test_both_files_have_the_same_rows_and_no_empty_column(tmp_path: Path) -> None:
    study = plan(BOTH, {"schemes": ["rfc"], "presets": ["isca2011"], "set": {"domain": 1}}, seeds=[0, 2])
    rows = Results(study, answered(study)).rows
    parquet, csv = write_table(rows, tmp_path / "results")
    table = pyarrow.parquet.read_table(parquet).to_pylist()
    assert [{name: row.get(name) for name in rows[0]} for row in table] == rows
    first = pyarrow.csv.read_csv(csv).to_pylist()[0]
    assert first["scheme"] == "bow" and first["config_lanes"] == 4 and table[0].keys() == first.keys()
    assert sorted(path.name for path in tmp_path.glob("results*")) == ["results.csv", "results.parquet"]
    again = parquet.read_bytes()
    write_table(rows, tmp_path / "results")
    assert parquet.read_bytes() == again


def report(first: dict[str, object] | None = None) -> dict[str, Any]:
    """Facts of a lockstep run, with a difference or without one."""
    found = Outcome(100, 50, bool(first), 80, seconds=0.5, first_mismatch=first)
    facts = CosimReport("bow", "saxpy", "tiny", PRESETS["tiny"].config, "verilator", found, 3.0, None).to_json()
    return facts | {"explanation": "issue differs" if first else ""}


def test_lockstep_runs_are_tests_that_pass_fail_or_are_skipped(tmp_path: Path) -> None:
    study = plan(seeds=[0, 2, 4, 6], lockstep=True)
    found = [report(), report({"cycle": 42}), None, None]
    wrong = [None, None, Done(FAILED, {}, "SimulatorError: gone"), Done(REFUSED, {}, "too large")]
    answers = [other or tasks.finished(facts) for facts, other in zip(found, wrong, strict=True)]  # type: ignore[arg-type]
    results = Results(study, dict(zip(study.tasks, answers, strict=True)))
    write_junit(results, tmp_path / "junit.xml")
    (suite,) = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert suite.attrib == {
        **{"name": "warpfile study study", "tests": "4", "failures": "1", "errors": "1", "skipped": "1"},
        "time": "1.000",
    }
    passed, failed, broken, skipped = suite
    assert (passed.get("classname"), passed.get("name")) == ("bow.tiny", "saxpy, launch, seed 0") and not len(passed)
    assert [(test[0].tag, test[0].get("message")) for test in (failed, broken, skipped)] == [
        ("failure", "RTL and golden model differ in cycle 42"),
        ("error", "SimulatorError: gone"),
        ("skipped", "too large"),
    ]
    assert failed[0].text == "issue differs"
    rows = results.rows
    assert [row["lockstep_mismatches"] for row in rows] == [0, 1, None, None]
    assert [row["status"] for row in rows] == ["ok", DIFFERENT, FAILED, REFUSED]


def area(cells: int) -> Done:
    """A synthesised machine of one module."""
    module = {"name": "warpfile", "instances": 1, "cells": cells, "flip_flops": 10, "area_um2": None}
    module |= {"nand2_equivalents": 2.0 * cells, "logic_levels": 5}
    sizes = {"cells": cells, "flip_flops": 10, "area_um2": None, "nand2_equivalents": 2.0 * cells, "logic_levels": 5}
    bits = {"flip_flops": {"warpfile": 10}, "memories": {"bank": 90}}
    rest = {"tool": "yosys", "liberty": "nand2", "storage_bits": bits, "modules": [module], "structures": []}
    return tasks.finished({**sizes, **rest, "source": ""})


def test_an_area_stands_in_all_rows_of_its_machine_with_its_growth() -> None:
    study = plan(seeds=[0, 2], golden=True, area=True)
    found = answered(study) | {
        task: area(150 if task.run.point.scheme == "bow" else 100) for task in study.tasks if task.kind == AREA
    }
    for row in Results(study, found).rows:
        assert (row["area_cells"], row["area_nand2_equivalents"], row["area_memory_bits"]) == (150, 300.0, 90)
        assert (row["area_logic_growth"], row["area_storage_growth"]) == (0.5, 0.0)
        assert 0 < row["area_total_growth_0_33_Mb_mm2"] < row["area_total_growth_0_94_Mb_mm2"] < 0.5


def test_a_critical_path_stands_beside_that_of_the_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpfile.results.studies.plan.timer", lambda: "2.0")
    study = plan(golden=True, area=True, delays=str(NAND2_UNITS))
    times = {"bow": 4.5, "baseline": 3.0}
    found = answered(study) | {task: area(100) for task in study.tasks if task.kind == AREA}
    found |= {
        task: tasks.finished(CriticalPath(times[task.run.point.scheme], start="a", end="b").to_json())
        for task in study.tasks
        if task.kind == PATH
    }
    (row,) = Results(study, found).rows
    assert (row["path_ns"], row["path_over_baseline"], row["path_liberty"]) == (4.5, 1.5, "nand2.lib")
    assert (row["path_from"], row["path_to"]) == ("a", "b")


def test_modules_and_beats_are_tables_of_their_own() -> None:
    study = plan(kernels=["saxpy"], seeds=[0, 2], golden=True, area=True, pipeline={"cycles": [0, 9]})
    seen = asdict(LoggedBeat(3, 1, 16, "NOP", False, False, 2, 4))
    answers = {AREA: area(100), PIPELINE_LOG: tasks.finished({"pipeline_log": [seen]})}
    found = answered(study) | {task: answers[task.kind] for task in study.tasks if task.kind in answers}
    results = Results(study, found)
    machine = {"study": "study", "scheme": "bow", "preset": "tiny", "changes": ""}
    (module,) = results.modules
    assert module.items() >= (machine | {"module": "warpfile", "instances": 1, "nand2_equivalents": 200.0}).items()
    (beat,) = results.pipeline_log
    assert beat.items() >= (machine | {"kernel": "saxpy", "seed": 0, "warp": 3, "issued": 4, "written": None}).items()


def test_hits_are_shown_of_schemes_that_keep_something() -> None:
    study = plan(BOTH)
    counters = {"counters": Sevens(bypassed_reads=1, bank_reads=3)}
    bow, base = Results(study, answered(study, bow=ran(**counters))).rows
    assert (bow["hit_ratio"], base["hit_ratio"]) == (0.25, None)


def test_a_scheme_that_counts_no_hits_has_rows_without_them(invoke: Invoke) -> None:
    """Of the schemes that pack registers, only those that coalesce reads count hits; every other one counts its own."""
    without = ["virtualization", "packing", "packing_virtual"]
    schemes = [word for name in [*SCHEMES, *without] for word in ("--scheme", name)]
    result = invoke("study", "--kernel", "saxpy", *schemes, "--golden", "-o", "out")
    assert result.exit_code == 0, result.output
    rows = pyarrow.parquet.read_table("out/results.parquet").to_pylist()
    found = {row["scheme"]: row["hit_ratio"] for row in rows if row["status"] == "ok"}
    assert found.keys() >= {*without, "corf", "bow", "rfc"}
    assert {name for name in found if SCHEMES[name].hits and found[name] is None} == {*without}


def test_the_summary_leaves_out_what_it_says_of_no_machine() -> None:
    study = plan(BOTH)
    rows = Results(study, answered(study)).rows
    columns, lines = summary_table(rows)
    assert "IPC growth" in columns and not {"changes", "lockstep", "NAND2 eq."} & {*columns}
    full = [dict(zip(COLUMNS, line, strict=True)) for line in summary(rows)]
    assert lines == [tuple(one[name] for name in columns) for one in full]


def test_the_summary_has_a_line_per_machine_with_means_over_kernels_and_intervals_over_seeds() -> None:
    study = plan(BOTH, kernels=["saxpy", "spmv"], seeds=[0, 2, 4])
    cycles = {0: 80, 2: 80, 4: 80}
    found = answered(study) | {
        task: ran(cycles[task.run.seed]) for task in study.tasks if task.run.point.scheme == "bow"
    }
    ours, base = (dict(zip(COLUMNS, line, strict=True)) for line in summary(Results(study, found).rows))
    assert (ours["scheme"], ours["points"], ours["failed"]) == ("bow", 6, 0) and ours["IPC"] == pytest.approx(0.625)
    assert (ours["IPC growth"], base["IPC growth"]) == ("+25.0% ± 0.0 [+25.0,+25.0]", "-")
    assert ours["accesses growth"] == "identical" and ours["lockstep"] == ours["logic growth"] == "-"


def test_seeds_with_different_kernels_have_no_mean() -> None:
    study = plan(kernels=["saxpy", "spmv"], seeds=[0, 2])
    found = answered(study)
    found[study.cases[0].task(GOLDEN)] = Done(FAILED, {}, "OSError")
    (line,) = summary(Results(study, found).rows)
    assert dict(zip(COLUMNS, line, strict=True))["IPC growth"] == "-"


@pytest.mark.regress
def test_a_study_runs_lockstep_and_synthesis(invoke: Invoke) -> None:
    arguments = ("--kernel", "collatz", "--scheme", "bow", "--preset", "tiny", "--golden", "--lockstep", "--area")
    result = invoke("study", *arguments, "-o", "out", "--json", "facts.json")
    assert result.exit_code == 0, result.output
    (row,) = pyarrow.parquet.read_table("out/results.parquet").to_pylist()
    assert row["lockstep_cycles"] == row["cycles"] and row["lockstep_mismatches"] == 0
    assert row["area_cells"] > 1000 and row["area_logic_growth"] > 0
    assert ElementTree.parse("out/junit.xml").getroot()[0].get("tests") == "1"
    assert LOCKSTEP in {task.kind for task in plan(lockstep=True).tasks}

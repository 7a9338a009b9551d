"""Arrays of operands are the same in every form: lockstep in both simulators, lint, and a fault that is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.warpfile.verilog.test_generate import lint
from warpfile.hdl.operand_array import LATCHES
from warpfile.schemes import SCHEMES
from warpfile.sim.build import generated_verilog
from warpfile.sim.runner import cosim
from warpfile.spec.config import Config
from warpfile.spec.stress import stress_trace
from warpfile.verilog.generate import generate

#: Writing back, so that an entry that leaves is read too; one write port and lanes of their own.
MACHINES = {"bow_wr": {}, "malekeh": {}, "rfc": {"partial_results": "lanes"}}
FORMS = ("latches", "memory")
#: The others are run by ``make regress``; random machines have any form.
SHORT = (("bow_wr", "latches"), ("malekeh", "memory"), ("rfc", "latches"))
every_machine = pytest.mark.parametrize(
    ("name", "form"),
    [
        pytest.param(name, form, marks=() if (name, form) in SHORT else pytest.mark.regress)
        for name in MACHINES
        for form in FORMS
    ],
)


def configuration(name: str, form: str) -> Config:
    return SCHEMES[name].configuration("tiny", lanes=2, storage=form, **MACHINES[name])


def mismatches(root: Path, name: str, form: str, simulator: str, verilog: str | None = None) -> int:
    trace = stress_trace(3, warps_per_cta=[2, 3], ctas=3, length=80, profile="mask")
    report = cosim(
        SCHEMES[name],
        configuration(name, form),
        trace,
        simulator=simulator,
        build_root=root / "build",
        explain=False,
        verilog=verilog,
    )
    assert report.outcome.mismatches or report.outcome.operands_checked > 0
    return report.outcome.mismatches


@pytest.mark.check
@pytest.mark.parametrize(
    "simulator", ["verilator", pytest.param("icarus", marks=[pytest.mark.regress, pytest.mark.needs("iverilog")])]
)
@every_machine
def test_the_machine_equals_the_golden_model(root: Path, name: str, form: str, simulator: str) -> None:
    assert mismatches(root, name, form, simulator) == 0


@pytest.mark.check
@every_machine
def test_what_is_generated_passes_lint(tmp_path: Path, name: str, form: str) -> None:
    made = generate(SCHEMES[name], configuration(name, form), "tiny", tmp_path)
    assert lint(*(made.paths[what] for what in ("machine", "sram", "checks"))) == ""


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize(
    ("form", "right", "wrong"),
    [
        ("latches", "if (open) held <= data;", "held <= data;"),
        ("memory", "if (write_row0[1]) rows[1] <= write_data0;", "if (write_row0[1]) rows[1] <= write_data1;"),
    ],
)
def test_a_fault_in_a_form_is_found(root: Path, form: str, right: str, wrong: str) -> None:
    text = generated_verilog(SCHEMES["malekeh"], configuration("malekeh", form), root / "build")
    assert right in text
    assert mismatches(root, "malekeh", form, "icarus", text.replace(right, wrong)) > 0


@pytest.mark.check
def test_machines_without_such_arrays_are_the_same_in_every_form() -> None:
    texts = {
        SCHEMES["baseline"].verilog(SCHEMES["baseline"].configuration("tiny", lanes=2, storage=form), probes=False)
        for form in ("flip_flops", *FORMS)
    }
    assert len(texts) == 1


def test_a_word_of_latches_is_what_is_counted() -> None:
    cfg = configuration("bow_wr", "latches")
    assert cfg.rams[LATCHES].instances == cfg.warps * cfg.lanes * cfg.window_entries

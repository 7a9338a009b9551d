"""Figures of a report as other programs read them."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from tests.warpfile.conftest import Invoke
from tests.warpfile.results.reports.made_up import random_study, row, study, written
from warpfile.results.reports.exports import latex, pivot
from warpfile.results.reports.facts import facts_of


def test_the_pivot_has_a_row_per_measure_and_kernel_and_a_column_per_machine() -> None:
    made = study(
        row("bow", "saxpy", ipc_over_baseline=1.25),
        row("bow", "spmv", ipc_over_baseline=1.0),
        row("rfc", "saxpy", ipc_over_baseline=0.5),
    )
    rows = list(csv.reader(io.StringIO(pivot(made))))
    assert rows[0] == ["measure", "kernel", "setting", "bow", "rfc"]
    assert rows[1] == ["IPC growth", "saxpy", "launch", "0.25", "-0.5"]
    assert rows[2] == ["IPC growth", "spmv", "launch", "0.0", ""]
    assert rows[3][:3] == ["IPC growth", "", ""]
    assert float(rows[3][3]) == pytest.approx(1.25**0.5 - 1) and float(rows[3][4]) == pytest.approx(-0.5)
    assert len(rows) == 4  # measures without any value have no rows


def test_the_table_is_latex_with_special_signs_escaped() -> None:
    made = study(row("bow_wr", "saxpy", ipc_over_baseline=1.125, ipc=2.0, changes="window=4"))
    text = latex(made, facts_of(made))
    assert text.startswith("\\begin{tabular}{ll") and text.endswith("\\end{tabular}\n")
    head, line = (one for one in text.splitlines() if one.endswith("\\\\"))
    cells = dict(zip(head.removesuffix(" \\\\").split(" & "), line.removesuffix(" \\\\").split(" & "), strict=True))
    assert cells["machine"] == "bow\\_wr window=4" and cells["IPC"] == "2.000" and cells["IPC growth"] == "+12.5\\%"
    assert "energy growth" not in cells
    same = study(row(ipc_over_baseline=1.0))
    assert "identical" in latex(same, facts_of(same))


def test_intervals_over_seeds_are_in_the_table() -> None:
    made = random_study(3)
    assert len(re.findall(r"\$\\pm\$ \d", latex(made, facts_of(made)))) >= 8


def test_a_command_writes_both(tmp_path: Path, invoke: Invoke) -> None:
    written(random_study(1), tmp_path)
    done = invoke("report", tmp_path, "--latex", tmp_path / "t.tex", "--pivot", tmp_path / "p.csv")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "t.tex").read_text().count("\\\\\n") == 5
    assert (tmp_path / "p.csv").read_text().startswith("measure,kernel,setting,baseline,bow,malekeh,rfc\n")

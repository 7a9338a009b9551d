"""The table of lengths of intervals and strands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.compiler.passes.ltrf.harness import kernel
from warpfile.pages import lengths
from warpfile.pages.evidence import factors
from warpfile.pages.lengths import COLUMNS, measured, rows
from warpfile.spec.trace import Trace


def test_each_kernel_has_a_row_and_the_last_one_is_of_all() -> None:
    found = list(rows(("saxpy", "spmv"), kernel))
    assert [row[0] for row in found] == ["saxpy", "spmv", "all"] and {len(row) for row in found} == {len(COLUMNS)}
    single, together = [float(row[4]) for row in found[:2]], [float(cell) for cell in found[2][4:7]]
    assert together == pytest.approx([sum(single) / 2, min(single), max(single)], abs=0.1)


def test_a_kernel_of_one_interval_has_the_optimum_and_its_loop_makes_strands_short() -> None:
    found = measured(kernel("collatz"))
    assert found.share == 1 and found.growth.prefetches == 1
    assert found.strands.average < found.real.average / 10


def test_a_kernel_with_wider_instructions_says_so() -> None:
    ((name, text, *rest),) = rows(("tensor",), kernel, 8)
    assert name == "tensor" and text.startswith("interval_registers must be at least ") and not any(rest)


def test_a_trace_without_a_listing_is_refused() -> None:
    with pytest.raises(ValueError, match="saxpy must have its listing"):
        measured(replace(kernel("saxpy"), listing=""))


@pytest.mark.needs("nvcc")
def test_lengths_are_also_of_allocated_ptx(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Allocated PTX of saxpy has other instructions per warp than machine code, in one interval like it."""
    monkeypatch.setattr(factors, "TRACES", tmp_path)
    monkeypatch.setattr(lengths, "bundled_kernels", lambda: {"saxpy": None})
    assert lengths.main(["--ptx"]) == 0
    printed = capsys.readouterr().out
    monkeypatch.undo()
    trace = Trace.load(next((tmp_path / "ptx").glob("saxpy-*.npz")))
    assert f"{trace.records / trace.warps:.1f}" in printed.split("saxpy")[1].split()

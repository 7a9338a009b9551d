"""What factors do to the machines of a claim."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpfile.emulator.memory import GLOBAL_BASE
from warpfile.pages.evidence import factors
from warpfile.pages.evidence.factors import (
    Factor,
    addresses,
    allocated_ptx,
    code_for,
    launch,
    matched,
    ptxas,
    replaced,
    scheduler,
    two_issues,
    units,
)
from warpfile.pages.evidence.statements import Pair
from warpfile.results.points import Point, trace_of
from warpfile.schemes import find
from warpfile.spec.trace import Trace
from warpfile.workloads.inputs import bundled_kernels, fingerprint_of

OURS, OTHER = Point("regmutex", "fermi_linear"), Point("baseline", "fermi_linear")
BOTH = Pair(OURS, OTHER)


def place(folder: Path, kernel: str, setting: str) -> str:
    """Where a trace is kept: code that makes other traces has other places."""
    return str(folder / f"{kernel}-{setting}-{fingerprint_of(bundled_kernels()[kernel], setting)}.npz")


@pytest.mark.parametrize(
    ("factor", "field", "value"),
    [
        (factors.NO_L1, "cache_lines", 0),
        (factors.PIPELINED_BANKS, "bank_occupancy", "one"),
        (scheduler("lrr"), "scheduler", "lrr"),
        (units(3), "collectors", 3),
    ],
)
def test_a_field_is_changed_on_both_sides_and_is_one_that_machines_have(
    factor: Factor, field: str, value: object
) -> None:
    found = BOTH.with_factor(factor)
    for point in (found.point, found.over):
        assert point.changes == ((field, value),)
        cfg = find(point.scheme).configuration(point.preset, **dict(point.changes))
        assert getattr(cfg, field) == value != getattr(find(point.scheme).configuration(point.preset), field)


def test_own_fields_change_one_side() -> None:
    found = BOTH.with_factor(Factor("fair", own={"fair": 1})).with_factor(Factor("wide", beside={"rows": 128}))
    assert (found.point.changes, found.over.changes) == ((("fair", 1),), (("rows", 128),))


def test_the_matched_baseline_has_the_values_of_the_scheme() -> None:
    over = Pair(Point("bow", "turing"), Point("baseline", "turing")).with_factor(matched("bow", "turing")).over
    assert over.changes and dict(over.changes)["collectors"] == 8


def test_a_replaced_scheme_keeps_what_the_other_has_too() -> None:
    changed = BOTH.with_factor(Factor("both", both={"ctas": 24}, own={"fair": 1}))
    found = changed.with_factor(replaced("wide", "baseline", rows=1024))
    assert found.point == OTHER.with_changes(ctas=24, rows=1024) and found.over == OTHER.with_changes(ctas=24)


def test_another_class_for_the_file_is_of_the_machine_alone() -> None:
    found = BOTH.with_factor(Factor("free", file="place:Free")).with_factor(factors.NO_L1)
    assert (found.point.file, found.over.file) == ("place:Free", "")


def test_inputs_change_on_both_sides() -> None:
    found = BOTH.with_factor(launch("launch")).with_factor(two_issues("one warp")).with_factor(ptxas("O1"))
    assert {(one.setting, one.issues) for one in (found.point, found.over)} == {("launch", "one warp")}
    assert found.input.level == "O1" == found.with_factor(factors.NO_L1).input.level and not BOTH.input.level


def test_another_preset_and_code_for_another_gpu_are_on_both_sides_and_stay() -> None:
    found = Pair(Point("modern", "turing_rfc"), Point("baseline", "turing_rfc", (("read_ports", 2),)))
    found = found.with_factor(Factor("ampere", preset="ampere")).with_factor(code_for(86)).with_factor(factors.NO_L1)
    assert {one.preset for one in (found.point, found.over)} == {"ampere"} and ("read_ports", 2) in found.over.changes
    assert (found.input.parts, found.with_factor(ptxas("O1")).input.parts) == (("sm_86",), ("O1", "sm_86"))
    assert not BOTH.input.parts


def test_unknown_inputs_are_refused() -> None:
    with pytest.raises(ValueError, match="setting must be one of launch, large, steady, not 'huge'"):
        launch("huge")
    with pytest.raises(ValueError, match="who must be one of one warp, two schedulers, not 'all'"):
        two_issues("all")
    with pytest.raises(ValueError, match="level must be one of O0, O1, O2, O3, not 'O4'"):
        ptxas("O4")
    with pytest.raises(ValueError, match="target must be one of 80, 86, 89, 90, 100, 120, not 75"):
        code_for(75)


@pytest.mark.needs("nvcc", "nvdisasm")
def test_code_of_another_level_is_another_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factors, "TRACES", tmp_path)
    first, second = BOTH.with_factor(ptxas("O0")).runs("spmv", 4)
    assert first.kernel == second.kernel == place(tmp_path / "O0", "spmv", "large") and first.contents
    slow, plain = Trace.load(Path(first.kernel)), trace_of("spmv", "large")
    assert len(slow.instruction) > 2 * len(plain.instruction)
    assert BOTH.runs("spmv", 4)[0].kernel == "spmv"


@pytest.mark.needs("nvcc", "nvdisasm")
def test_code_for_another_gpu_has_the_marks_that_its_compiler_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(factors, "TRACES", tmp_path)
    machine = Pair(Point("modern", "ampere"), Point("baseline", "ampere")).with_factor(code_for(86))
    run, _ = machine.runs("saxpy", 0)
    assert run.kernel == place(tmp_path / "sm_86", "saxpy", "large") and run.contents
    assert [one.text for one in run.trace.program] != [one.text for one in trace_of("saxpy", "large").program]
    run, _ = machine.with_factor(ptxas("O1")).runs("saxpy", 0)
    assert run.kernel == place(tmp_path / "O1" / "sm_86", "saxpy", "large")


def test_allocated_ptx_and_machine_code_take_the_place_of_each_other() -> None:
    found = BOTH.with_factor(ptxas("O1")).with_factor(addresses(0x8000_0000)).with_factor(allocated_ptx())
    assert found.input.parts == ("ptx", "0x80000000") == found.with_factor(factors.NO_L1).input.parts
    assert found.with_factor(code_for(86)).input.parts == ("sm_86", "0x80000000")
    assert found.with_factor(ptxas("O0")).input.parts == ("O0", "0x80000000")


@pytest.mark.needs("nvcc")
def test_allocated_ptx_is_another_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factors, "TRACES", tmp_path)
    low = BOTH.with_factor(launch("launch")).with_factor(allocated_ptx("section 5")).with_factor(addresses(0x8000_0000))
    run, other = low.runs("saxpy", 0)
    assert run.kernel == other.kernel == place(tmp_path / "ptx" / "0x80000000", "saxpy", "launch") and run.contents
    opcodes = [one.opcode for one in run.trace.program]
    assert "IADD.64" in opcodes and "IADD.64" not in [one.opcode for one in trace_of("saxpy", "launch").program]
    with pytest.raises(ValueError, match="PTX, line 14: must be a kernel without a function that is called"):
        low.runs("calls", 0)


def test_allocated_ptx_needs_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factors, "TRACES", tmp_path)
    monkeypatch.setattr("warpfile.tools.find", lambda name: None)
    with pytest.raises(ValueError, match="nvcc") as found:
        BOTH.with_factor(allocated_ptx()).runs("saxpy", 0)
    assert "\n" not in str(found.value)


def test_buffers_at_low_addresses_are_in_the_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code is the bundled one; upper halves of pointers are 0."""
    monkeypatch.setattr(factors, "TRACES", tmp_path)
    low = BOTH.with_factor(launch("launch")).with_factor(addresses(0x8000_0000))
    run, _ = low.runs("saxpy", 0)
    assert run.kernel == place(tmp_path / "0x80000000", "saxpy", "launch") and run.contents
    plain = trace_of("saxpy", "launch")
    assert run.trace.program == plain.program and (run.trace.instruction == plain.instruction).all()
    upper = GLOBAL_BASE >> 32
    assert (plain.values == upper).any() and not (run.trace.values == upper).any()

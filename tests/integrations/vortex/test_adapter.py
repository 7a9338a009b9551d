"""Which machines get an issue slice for Vortex, and what those in the stub of the host do that get one."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from amaranth.hdl import UnusedElaboratable

from warpfile.integrations.vortex.adapter import FILE, SETTINGS, adapter, misfits
from warpfile.integrations.vortex.check import build, options, run, sources
from warpfile.results.designs import design
from warpfile.schemes import SCHEMES
from warpfile.sim.simulators import SimulatorError, verilator_environment, verilator_executable
from warpfile.verilog.generate import generate
from warpfile.verilog.manifest import port_table

FITTING = ("baseline", "bow", "malekeh", "rfc", "sticky")
#: Changes for the host with registers of its F extension: 64 names, a unit more, and three sources.
FLOATING = ("register_names=64", "rows=64", "ports=4", "source_slots=3")
#: A slice of two lanes and two warps, so that a quick test builds it quickly.
SMALL = ("lanes=2", "warps=2", "ctas=2", "rows=16")
#: What is planted into the adapter, behind plusargs of these names, and what the stub or a check must say.
FAULTS = {
    "mask": (
        "if (writeback_if.data.tmask[l]) merged.data[l] =",
        "if ({} || writeback_if.data.tmask[l]) merged.data[l] =",
        "_data, lane",
    ),
    "lanes": ("merged.mask |= writeback_if.data.tmask;", "if (!{}) merged.mask |= writeback_if.data.tmask;", "result"),
    "x0": ("if (named[i] != 0) begin", "if (named[i] != 0 || {}) begin", "_data, lane"),
    "swapped": ("rs1_data = values[0];", "rs1_data = values[{} ? 1 : 0];", "rs1_data, lane"),
    "fence": ("decode_if.data.op_type) && !fenced;", "decode_if.data.op_type) && !fenced && !{};", "all earlier"),
    "behind": (
        "dispatch_if[u].valid = |count && !early;",
        "dispatch_if[u].valid = |count && (!early || {});",
        "all earlier",
    ),
    "held": ("leaving_ready[P] = !count[1];", "leaving_ready[P] = !count[1] || {};", "unit"),
    "pop": ("issued && !kinds[w][0] && !reset", "issued && (!kinds[w][0] || {}) && !reset", "leave the buffer"),
    "gather": (
        "result__0__valid = writeback_if.valid && writeback_if.data.eop;",
        "result__0__valid = writeback_if.valid && (writeback_if.data.eop || {});",
        "result",
    ),
    "tid": ("if (first.beat.mask[l]) last =", "if (first.beat.mask[l] && !{}) last =", "tid is the last lane"),
    "room": (
        "decode_if.ready = room && !fencing;",
        "decode_if.ready = (room || {}) && !fencing;",
        "in order|was not sent|something must happen",
    ),
}


def generated(scheme: str, folder: Path, changes: tuple[str, ...] = ()) -> Path:
    """The files of a machine for the host."""
    asked = design(SCHEMES[scheme], None, (*SETTINGS, *changes))
    generate(asked.scheme, asked.config, asked.preset, folder, host="vortex")
    return folder


def facts(scheme: str, *changes: str) -> dict[str, object]:
    """What the adapter goes by, without the Verilog."""
    asked = design(SCHEMES[scheme], None, (*SETTINGS, *changes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnusedElaboratable)  # of the machine only its ports are wanted
        ports = port_table(asked.config, asked.scheme.rtl(asked.config, ()), ())
        gc.collect()
    return {"scheme": scheme, "parameters": asked.config.to_json(), "ports": ports}


@pytest.mark.parametrize("scheme", FITTING)
def test_a_scheme_fits(scheme: str) -> None:
    text = adapter(facts(scheme), "warpfile")
    assert "@" not in text.replace("@(posedge clk)", "")
    assert ("decode.hints" in text) == (scheme in ("malekeh", "rfc"))
    assert ("decode.long" in text) == (scheme == "rfc")


@pytest.mark.parametrize(
    ("scheme", "changes", "reason"),
    [
        ("bow_wr", (), "a compiler must give its hint write_class"),
        ("shrf", (), "a compiler must give its hint result_entry"),
        ("pilot", (), "told of every kernel"),
        ("owf", (), "told of every kernel"),
        ("scalar", (), "scalar_values must be none, not uniform"),
        ("regmutex", (), "interleaved with those of a compiler pass"),
        ("rfc", ("long_from=miss",), "which loads miss"),
        ("rfc", FLOATING, "source_slots must be at most 2"),
        ("baseline", ("write_back_ports=3",), "write_back_ports must be 1, not 3"),
        ("baseline", ("bank_ports=1RW",), "bank_ports must be 1R1W, not 1RW"),
        ("baseline", ("bank_cycles=2",), "bank_cycles must be 1, not 2"),
        ("baseline", ("rows=16",), "banks times rows must be at least 128, not 64"),
        ("baseline", ("ctas=2",), "ctas must be at least 4"),
    ],
)
def test_a_machine_that_does_not_fit_is_refused(scheme: str, changes: tuple[str, ...], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        adapter(facts(scheme, *changes), "warpfile")


def test_scalar_without_scalar_values_fits() -> None:
    assert misfits(facts("scalar", "scalar_values=none")) == []


@pytest.mark.parametrize("scheme", ["ltrf", "corf", "modern", "larf"])
def test_a_scheme_without_such_banks_is_refused(scheme: str) -> None:
    with pytest.raises(ValueError, match="bank"):
        facts(scheme)


def test_every_scheme_is_tried() -> None:
    refused = {
        "bow_wr",
        "pilot",
        "regmutex",
        "regmutex_paired",
        "ltrf",
        "ltrf_plus",
        "corf",
        "corf_plus",
        "modern",
        "larf",
        "shrf",
        "owf",
        "scalar",
    }
    assert refused | {*FITTING} == {*SCHEMES}
    assert all(misfits(facts(scheme)) == [] for scheme in FITTING)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small baseline with its adapter."""
    return generated("baseline", tmp_path_factory.mktemp("small"), SMALL)


def lint(folder: Path, *macros: str) -> str:
    """What Verilator says with all its warnings."""
    command = [verilator_executable(), "--lint-only", "-Wall", "--timing", "--top-module", "host"]
    done = subprocess.run(
        [*command, *options(folder, macros), *sources(folder)],
        env=verilator_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr


@pytest.mark.parametrize("macro", ["PERF_ENABLE", "L1_ENABLE", "NDEBUG"])
def test_the_slice_is_lint_clean(small: Path, macro: str) -> None:
    assert lint(small, macro) == ""


def test_a_warning_is_found(small: Path, tmp_path: Path) -> None:
    folder = copied(small, tmp_path, lambda text: text.replace("  logic fenced;", "  logic fenced, unread;"))
    assert "unread" in lint(folder)


@pytest.mark.parametrize(
    ("scheme_fits", "host", "message"),
    [
        ("LANES = 2", "LANES = 4", "NUM_THREADS must be lanes, 4"),
        ("WARPS = 2", "WARPS = 4", "NUM_WARPS / ISSUE_WIDTH must be warps, 4"),
        ("PAYLOAD_BITS = 123", "PAYLOAD_BITS = 80", "payload_bits must be at least 123"),
    ],
)
def test_sizes_that_differ_are_refused(small: Path, tmp_path: Path, scheme_fits: str, host: str, message: str) -> None:
    folder = copied(small, tmp_path, lambda text: text)
    package = folder / "baseline_pkg.sv"
    package.write_text(package.read_text().replace(f"int {scheme_fits};", f"int {host};"))
    assert message in lint(folder)


def copied(folder: Path, place: Path, change: Callable[[str], str]) -> Path:
    """The generated files in another folder, with a change to the adapter."""
    for path in folder.iterdir():
        text = path.read_text()
        (place / path.name).write_text(change(text) if path.name == FILE else text)
    return place


def planted(text: str) -> str:
    """All faults, each behind a plusarg."""
    for name, (right, false, _) in FAULTS.items():
        assert text.count(right) == 1, name
        text = text.replace(right, false.format(f"fault_{name}"))
    switches = "".join(
        f'  logic fault_{name};\n  initial fault_{name} = $test$plusargs("{name}") != 0;\n' for name in FAULTS
    )
    mark = "  localparam int UNITS ="
    assert text.count(mark) == 1
    return text.replace(mark, switches + mark)


@pytest.mark.check
def test_every_fault_of_the_adapter_is_found(small: Path, tmp_path: Path) -> None:
    folder = copied(small, tmp_path, planted)
    program = build(folder, tmp_path / "build")
    assert run(program, tmp_path, 1).startswith("PASS")
    unfound = {}
    for name, (_, _, message) in FAULTS.items():
        said = [run([*program, f"+{name}"], tmp_path, seed, stall=50) for seed in range(1, 6)]
        if not any("PASS" not in one and any(part in one for part in message.split("|")) for one in said):
            unfound[name] = said
    assert not unfound


def counts(said: str) -> dict[str, int]:
    """What a run has seen."""
    assert said.startswith("PASS"), said
    words = " ".join(said.splitlines()[:2]).replace(",", "").split()
    names = ("operands", "instructions", "results", "barriers", "spawns", "cycles")
    return {name: int(words[words.index(name) - 1]) for name in names}


def test_the_baseline_runs_in_the_stub(small: Path, tmp_path: Path) -> None:
    program = build(small, tmp_path)
    first, second = (counts(run(program, tmp_path, seed, instructions=1000)) for seed in (1, 2))
    assert first["instructions"] == 2000 and first["operands"] > 3000
    assert first["barriers"] > 10 and first["spawns"] > 5
    assert first["cycles"] != second["cycles"]


@pytest.mark.check
@pytest.mark.parametrize("macro", ["NDEBUG", "L1_ENABLE"])
@pytest.mark.parametrize("scheme", FITTING)
def test_a_scheme_runs_in_the_stub(scheme: str, macro: str, tmp_path: Path) -> None:
    """With and without caches, with and without ids; stalls never, sometimes and mostly; a reset in mid-run."""
    folder = generated(scheme, tmp_path / "rtl")
    assert lint(folder, macro) == ""
    program = build(folder, tmp_path / "build", [macro])
    for seed in range(1, 9):
        for stall in (0, 30, 70):
            assert counts(run(program, tmp_path, seed, stall=stall, instructions=1000))["operands"] > 20_000
    assert counts(run(program, tmp_path, 1, reset_at=1500))["instructions"] > 4 * 400


@pytest.mark.check
def test_the_command_of_the_page_runs(small: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "warpfile.integrations.vortex.check", small, "--seeds", "2", "--build", tmp_path]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert [line[: len("seed 1: PASS")] for line in said] == ["seed 1: PASS", "seed 2: PASS"]


@pytest.mark.check
@pytest.mark.parametrize("scheme", ["baseline", "bow", "malekeh"])
def test_a_scheme_runs_with_three_sources(scheme: str, tmp_path: Path) -> None:
    folder = generated(scheme, tmp_path / "rtl", (*FLOATING, "lanes=2"))
    program = build(folder, tmp_path / "build")
    for seed in range(1, 9):
        assert counts(run(program, tmp_path, seed, instructions=1000))["operands"] > 10_000


def test_a_build_that_fails_says_so(small: Path, tmp_path: Path) -> None:
    folder = copied(small, tmp_path, lambda text: text.replace("endmodule", ""))
    with pytest.raises(SimulatorError):
        build(folder, tmp_path / "build")


def test_the_manifest_names_the_adapter(small: Path) -> None:
    assert FILE in json.loads((small / "baseline.json").read_text())["files"]

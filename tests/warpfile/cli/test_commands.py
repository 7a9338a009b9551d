"""What the subcommands compute, print and write as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.compiler.passes.shared.test_races import addressed, load, store
from tests.warpfile.conftest import CODE, Invoke, write_listing
from warpfile.schemes import SCHEMES, variants
from warpfile.spec.presets import PRESETS
from warpfile.spec.trace import Trace
from warpfile.workloads import inputs


@pytest.fixture
def facts(invoke: Invoke, folder: Path) -> Any:
    """Run a command that must succeed and return its JSON."""

    def run(*arguments: object) -> Any:
        result = invoke(*arguments, "--json", "facts.json")
        assert result.exit_code == 0, result.stderr
        assert result.stderr == ""
        return json.loads((folder / "facts.json").read_text())

    return run


def test_lists_name_everything_there_is(invoke: Invoke, facts: Any, root: Path) -> None:
    for command, names in (
        ("schemes", [*SCHEMES, *variants()]),
        ("presets", list(PRESETS)),
        ("kernels", sorted(path.parent.name for path in (root / "kernels").glob("*/launch.toml"))),
    ):
        assert list(facts(command)[command]) == names
        text = invoke(command).stdout
        assert all(name in text for name in names)


def test_presets_give_every_value(facts: Any) -> None:
    found = facts("presets")["presets"]
    assert {name: preset["parameters"] for name, preset in found.items()} == {
        name: preset.config.to_json() for name, preset in PRESETS.items()
    }


def test_trace_states_what_was_executed_and_checked(facts: Any, kernel: Path) -> None:
    found = facts("trace", kernel, "-o", "t.npz")
    assert found.pop("seconds") > 0
    assert found == {
        "kernel": "count",
        "warps": 2,
        "instructions": 10,
        "expectations": [{"name": "y", "ok": True, "worst_error": 0.0}],
    }
    assert Trace.load(Path("t.npz")).instructions == 10


def test_trace_names_its_file_after_the_function(invoke: Invoke, folder: Path, kernel: Path) -> None:
    assert "count.npz" in invoke("trace", kernel).stdout
    assert sorted(path.name for path in folder.iterdir()) == ["count", "count.npz"]


def test_what_a_kernel_computed_is_saved(invoke: Invoke, kernel: Path) -> None:
    assert invoke("trace", kernel, "--save-outputs", "out").exit_code == 0
    found = np.load("out/y.npy")
    assert found.dtype == np.int32 and found.tolist() == list(range(64))
    np.save(kernel / "y_expected.npy", np.zeros(64, np.int32))
    Path("out/y.npy").unlink()
    assert invoke("trace", kernel, "--save-outputs", "out").exit_code == 1
    assert np.load("out/y.npy").tolist() == list(range(64))


def test_buffers_whose_names_are_alike_are_not_saved(invoke: Invoke, folder: Path, kernel: Path) -> None:
    again = '[[args]]\nname = "{}"\ntype = "buffer"\ninit = "y.npy"\n'
    launch = kernel / "launch.toml"
    launch.write_text(launch.read_text() + again.format("a/b") + again.format("a b"))
    result = invoke("trace", kernel, "--save-outputs", "out")
    assert result.exit_code == 2 and "two are written to out/a_b.npy" in result.stderr
    assert [path.name for path in folder.iterdir()] == ["count"]


def test_a_trace_says_that_nothing_was_checked(invoke: Invoke, kernel: Path) -> None:
    assert "nothing was checked" not in invoke("trace", kernel).stdout
    launch = kernel / "launch.toml"
    launch.write_text(launch.read_text().replace('expect = "y_expected.npy"\n', ""))
    assert "no buffer of the launch file has an expect: nothing was checked" in invoke("trace", kernel).stdout


@pytest.mark.parametrize("head", ["\t.target\tsm_{}\n", "\tcode for sm_{}\n"])
def test_code_for_another_gpu_is_a_line_with_what_is_supported(
    invoke: Invoke, facts: Any, kernel: Path, head: str
) -> None:
    listing = kernel / "kernel.sass"
    text = listing.read_text()
    listing.write_text(head.format(75) + text)
    assert "code is for" not in invoke("trace", kernel).stdout + invoke("analyze", kernel).stdout
    listing.write_text(head.format(86) + text)
    assert "code is for" not in invoke("trace", kernel).stdout + invoke("analyze", kernel).stdout
    listing.write_text(head.format(87) + text)
    said = "code is for sm_87; what is executed is that of sm_75, sm_80, sm_86, sm_89, sm_90, sm_100, sm_120"
    assert f"note: {said}" in invoke("trace", kernel).stdout and said in invoke("analyze", kernel).stdout
    listing.write_text(head.format(61) + text)
    for command in ("trace", "analyze"):
        result = invoke(command, kernel)
        assert result.exit_code == 2 and "must be of code for sm_70 to sm_129, not for sm_61 (Pascal)" in result.stderr


@pytest.mark.needs("nvdisasm")
def test_a_trace_of_another_gpu_has_its_code(invoke: Invoke, folder: Path) -> None:
    assert "as expected" in invoke("trace", "saxpy", "--arch", "sm_90").stdout
    made, bundled = Trace.load(folder / "saxpy-sm_90.npz"), Trace.load(traced(invoke, "saxpy"))
    assert "\t.target\tsm_90" in made.listing and made.listing != bundled.listing
    assert all(static.control >= 0 for static in made.program)
    refused = invoke("run", "modern", "saxpy-sm_90.npz")
    assert (refused.exit_code, "saxpy is code for sm_90: " in refused.stderr) == (2, True)
    assert "use --preset hopper, or set dependences=scoreboard" in refused.stderr
    run = invoke("run", "modern", "saxpy-sm_90.npz", "--preset", "ampere")
    said = "control codes are for sm_90, and the latencies are those of sm_86: use --preset hopper"
    assert (run.exit_code, said in " ".join(run.stdout.split())) == (0, True)
    other = invoke("run", "modern", "saxpy-sm_90.npz", "--preset", "ampere", "--set", "dependences=scoreboard")
    assert (other.exit_code, "control codes" in other.stdout) == (0, False)


def traced(invoke: Invoke, kernel: str) -> Path:
    assert invoke("trace", kernel, "-o", "bundled.npz").exit_code == 0
    return Path("bundled.npz")


@pytest.mark.parametrize("given", ["sm_9", "sm_61", "sm_200", "90", "compute_90", ""])
def test_an_architecture_must_be_one_whose_code_is_executed(invoke: Invoke, given: str) -> None:
    result = invoke("trace", "saxpy", "--arch", given)
    assert (result.exit_code, f"must be sm_70 to sm_129, not {given!r}" in result.stderr) == (2, True)


def test_another_architecture_needs_the_source(invoke: Invoke, kernel: Path) -> None:
    result = invoke("trace", kernel, "--arch", "sm_90")
    assert (result.exit_code, "--arch compiles a kernel anew: " in result.stderr) == (2, True)
    assert f"{kernel / 'kernel.cu'} must be there" in result.stderr


def test_trace_takes_the_large_setting(facts: Any) -> None:
    small, large = facts("trace", "divide"), facts("trace", "divide", "--setting", "large")
    assert large["instructions"] > small["instructions"]


def test_a_wrong_buffer_is_reported_with_its_error(invoke: Invoke, kernel: Path) -> None:
    np.save(kernel / "y_expected.npy", np.arange(64, dtype=np.int32) + 3)
    result = invoke("trace", kernel, "--json", "facts.json")
    assert result.exit_code == 1
    assert "WRONG" in result.stdout
    assert json.loads(Path("facts.json").read_text())["expectations"] == [
        {"name": "y", "ok": False, "worst_error": 3.0}
    ]


def test_run_counts_cycles_and_instructions(facts: Any, kernel: Path) -> None:
    (found,) = facts("run", "baseline", kernel)["schemes"].values()
    # The first of two warps; the other one belongs to the next domain of the SM.
    assert found["instructions"] == 5
    assert found["ipc"] == found["instructions"] / found["cycles"]
    assert found["counters"]["cycles"] == found["cycles"]
    # IMAD and STG read R0 and R5, then R2, R3 and R0; all were written before.
    assert found["operands_checked"] == 2 + 3
    assert (found["kernel"], found["preset"], found["lanes"]) == ("count", "turing", 32)


def test_machines_that_start_at_once_do_not_count_their_start(facts: Any, kernel: Path) -> None:
    """No table is cleared: `corf` has a mapped bit for every register (docs/schemes/corf.md)."""
    for found in facts("run", "corf", "larf", "baseline", kernel, "--preset", "tiny")["schemes"].values():
        assert "start_cycles" not in found["counters"]
        assert found["ipc"] == found["instructions"] / found["cycles"]


def test_run_gives_the_same_for_kernel_and_trace(facts: Any) -> None:
    facts("trace", "saxpy", "-o", "t.npz")
    ways = ("saxpy", "t.npz", inputs.bundled_kernels()["saxpy"])
    results = [facts("run", "all", way)["schemes"] for way in ways]
    for result in results:
        for scheme in result.values():
            scheme.pop("seconds")
    assert results[0] == results[1] == results[2]
    assert list(results[0]) == list(SCHEMES)


def test_set_and_preset_change_the_configuration(facts: Any, kernel: Path) -> None:
    (found,) = facts("run", "baseline", kernel, "--preset", "tiny", "--set", "lanes=2")["schemes"].values()
    assert (found["preset"], found["lanes"]) == ("tiny", 2)
    (slow,) = facts("run", "baseline", kernel, "--preset", "tiny", "--set", "fma_latency=40")["schemes"].values()
    assert slow["cycles"] > found["cycles"]


@pytest.mark.parametrize("command", ["run", "energy"])
def test_domain_chooses_the_warps(facts: Any, command: str) -> None:
    def domain(*options: str) -> Any:
        (found,) = facts(command, "baseline", "matmul_tiled", *options)["schemes"].values()
        found.pop("seconds", 0)
        return found

    zero, two = domain(), domain("--domain", "2")
    assert zero == domain("--domain", "0") == domain("--set", "domain=0")
    assert zero != two == domain("--set", "domain=2")


def test_the_domains_of_a_preset_share_the_instructions(facts: Any, kernel: Path) -> None:
    def ran(*options: str) -> int:
        (found,) = facts("run", "baseline", kernel, *options)["schemes"].values()
        assert found["domain"] == int(options[1] if "--domain" in options else 0)
        return found["instructions"]

    assert [ran("--domain", "0"), ran("--domain", "1"), ran("--set", "domains=1")] == [5, 5, 10]


def test_traces_of_bundled_kernels_are_kept(facts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = facts("run", "baseline", "saxpy")["schemes"]["baseline"]
    (kept,) = inputs.TRACES.iterdir()
    monkeypatch.setattr(inputs, "execute_kernel", None)
    assert facts("run", "baseline", "saxpy")["schemes"]["baseline"]["cycles"] == first["cycles"]
    assert list(inputs.TRACES.iterdir()) == [kept]


def test_a_kept_trace_is_not_used_for_another_launch() -> None:
    names = {
        inputs.fingerprint_of(path, setting)
        for path in inputs.bundled_kernels().values()
        for setting in inputs.SETTINGS
    }
    assert len(names) == len(inputs.SETTINGS) * len(inputs.bundled_kernels())


def test_a_file_with_nothing_near_reports_no_misses(facts: Any, kernel: Path) -> None:
    found = facts("run", "ltrf", "rfc", "pilot", kernel, "--preset", "tiny")["schemes"]
    assert [name for name, one in found.items() if {"cache_hits", "cache_misses"} & {*one["counters"]}] == ["rfc"]


def test_different_machines_side_by_side_are_said_to_be_so(invoke: Invoke, kernel: Path) -> None:
    line = "Different machines, each at its own preset"
    assert line in invoke("run", "baseline", "bow", kernel).stdout
    for alike in (("baseline", "malekeh"), ("baseline", "bow", "--preset", "tiny")):
        assert line not in invoke("run", *alike[:2], kernel, *alike[2:]).stdout


def test_several_schemes_stand_beside_their_baselines_and_what_differs_is_named(
    invoke: Invoke, facts: Any, kernel: Path
) -> None:
    options = (kernel, "--preset", "turing")
    found = facts("run", "bow", "baseline", *options)["schemes"]
    units = [f"{name}={found['bow']['differs'][name]['value']}" for name in found["bow"]["differs"]]
    (matched,) = facts("run", "baseline", *options, *(word for one in units for word in ("--set", one)))[
        "schemes"
    ].values()
    assert "collectors=8" in units and found["bow"]["matched_cycles"] == matched["cycles"]
    assert found["bow"]["baseline_cycles"] == found["baseline"]["cycles"]
    assert found["bow"]["ipc_growth_over_matched"] == pytest.approx(matched["cycles"] / found["bow"]["cycles"] - 1)
    said = invoke("run", "bow", "baseline", *options).stdout
    assert "bow: collectors 8 (baseline 2), collect lowest" in said and max(map(len, said.splitlines())) <= 100
    alone = facts("run", "bow", *options)["schemes"]["bow"]
    assert "differs" not in alone and alone["steady"]["possible_warps"] == 8


@pytest.mark.parametrize(("preset", "named"), [("turing", True), ("pascal", False)])
def test_energies_name_what_differs_from_the_baseline_beside_them(
    invoke: Invoke, kernel: Path, preset: str, named: bool
) -> None:
    said = invoke("energy", "bow", kernel, "--preset", preset).stdout
    assert ("bow: collectors 8 (baseline 2)" in said) is named and ("differ from their baselines" in said) is named


@pytest.mark.parametrize("command", ["run", "energy"])
def test_a_racy_kernel_is_told_what_larf_does_not_share(invoke: Invoke, folder: Path, command: str) -> None:
    racy, ordered = folder / "racy.npz", folder / "ordered.npz"
    addressed([store(0, stride=0)], [load(0, stride=0), load(256, stride=0)]).save(racy)
    addressed([store(0, stride=0)], [load(128, stride=0), load(256, stride=0)]).save(ordered)
    told = "note (larf): 1 of 2 global loads read words that other warps write without order: they are not shared"
    assert told in invoke(command, "baseline", "larf", racy, "--preset", "tiny").stdout.splitlines()
    result = invoke(command, "baseline", "larf", ordered, "--preset", "tiny")
    assert (result.exit_code, "note" in result.stdout) == (0, False)


def test_a_trace_with_the_hints_of_larf_is_told_what_is_not_shared(invoke: Invoke, kernel: Path) -> None:
    again = ("IMAD.MOV.U32 R6, RZ, RZ, c[0x0][0x160]", "IMAD.MOV.U32 R7, RZ, RZ, c[0x0][0x164]", "LDG.E.SYS R8, [R6]")
    write_listing(kernel, (*CODE[:-1], *again, CODE[-1]))
    plain = invoke("trace", kernel, "-o", "plain.npz")
    hinted = invoke("trace", kernel, "-o", "hinted.npz", "--scheme", "larf", "--preset", "tiny")
    assert (plain.exit_code, hinted.exit_code) == (0, 0), hinted.output
    note = "note: 1 of 2 global loads read words that other warps write without order: they are not shared"
    assert note in hinted.stdout.splitlines() and "note" not in plain.stdout


def test_a_run_without_events_is_given_up(invoke: Invoke, kernel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpfile.results.run.QUIET_LIMIT", 20)
    write_listing(kernel, (*CODE[:3], "@!PT BRA `(start)", *CODE[3:]))
    result = invoke("run", "baseline", kernel, "--set", "branch_delay=32")
    assert result.exit_code == 1
    assert "nothing happened for 20 cycles" in result.stderr


def test_a_run_that_waits_for_a_result_is_not_given_up(
    facts: Any, kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warpfile.results.run.QUIET_LIMIT", 20)
    write_listing(kernel, (*CODE[:3], "LDG.E.SYS R9, [R2]", *CODE[3:]))
    (run,) = facts("run", "baseline", kernel, "--set", "miss_latency=1000")["schemes"].values()
    assert run["cycles"] > 1000


def test_analyze_gives_control_flow_and_liveness(facts: Any, kernel: Path) -> None:
    loop = ("MOV R0, RZ", "IADD3 R0, R0, 0x1, RZ", "ISETP.NE.AND P0, PT, R0, 0x5, PT", "@P0 BRA `(again)", "EXIT")
    write_listing(kernel, loop)
    listing = kernel / "kernel.sass"
    listing.write_text(listing.read_text().replace("        /*0010*/", "again:\n        /*0010*/"))
    (function,) = facts("analyze", listing)["functions"]
    assert function["name"] == "count"
    assert function["blocks"] == [{"start": 0, "end": 16}, {"start": 16, "end": 64}, {"start": 64, "end": 80}]
    assert sorted(function["edges"]) == [[0, 16], [16, 16], [16, 64]]
    add = function["instructions"][1]
    assert (add["offset"], add["opcode"], add["defs"], add["uses"]) == (16, "IADD3", [0], [0])
    # EXIT uses R1 by nvdisasm's convention.
    assert (add["live_in"], add["live_out"]) == ([0, 1], [0, 1])
    assert function["instructions"][3]["live_out"] == [0, 1]
    assert function["hints"]["baseline"] == {}


def test_analyze_gives_the_hints_of_every_scheme(facts: Any, kernel: Path) -> None:
    write_listing(kernel, ("MOV R0, RZ", "IADD3 R2, R0, 0x1, RZ", "NOP", "NOP", "NOP", "IADD3 R4, R2, R2, RZ", "EXIT"))
    (function,) = facts("analyze", kernel / "kernel.sass")["functions"]
    windows = function["hints"]["bow_wr"]
    assert windows["for"] == "window=3 source_slots=3"
    assert windows["write_class"] == {"0": 2, "16": 1, "80": 0}
    assert set(function["hints"]) == set(SCHEMES)


@pytest.mark.check
def test_analyze_shows_every_bundled_listing(invoke: Invoke, facts: Any) -> None:
    for name, directory in inputs.bundled_kernels().items():
        functions = facts("analyze", directory / "kernel.sass")["functions"]
        assert any(name in function["name"] for function in functions)
    assert "live registers" in invoke("analyze", directory / "kernel.sass").stdout

"""``warpfile analyze`` on loops, divergent branches, opaque opcodes and encodings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.warpfile.conftest import Invoke, write_listing
from warpfile.compiler import parse
from warpfile.schemes import SCHEMES
from warpfile.workloads.analysis import analyze_function

LOOP = (
    "S2R R0, SR_TID.X",
    "IADD3 R0, R0, -0x1, RZ",
    "ISETP.GT.AND P0, PT, R0, RZ, PT",
    "@P0 BRA `(again)",
    "EXIT",
)


@pytest.fixture
def facts(invoke: Invoke, folder: Path) -> Any:
    """Run one command line that must succeed and give its JSON."""

    def call(*arguments: object) -> Any:
        result = invoke(*arguments, "--json", folder / "facts.json")
        assert result.exit_code == 0, result.output
        return json.loads((folder / "facts.json").read_text())

    return call


def loop(kernel: Path) -> Path:
    write_listing(kernel, LOOP)
    listing = kernel / "kernel.sass"
    listing.write_text(listing.read_text().replace("        /*0010*/", "again:\n        /*0010*/"))
    return listing


def test_loops_branches_and_dominators(facts: Any, kernel: Path) -> None:
    (function,) = facts("analyze", loop(kernel))["functions"]
    assert function["loops"] == [{"header": 16, "blocks": [16]}]
    assert function["branches"] == [{"offset": 48, "uniform": False, "sides": [16, 64], "rejoin": None}]
    assert function["dominators"] == [[16, 0], [64, 16]]
    assert function["post_dominators"] == [[0, 16], [16, 64], [64, None]]
    assert function["routines"] == [{"name": "count", "start": 0, "end": 80}]


def test_instruction_rows_have_warp_liveness_and_definitions(facts: Any, kernel: Path) -> None:
    (function,) = facts("analyze", loop(kernel))["functions"]
    compare, leave = function["instructions"][2], function["instructions"][4]
    assert compare["defined_at"] == {"0": [16]}
    assert compare["divergent_uses"] == [0]
    # EXIT uses R1 only; lanes that still loop need R0.
    assert (leave["live_in"], leave["warp_live_in"]) == ([1], [0, 1])


@pytest.mark.parametrize(("preset", "told"), [("ampere", True), ("hopper", False)])
def test_code_for_another_gpu_than_the_presets_is_a_warning(facts: Any, kernel: Path, preset: str, told: bool) -> None:
    listing = loop(kernel)
    listing.write_text("\t.target\tsm_90\n" + listing.read_text())
    said = "control codes are for sm_90, and the latencies are those of sm_86: use --preset hopper (for modern)"
    assert facts("analyze", listing, "--scheme", "modern", "--preset", preset)["warnings"] == [said] * told


def test_opaque_opcodes_are_a_warning(invoke: Invoke, facts: Any, kernel: Path) -> None:
    write_listing(kernel, ("FUTURE.NEW R2, R4, {odd}", "BRX R6 -0x10", "EXIT"))
    found = facts("analyze", kernel / "kernel.sass")
    assert [warning.partition(": ")[2] for warning in found["warnings"]] == [
        "opcode FUTURE.NEW is not known (at 0x0000)",
        "targets of BRX are not shown, control flow behind it is not known (at 0x0010)",
    ]
    assert "warning: " in invoke("analyze", kernel / "kernel.sass").stdout
    assert set(range(2, 8)) <= set(found["functions"][0]["instructions"][0]["uses"])


def test_uses_that_the_same_definitions_reach_share_their_list() -> None:
    code = ("S2R R2, SR_TID.X", "@P0 MOV R2, RZ", "MOV R4, R2", "MOV R6, R2", "EXIT")
    lines = "".join(f"        /*{16 * number:04x}*/                   {text} ;\n" for number, text in enumerate(code))
    (function,) = parse(f'\t.section\t.text.k,"ax",@progbits\nk:\n{lines}', "t").functions.values()
    rows = analyze_function(function, ["baseline"])["instructions"]
    first, second = (rows[number]["defined_at"][2] for number in (2, 3))
    assert first == [0, 16] and first is second


def test_control_codes_are_shown_where_the_listing_has_them(facts: Any, kernel: Path) -> None:
    listing = kernel / "kernel.sass"
    listing.write_text(
        "\t\tFunction : count\n"
        "        /*0000*/   S2R R0, SR_TID.X ;   /* 0x0000000000007919 */\n"
        "                                        /* 0x000e220000002100 */\n"
        "        /*0010*/   EXIT ;               /* 0x000000000000794d */\n"
        "                                        /* 0x000fea0003800000 */\n"
    )
    (function,) = facts("analyze", listing)["functions"]
    assert function["instructions"][0]["control"] == {
        "stall": 1,
        "yields": False,
        "write_barrier": 0,
        "read_barrier": None,
        "wait_mask": 0,
        "reuse": 0,
    }


def test_what_belongs_together_and_what_is_dead_is_shown(
    facts: Any, invoke: Invoke, kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schemes = {name: SCHEMES[name] for name in ("corf", "corf_plus_virtual")}
    monkeypatch.setattr("warpfile.results.designs.SCHEMES", schemes)
    write_listing(kernel, ("IADD3 R4, R2, R3, RZ", "IADD3 R4, R4, R3, RZ", "MOV R5, R4", "EXIT"))
    (function,) = facts("analyze", kernel / "kernel.sass")["functions"]
    assert function["hints"]["corf"]["packing"] == {"0": "R2 with R3"}
    assert function["hints"]["corf_plus_virtual"]["packing"] == {"0": "right R2 R4, left R3"}
    assert function["hints"]["corf_plus_virtual"]["dead"] == {"0": 1, "16": 2, "32": 1}
    assert "R2 with R3" in invoke("analyze", kernel / "kernel.sass").output


def test_codes_that_are_too_short_for_a_scheme_are_reported(invoke: Invoke, facts: Any, kernel: Path) -> None:
    listing = kernel / "kernel.sass"
    words = "000000020a057221", "000fe20000000000", "0000000506077221", "000fe20000000000"
    sums = "FADD R5, R10, R2", "FADD R7, R6, R5"
    lines = [
        f"        /*{16 * n:04x}*/   {text} ;  /* 0x{words[2 * n]} */\n          /* 0x{words[2 * n + 1]} */\n"
        for n, text in enumerate(sums)
    ]
    listing.write_text("\t\tFunction : count\n" + "".join(lines))
    result = invoke("analyze", listing, "--scheme", "modern")
    assert "modern: count: 0x10 issues 1 ticks after 0x0 wrote R5, and needs 4" in result.output
    assert "1 operands come too early" in result.output and result.exit_code == 1
    listing.write_text("\t\tFunction : count\n" + "".join(lines).replace("0x000fe2", "0x000fc8"))
    (function,) = facts("analyze", listing, "--scheme", "modern")["functions"]
    assert function["problems"] == {} and list(function["hints"]) == ["modern"]


def test_a_preset_that_is_unknown_is_refused(invoke: Invoke, kernel: Path) -> None:
    result = invoke("analyze", kernel / "kernel.sass", "--preset", "huge")
    assert result.exit_code == 2 and "--preset must be one of turing" in result.output

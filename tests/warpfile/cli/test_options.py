"""`all` stands for the schemes that fit; one that is named outright must fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import warpfile
from tests.warpfile.conftest import Invoke
from warpfile.results.designs import ALL, Design, chosen
from warpfile.schemes import SCHEMES

LARF = "warpfile: left out: larf (domains must be 1, not 4)\n"


def facts() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path("facts.json").read_text())
    return found


@pytest.mark.parametrize(
    ("names", "options", "left_out"),
    [
        (("run",), ("--preset", "turing"), LARF),
        (("energy",), ("--preset", "turing", "--prices", "cacti"), LARF),
        (("analyze",), ("--preset", "turing"), LARF),
        (("run",), (), ""),
        (
            ("run",),
            ("--set", "ports=1"),
            "warpfile: left out: modern (ports must be 3, not 1); larf (ports must be at least 3, not 1); sticky (ports"
            " must be at least 3, not 1, with forward_results=fixed)\n",
        ),
        (
            ("run",),
            ("--preset", "pascal_larf"),
            "warpfile: left out: bow, bow_wr (collectors must be a number from 1 to 32, not 64)\n",
        ),
        (
            ("run",),
            ("--scheduler", "two_level"),
            "warpfile: left out: modern+two_level (scheduler must be one without places, not two_level)\n",
        ),
    ],
)
def test_all_leaves_out_what_does_not_fit_and_says_why(
    invoke: Invoke, kernel: Path, names: tuple[str, ...], options: tuple[str, ...], left_out: str
) -> None:
    every = () if names == ("analyze",) else (ALL,)
    more = () if names == ("analyze",) else ("--set", "dependences=scoreboard")  # the listing has no control codes
    result = invoke(*names, *every, kernel, *options, *more, "--json", "facts.json")
    assert (result.exit_code, result.stderr) == (0, left_out)
    found = facts()
    schemes = found["functions"][0]["hints"] if names == ("analyze",) else found["schemes"]
    assert len(schemes) + len(found["left_out"]) == len(SCHEMES)
    assert not set(schemes) & set(found["left_out"]) and all(name in left_out for name in found["left_out"])


def test_a_trace_that_a_scheme_refuses_leaves_it_out(invoke: Invoke, kernel: Path) -> None:
    for command in (("run",), ("energy", "--prices", "cacti")):
        result = invoke(*command, ALL, kernel, "--json", "facts.json")
        assert (result.exit_code, result.stderr) == (0, "warpfile: left out: modern (count must have control codes)\n")
        assert set(facts()["schemes"]) == set(SCHEMES) - {"modern"} and set(facts()["left_out"]) == {"modern"}
    assert invoke("run", ALL, "modern", kernel).exit_code == 2


def test_what_is_left_out_is_no_design_any_more() -> None:
    choice = chosen([ALL], "tiny", ())

    def work(design: Design) -> str:
        if design.scheme.name == "bow":
            raise ValueError("its listing must be there: there is none")
        return design.scheme.name

    kept = [name for name in SCHEMES if name != "bow"]
    assert choice.each(work) == kept == [one.scheme.name for one in choice.designs]
    assert choice.left_out == {"bow": "its listing must be there: there is none"}


@pytest.mark.parametrize("names", [("larf",), ("larf", ALL), (ALL, "larf")])
def test_a_scheme_that_is_named_outright_is_refused(invoke: Invoke, kernel: Path, names: tuple[str, ...]) -> None:
    result = invoke("run", *names, kernel, "--preset", "turing", "--json", "facts.json")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "domains must be 1, not 4" in result.stderr and not Path("facts.json").exists()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--set", "warps=0"), "warps must be a number from 1 to 64, not 0"),
        (("--set", "nothing=1"), "'nothing' is no configuration field"),
        (("--set", "window=wide"), "window must be a whole number, not 'wide'"),
        (("--set", "window"), "--set must be FIELD=VALUE"),
        (("--preset", "nothing"), "--preset must be one of"),
    ],
)
def test_what_no_scheme_can_do_is_refused_in_one_line(
    invoke: Invoke, kernel: Path, options: tuple[str, ...], why: str
) -> None:
    result = invoke("run", ALL, kernel, *options)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert why in result.stderr and "left out" not in result.stderr


def test_verilog_and_areas_are_of_what_fits(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpfile.results.designs.SCHEMES", {name: SCHEMES[name] for name in ("baseline", "larf")})
    small = ("--preset", "turing", "--set", "lanes=1", "--set", "warps=4", "--json", "facts.json")
    result = invoke("generate", ALL, *small)
    assert (result.exit_code, result.stderr) == (0, LARF)
    assert list(facts()["schemes"]) == ["baseline"] and set(facts()["left_out"]) == {"larf"}


def test_python_programs_see_what_was_left_out(kernel: Path) -> None:
    found = warpfile.simulate(ALL, kernel, preset="turing")
    assert len(found.runs) == len(SCHEMES) - 2 and set(found.left_out) == {"larf", "modern"}
    assert found.left_out["larf"].startswith("domains must be 1, not 4")

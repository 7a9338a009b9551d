"""The kit drives and checks the machine of every scheme as it was generated, at its pins alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from warpfile.schemes import SCHEMES, find
from warpfile.sim.kit import run
from warpfile.spec.stress import stress_trace
from warpfile.verilog.generate import generate

pytestmark = pytest.mark.needs("iverilog")

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "integration"


def at_the_pins(name: str, folder: Path, **changes: object) -> str:
    """What the example of a machine alone says of a scheme and a stress trace."""
    scheme = find(name)
    made = generate(scheme, scheme.configuration("tiny", **changes), "tiny", folder).paths
    trace = folder / "trace.npz"
    stress_trace(3, warps_per_cta=(2, 3), ctas=2, length=24, registers=20).save(trace)
    environment = {"MANIFEST": str(made["manifest"]), "TRACE": str(trace)}
    return run(
        "icarus", [made["machine"], made["sram"]], "warpfile", "test_pins", folder, environment=environment, seed=2
    )


@pytest.fixture(autouse=True)
def example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])


def test_the_kit_checks_hints_flags_and_beats_of_several_sources(tmp_path: Path) -> None:
    assert "operands" in at_the_pins("rfc", tmp_path)


@pytest.mark.regress
def test_the_kit_says_which_loads_miss(tmp_path: Path) -> None:
    assert "operands" in at_the_pins("baseline+two_level", tmp_path, active_warps=1, long_from="miss", resume="all")


@pytest.mark.regress
@pytest.mark.parametrize("name", SCHEMES)
def test_the_kit_checks_every_scheme(name: str, tmp_path: Path) -> None:
    assert "operands" in at_the_pins(name, tmp_path)

"""The examples of examples/integration run as their page says, and find what is planted into them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import warpfile.sim.simulators as simulators
from warpfile.sim.kit import run, run_plain

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "integration"
BUILD = ROOT / "build" / "sim"
COUNTS = {"testbench": "results", "pins": "108 operands, 84 results", "sm": "108 operands, 84 results"}
#: What is planted into the text of a file, and what the message must name.
SM_FAULTS = {
    "operands swapped": ("used[1] ? operands[p*OPERANDS + DATA", "used[1] ? operands[p*OPERANDS", "the result for R"),
    "a dispatch dropped": (
        "dispatch_valid && (writes",
        "dispatch_valid && dest != 4 && (writes",
        "something must happen",
    ),
    "ready of a result ignored": ("else if (result_ready)", "else", "result changes before it is taken"),
    "room of a buffer ignored": ("&& decode_ready[turn]", "", "sent to a warp whose bit of decode_ready is clear"),
    "a beat skipped": ("pc + 1'd1", "pc + (pc == 3 ? 2'd2 : 2'd1)", "of decode must be"),
    "tokens forgotten": (
        "tokens, dest, warp, writes}",
        "{TOKENS{1'b0}}, dest, warp, writes}",
        "a result is returned for",
    ),
    "a lane lost": ("{mask, tokens, dest", "{mask & 4'd7, tokens, dest", "mask of the result"),
    "a warp that is never fed": (
        "&& decode_ready[turn]",
        "&& decode_ready[turn] && turn != 2",
        "something must happen",
    ),
    "a barrier kept outside": (
        "decode = beats[pc];",
        "decode = beats[pc] ^ (beats[pc][6:5] == 2 ? 99'd2 << 5 : 99'd0);",
        "kind of decode must be 0x2, not 0x0",
    ),
    "a unit that works on in a reset": ("if (rst) busy", "if (rst && busy !== 1) busy", "released but not pending"),
    "a wrong sum": ("computed = a + b + number", "computed = a + number", "the result for R2"),
}
#: Connections of a wrapper that differ from the pin, by the number of the fault: sources of what it says.
WRAPPED = {
    "operands__0": "fault == 1 ? {inner_operands__0[127:0], inner_operands__0[255:128]} : inner_operands__0",
    "dispatch__2__valid": "inner_dispatch__2__valid && !(fault == 2 && inner_dispatch__2__payload[8:3] == 4)",
    "decode_ready": "inner_decode_ready | {5{fault == 5}} & inner_resident",
    "dispatch__0__payload": "inner_dispatch__0__payload & ~(fault == 6 ? 48'h8 : 48'h0)",
}
DRIVEN = {
    "dispatch__2__ready": "dispatch__2__ready || fault == 2 && inner_dispatch__2__payload[8:3] == 4",
    "dispatch__0__ready": "dispatch__0__ready || fault == 3",
    "result__0__payload": "result__0__payload & ~(fault == 4 ? 30'd1 << 27 : 30'd0)",
}


def wrapper(manifest: Path) -> str:
    """Verilog of ``wrapped``, with the pins of a machine and ``fault``."""
    ports = json.loads(manifest.read_text())["ports"]
    declared, wires, connected, assigned = ["input [3:0] fault"], [], [], []
    for port in ports:
        name, bits = port["name"], f"[{port['width'] - 1}:0]"
        declared.append(f"{port['direction']} {bits} {name}")
        if port["direction"] == "input":
            connected.append(f".{name}({DRIVEN.get(name, name)})")
        else:
            wires.append(f"  wire {bits} inner_{name};\n")
            connected.append(f".{name}(inner_{name})")
            assigned.append(f"  assign {name} = {WRAPPED.get(name, f'inner_{name}')};\n")
    instance = f"  warpfile machine ({', '.join(connected)});\n"
    return f"module wrapped ({', '.join(declared)});\n{''.join(wires)}{instance}{''.join(assigned)}endmodule\n"


@pytest.fixture(scope="module")
def example() -> object:
    """The module run.py."""
    sys.path.insert(0, str(FOLDER))
    try:
        import run as module

        yield module
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def machine(example, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], dict[str, str]]:
    """Files of the generated machine, and the environment of the tests."""
    return example.prepare(tmp_path_factory.mktemp("machine"))


def command(*arguments: str) -> dict[str, str]:
    """Lines that the command of the page prints, by example."""
    said = subprocess.run(
        [sys.executable, "examples/integration/run.py", *arguments],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return dict(line.split(": ", 1) for line in said.stdout.splitlines())


@pytest.mark.check
@pytest.mark.needs("iverilog")
def test_all_examples_run_in_icarus() -> None:
    said = command("--simulator", "icarus")
    assert said.keys() == COUNTS.keys()
    assert all(said[name].endswith(counts) for name, counts in COUNTS.items())


@pytest.mark.check
def test_those_for_cocotb_run_in_verilator() -> None:
    said = command("pins", "sm")
    assert {name: said[name].endswith(COUNTS[name]) for name in said} == {"pins": True, "sm": True}


@pytest.mark.regress
def test_the_testbench_runs_in_verilator() -> None:
    assert command("testbench", "--seed", "5")["testbench"].startswith("PASS")


@pytest.mark.check
@pytest.mark.parametrize("simulator", ["verilator", pytest.param("icarus", marks=pytest.mark.needs("iverilog"))])
def test_every_fault_between_the_pins_and_a_machine_is_found(machine, simulator: str, tmp_path: Path) -> None:
    verilog, environment = machine
    source = tmp_path / "wrapped.v"
    source.write_text(wrapper(Path(environment["MANIFEST"])))
    directory = BUILD / f"integration-{simulator}-wrapped"
    said = run(simulator, [source, *verilog], "wrapped", "tests.examples.wrapped", directory, environment=environment)
    assert said.count("fault ") > 1


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize("name", SM_FAULTS)
def test_a_fault_of_the_sm_is_found(example, machine, name: str, tmp_path: Path) -> None:
    right, false, message = SM_FAULTS[name]
    sources = [tmp_path / "sm.v", tmp_path / "unit.v"]
    for source in sources:
        source.write_text((FOLDER / source.name).read_text().replace(right, false))
    assert any(source.read_text() != (FOLDER / source.name).read_text() for source in sources)
    with pytest.raises(AssertionError, match=message):
        example.simulate("sm", "icarus", *machine, tmp_path, 1, sources)


@pytest.mark.needs("iverilog")
def test_a_cta_that_is_not_launched_at_once_is_found(example, machine, tmp_path: Path) -> None:
    """Its first warp gets a beat before the second one comes."""
    text = (FOLDER / "sm.v").read_text()
    for right, false in (
        ("launched != COUNT;", "launched != COUNT && (launched != 1 || turn == 3 && fetched[0] != 0);"),
        ("!launch_valid && decode", "(launched == COUNT || turn == 0 && launched == 1) && decode"),
    ):
        assert text.count(right) == 1
        text = text.replace(right, false)
    (tmp_path / "sm.v").write_text(text)
    with pytest.raises(AssertionError, match="a warp is launched into a CTA of which a warp has been sent a beat"):
        example.simulate("sm", "icarus", *machine, tmp_path, 1, [tmp_path / "sm.v", FOLDER / "unit.v"])


def test_the_sm_is_lint_clean(machine, tmp_path: Path) -> None:
    """The rules that generated Verilog is excused from hold for the SM."""
    verilog, _ = machine
    rules = tmp_path / "lint.vlt"
    rules.write_text((ROOT / "warpfile/verilog/lint.vlt").read_text().replace('-file "*"', '-file "*/baseline*.v"'))
    sources = [FOLDER / "sm.v", FOLDER / "unit.v", *verilog]
    said = subprocess.run(
        [simulators.verilator_executable(), "--lint-only", "-Wall", "--top-module", "sm", rules, *sources],
        env=simulators.verilator_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert not said.returncode, said.stderr


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize(
    ("right", "false", "message"),
    [
        (".operands__1(operands[1*OPERANDS +: OPERANDS])", ".operands__1(operands[0 +: OPERANDS])", "wrong operand"),
        ("dispatch_valid[p] && dispatch_ready[p]", "dispatch_valid[p]", "a beat leaves that must not"),
        ("sending && decode_ready[decode[WARP-1:0]]", "sending", "rule of the pins"),
        ("result_valid[p] <= 0;", "if ($random(seed) % 2) result_valid[p] <= 0;", "rule of the pins"),
    ],
)
def test_the_testbench_finds(machine, tmp_path: Path, right: str, false: str, message: str) -> None:
    text = (FOLDER / "testbench.v").read_text()
    assert right in text
    (tmp_path / "testbench.v").write_text(text.replace(right, false))
    said = run_plain("icarus", [tmp_path / "testbench.v", *machine[0]], tmp_path, top="testbench", plusargs=["+seed=1"])
    assert "PASS" not in said
    assert re.search(message, said), said

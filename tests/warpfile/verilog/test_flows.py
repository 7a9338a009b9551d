"""What goes with the Verilog works in the tools that it is for: FuseSoC, Verilator, Icarus, OpenSTA."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.synth.test_timing import CELLS, HEAD
from warpfile.schemes import SCHEMES
from warpfile.sim.simulators import verilator_environment, verilator_executable
from warpfile.synth.timing import ASSUMPTIONS, DELAYS, DRIVES
from warpfile.verilog.flows import lint_rules
from warpfile.verilog.generate import generate
from warpfile.verilog.names import Names

HERE = ("baseline", "rfc")
_USER = """\
CAPI=2:
name: "user:chip:bench:1"
filesets:
  bench:
    files: [bench.v]
    file_type: verilogSource-2005
    depend: ["warpfile:generated:warpfile_baseline", "warpfile:generated:warpfile_rfc"]
targets:
  sim:
    filesets: [bench]
    toplevel: bench
    flow: sim
    flow_options: {tool: icarus}
"""
_BENCH = """\
module bench;
  wire [4:0] ready, others;
  reg clk = 0, rst = 1;
  warpfile_baseline one (.clk(clk), .rst(rst), .decode_ready(ready));
  warpfile_rfc other (.clk(clk), .rst(rst), .decode_ready(others));
  initial begin
    repeat (2) #1 clk = ~clk;
    $display("ready %b, %b", ready, others);
    $finish;
  end
endmodule
"""


@pytest.fixture(scope="module")
def rtl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two schemes beside each other."""
    folder = tmp_path_factory.mktemp("rtl")
    for name in HERE:
        cfg = SCHEMES[name].configuration("tiny", lanes=1)
        generate(SCHEMES[name], cfg, "tiny", folder, names=Names.of(name, False, None, None))
    return folder


def fusesoc(cores: Path, target: str, core: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run FuseSoC on a target of a core, with the Verilator that lockstep uses."""
    environment = verilator_environment() | {"HOME": str(Path.cwd())}
    environment["PATH"] = f"{verilator_executable().parent}{os.pathsep}{environment['PATH']}"
    command = [Path(sys.executable).with_name("fusesoc"), "--cores-root", cores, "run", f"--target={target}"]
    command += [f"--work-root=work-{target}", *options, core]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.check
@pytest.mark.parametrize("name", HERE)
def test_fusesoc_lints_a_core_without_a_warning(rtl: Path, name: str) -> None:
    done = fusesoc(rtl, "lint", f"warpfile:generated:warpfile_{name}")
    assert done.returncode == 0 and "%" not in done.stdout + done.stderr, done.stdout + done.stderr


def test_fusesoc_finds_a_fault_in_a_core(rtl: Path, folder: Path) -> None:
    shutil.copytree(rtl, folder / "broken")
    machine = folder / "broken/baseline.v"
    machine.write_text(machine.read_text().replace("endmodule", "wire undriven; wire copy = undriven;\nendmodule", 1))
    done = fusesoc(folder / "broken", "lint", "warpfile:generated:warpfile_baseline")
    assert done.returncode != 0 and "UNDRIVEN" in done.stdout + done.stderr


@pytest.mark.needs("iverilog")
def test_a_design_that_depends_on_two_cores_is_simulated(rtl: Path, folder: Path) -> None:
    shutil.copytree(rtl, folder / "cores")
    (folder / "cores/bench.core").write_text(_USER)
    (folder / "cores/bench.v").write_text(_BENCH)
    done = fusesoc(folder / "cores", "sim", "user:chip:bench")
    assert done.returncode == 0 and "ready 11111, 11111" in done.stdout, done.stdout + done.stderr


def test_the_package_comes_to_a_design_that_asks_for_it(rtl: Path, folder: Path) -> None:
    shutil.copytree(rtl, folder / "cores")
    user = _USER.replace("verilogSource-2005", "systemVerilogSource").replace("flow: sim", "flow: lint")
    (folder / "cores/bench.core").write_text(user.replace("icarus", "verilator"))
    (folder / "cores/bench.v").write_text("module bench; warpfile_rfc_pkg::decode_t beat; endmodule\n")
    assert fusesoc(folder / "cores", "sim", "user:chip:bench").returncode != 0
    assert fusesoc(folder / "cores", "sim", "user:chip:bench", "--flag=package").returncode == 0


def test_fusesoc_sets_up_synthesis_without_the_checker(rtl: Path, folder: Path) -> None:
    done = fusesoc(rtl, "synth", "warpfile:generated:warpfile_baseline", "--setup")
    assert done.returncode == 0, done.stderr
    read = re.findall(r"read_verilog .*/(\w+\.v)}", Path("work-synth/edalize_yosys_procs.tcl").read_text())
    assert read == ["baseline.v", "baseline_sram.v"]


def test_the_file_list_is_the_machine(rtl: Path) -> None:
    top = ["--top-module", "warpfile_rfc"]
    command = [verilator_executable(), "--lint-only", "-Wall", *top, rtl / "rfc.vlt", "-F", rtl / "rfc.f"]
    done = subprocess.run(command, capture_output=True, text=True, env=verilator_environment(), check=False)
    assert done.returncode == 0 and "%" not in done.stderr, done.stderr


def test_rules_are_off_in_our_files_alone(rtl: Path, folder: Path) -> None:
    Path("user.v").write_text("module user(input a); warpfile_baseline_bank_sram bank(.clk(a)); endmodule\n")
    sources = [rtl / "baseline.vlt", rtl / "baseline_sram.v", "user.v"]
    command = [verilator_executable(), "--lint-only", "-Wall", "-Wno-fatal", "--top-module", "user", *sources]
    done = subprocess.run(command, capture_output=True, text=True, env=verilator_environment(), check=False)
    files = re.findall(r"^%Warning-\w+: (\S+?):", done.stderr, re.MULTILINE)
    assert files and set(files) == {"user.v"}
    assert '-file "*"' not in lint_rules(["x.v"], "x_pkg.sv") and '-file "*x_pkg.sv"' in lint_rules([], "x_pkg.sv")


def pins(rtl: Path) -> list[dict[str, Any]]:
    return json.loads((rtl / "baseline.json").read_text())["ports"]


def test_the_constraints_name_every_port_once(rtl: Path) -> None:
    text = (rtl / "baseline.sdc").read_text()
    groups = dict(re.findall(r"set (\w+)s \[get_ports \{(.*?)\}\]", text, re.DOTALL))
    for direction in ("input", "output"):
        wanted = [port for port in pins(rtl) if port["direction"] == direction and port["name"] != "clk"]
        assert groups[direction].split() == [port["name"] + "[*]" * (port["width"] > 1) for port in wanted]


def test_the_constraints_say_what_critical_paths_assume(rtl: Path, root: Path) -> None:
    text, page = (rtl / "baseline.sdc").read_text(), (root / "docs/area.md").read_text()
    assert all(f"# {line}\n" in text and f"* {line}\n" in page for line in ASSUMPTIONS)
    assert DELAYS in text and all(f"# {line}\n" in text for line in DRIVES.splitlines())


@pytest.mark.needs("sta")
@pytest.mark.parametrize("missing", ["", "exit"])
def test_opensta_takes_the_constraints(rtl: Path, folder: Path, missing: str) -> None:
    """With what they leave open filled in; a port that the design does not have is noticed."""
    there = [port for port in pins(rtl) if port["name"] != missing]
    ports = ", ".join(f"{port['direction']} [{port['width'] - 1}:0] {port['name']}" for port in there)
    names = ", ".join(port["name"] for port in there)
    declared = "".join(f"{one};\n".replace("[0:0] ", "") for one in ports.split(", "))
    Path("stub.v").write_text(f"module warpfile_baseline ({names});\n{declared}endmodule\n")
    Path("cells.lib").write_text("".join((HEAD, *CELLS, "}")))
    given = "set driver BUF\nset pin Y\nset load 0.1\n"
    text = (rtl / "baseline.sdc").read_text().replace("# set_", "set_")
    Path("pins.sdc").write_text(given + text)
    script = "read_liberty cells.lib\nread_verilog stub.v\nlink_design warpfile_baseline\nsource pins.sdc\n"
    Path("run.tcl").write_text(script)
    done = subprocess.run(["sta", "-exit", "run.tcl"], capture_output=True, text=True, check=False)
    said = [line for line in (done.stdout + done.stderr).splitlines() if re.match("Error|Warning", line)]
    assert bool(said) == bool(missing), said

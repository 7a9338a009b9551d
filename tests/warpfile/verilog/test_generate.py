"""Verilog and manifest: complete, consistent with each other, the same bytes every time, read by other tools."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.warpfile.conftest import Invoke, Made
from warpfile import yosys
from warpfile.schemes import SCHEMES
from warpfile.sim.runner import cosim
from warpfile.sim.simulators import verilator_environment, verilator_executable
from warpfile.spec.config import Config
from warpfile.spec.presets import PRESETS
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stress import stress_trace
from warpfile.spec.structure import Ram
from warpfile.verilog.generate import FILES
from warpfile.verilog.names import Names

#: Every scheme with the small preset, and with all in the long regression; at full width random machines pass the same
#: lint (``tests/machines``).
every_design = pytest.mark.parametrize(
    ("scheme", "preset"),
    [
        pytest.param(name, preset, marks=() if preset == "tiny" else pytest.mark.regress)
        for name in SCHEMES
        for preset in PRESETS
    ],
)


def lint(*sources: Path, top: str = "warpfile") -> str:
    """Warnings of Verilator with everything on but the waived rules."""
    root = Path(__file__).resolve().parents[3]
    command = [verilator_executable(), "--lint-only", "-Wall", "--top-module", top, root / "warpfile/verilog/lint.vlt"]
    done = subprocess.run(
        [*map(str, command), *map(str, sources)],
        capture_output=True,
        text=True,
        env=verilator_environment(),
        check=False,
    )
    return "\n".join(line for line in (done.stdout + done.stderr).splitlines() if line.startswith("%"))


@pytest.mark.check
@every_design
def test_verilator_finds_nothing(made: Made) -> None:
    assert lint(*made.sources) == ""


@pytest.mark.check
@every_design
def test_yosys_reads_it_and_counts_the_same_flip_flops(made: Made) -> None:
    script = "read_verilog *.v; hierarchy -check -top warpfile; proc; tee -q -o stat.json stat -width -json"
    for path in made.sources:
        shutil.copy(path, path.name)
    yosys.start(["-q", "-p", script], Path.cwd())
    modules = json.loads(Path("stat.json").read_text())["modules"]
    memories = {memory["module"] for memory in made.facts["memories"]}
    found = {name.removeprefix("\\"): _flip_flops(stat) for name, stat in modules.items()}
    instances = _instances("".join(path.read_text() for path in made.sources[:2]))
    ours = made.facts["storage_bits"]["flip_flops"]["by_structure"]
    assert ours == {name: bits * instances[name] for name, bits in found.items() if bits and name not in memories}


def _flip_flops(stat: dict[str, Any]) -> int:
    cells = stat["num_cells_by_type"].items()
    return sum(int(kind.rpartition("_")[2]) * count for kind, count in cells if re.match(r"\$s?dff", kind))


def _instances(text: str) -> dict[str, int]:
    """Instances of each module, counted by expanding the hierarchy name by name."""
    bodies = {match[1]: match[2] for match in re.finditer(r"^module \\?(\S+?) ?\((.*?)^endmodule", text, re.M | re.S)}
    counts = dict.fromkeys(bodies, 0)

    def expand(name: str) -> None:
        counts[name] += 1
        for child in re.findall(r"^  \\?(\S+) +\S+ \($", bodies[name], re.M):
            expand(child)

    expand("warpfile")
    return counts


@pytest.mark.needs("iverilog")
@every_design
def test_icarus_reads_it(made: Made) -> None:
    subprocess.run(["iverilog", "-g2005", "-s", "warpfile", "-o", os.devnull, *made.sources], check=True)


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize(("scheme", "preset"), [(name, "tiny") for name in SCHEMES])
def test_the_files_of_a_scheme_equal_its_golden_model(root: Path, made: Made, scheme: str, preset: str) -> None:
    """Lockstep makes a text of its own, but those that users have run in it too."""
    cfg, verilog = SCHEMES[scheme].configuration(preset), "".join(path.read_text() for path in made.sources[:2])
    trace = stress_trace(3, warps_per_cta=[2, 3], ctas=3, length=40, profile="mixed")
    options = {"simulator": "icarus", "build_root": root / "build", "verilog": verilog}
    outcome = cosim(SCHEMES[scheme], cfg, trace, **options).outcome
    assert outcome.mismatches == 0, outcome.first_mismatch
    assert outcome.instructions == trace.instructions
    assert outcome.operands_checked == outcome.golden_operands_checked > 0


@every_design
def test_no_register_has_an_initial_value(made: Made) -> None:
    """But for the names that make a block run at time 0."""
    text = "".join(path.read_text() for path in made.sources[:2])
    assert "initial" not in re.sub(r"//.*", "", text)
    valued = re.findall(r"^ *(?:output )?(?:reg|integer)\b[^;/]*=[^;]*;", text, re.M)
    assert {line.strip() for line in valued} <= {"reg at_start = 0;"}
    assert len(re.findall(r"^ *reg [^;=]*;", text, re.M)) > 20


@every_design
def test_the_manifest_lists_the_ports_of_the_verilog(made: Made) -> None:
    top = made.verilog.read_text().partition("module warpfile(")[2].partition("endmodule")[0]
    declared = re.findall(r"^  (input|output) (?:\[(\d+):0\] )?(\S+);", top, re.M)
    ports = {(port["direction"], port["width"], port["name"]) for port in made.facts["ports"]}
    assert ports == {(direction, int(high or 0) + 1, name) for direction, high, name in declared}
    for port in made.facts["ports"]:
        offset = 0
        for field in port.get("fields", []):
            assert field["offset"] == offset
            offset += field["width"]
        assert offset in (0, port["width"])


@every_design
def test_every_module_and_every_port_has_a_comment(made: Made) -> None:
    text = made.verilog.read_text()
    assert not uncommented(text)
    assert uncommented(re.sub(r"(output \S+ \w+;)  // .*", r"\1", text, count=1))
    assert uncommented(re.sub(r"^// .*\n(?=module)", "", text, count=1, flags=re.MULTILINE))


def uncommented(text: str) -> list[str]:
    """Heads of modules, and ports, without a comment."""
    heads = re.findall(r"^(.*)\n(module \w+)", text, re.MULTILINE)
    ports = re.findall(r"^  (?:input|output) [^/]*$", text, re.MULTILINE)
    return [*(name for before, name in heads if not before.startswith("// ")), *ports]


@every_design
def test_the_manifest_states_the_register_file(made: Made, scheme: str, preset: str) -> None:
    cfg = SCHEMES[scheme].configuration(preset)
    facts = made.facts
    assert facts["parameters"] == cfg.to_json()
    assert facts["files"] == [f"{scheme}{end}" for end in FILES.values()]
    bits = sum(memory["bits"] for memory in facts["memories"])
    assert facts["storage_bits"]["memories"]["total"] == bits >= cfg.banks * cfg.rows * cfg.data_bits
    assert memory_ports(facts) == declared_ports(cfg)


@pytest.mark.parametrize(("scheme", "preset"), [("baseline", "tiny")])
def test_memories_with_other_ports_than_declared_are_found(made: Made) -> None:
    cfg = SCHEMES["baseline"].configuration("tiny")
    assert cfg.bank_ports == "1RW"
    assert memory_ports(made.facts) == declared_ports(cfg) != declared_ports(cfg.replace(bank_ports="1R1W"))


def memory_ports(facts: dict[str, Any]) -> dict[str, str]:
    """Ports that the manifest reads from the Verilog, by module."""
    return {memory["module"]: memory["ports"] for memory in facts["memories"]}


def declared_ports(cfg: Config) -> dict[str, str]:
    """Ports that the configuration says, by module."""
    names = Names.of("", True, None, None)
    return {names.module(name): ram.ports for name, ram in cfg.rams.items()}


@every_design
def test_memories_are_those_that_the_configuration_has(made: Made, scheme: str, preset: str) -> None:
    cfg = SCHEMES[scheme].configuration(preset)
    names = Names.of("", True, None, None)
    said = Counter({(names.module(name), *sizes(ram)): ram.instances * ram.arrays for name, ram in cfg.rams.items()})
    found: Counter[tuple[object, ...]] = Counter()
    for memory in made.facts["memories"]:
        found[memory["module"], memory["depth"], memory["width"], memory["ports"]] += memory["instances"]
    assert found == said


def sizes(ram: Ram) -> tuple[object, ...]:
    """Rows, bits and ports of one of the arrays."""
    return ram.rows, ram.width, ram.ports


@every_design
def test_the_manifest_gives_the_probe_layout(made: Made, scheme: str, preset: str) -> None:
    layout = ProbeLayout(SCHEMES[scheme].probes(SCHEMES[scheme].configuration(preset)))
    probes = made.facts["probes"]
    assert {field["name"]: field["offset"] for field in probes["fields"]} == layout.offset
    (port,) = [port for port in made.facts["ports"] if port["name"] == probes["port"]]
    assert port["width"] == probes["width"] == layout.width


@pytest.mark.regress
@pytest.mark.parametrize(("scheme", "preset"), [(name, scheme.preset) for name, scheme in SCHEMES.items()])
def test_a_wide_design_takes_less_than_fifteen_seconds(made: Made) -> None:
    assert made.facts["parameters"]["lanes"] == 32
    assert made.seconds < 15


@pytest.mark.parametrize(("scheme", "preset"), [("baseline", "tiny")])
def test_lint_still_sees_faults(made: Made) -> None:
    """The waived rules must not hide a truncated assignment, an unconnected pin or a latch."""
    text = made.verilog.read_text()
    faults = {
        "WIDTHTRUNC": "wire [3:0] wide = 4'd9; wire narrow; assign narrow = wide;",
        "UNDRIVEN": "wire undriven; wire copy = undriven;",
        "LATCH": "reg held; always @* if (clk) held = rst;",
    }
    for rule, fault in faults.items():
        head, end, tail = text.partition("endmodule")
        Path("broken.v").write_text(f"{head}{fault}\n{end}{tail}")
        assert rule in lint(Path("broken.v"), *made.sources[1:])


@pytest.mark.check
@pytest.mark.parametrize("scheme", ["baseline", "bow_wr"])
def test_equal_configurations_give_equal_bytes(scheme: str, root: Path, folder: Path) -> None:
    seeds = ("0", "1", "7")
    command = [sys.executable, "-m", "warpfile", "generate", scheme, "--preset", "tiny", "--set", "lanes=1", "-o"]
    runs = [
        subprocess.Popen([*command, str(folder / seed)], cwd=root, env=os.environ | {"PYTHONHASHSEED": seed},
                         stdout=subprocess.DEVNULL)
        for seed in seeds
    ]  # fmt: skip
    assert [run.wait() for run in runs] == [0, 0, 0]
    for end in FILES.values():
        name = f"{scheme}{end}"
        assert len({(folder / seed / name).read_bytes() for seed in seeds}) == 1


def test_generate_writes_what_it_says(invoke: Invoke, folder: Path) -> None:
    options = ("--preset", "tiny", "--set", "lanes=1", "--set", "warps=2")
    result = invoke("generate", "baseline", *options, "-o", "out/rtl", "--json", "facts.json")
    assert result.exit_code == 0, result.output
    assert {path.name for path in (folder / "out/rtl").iterdir()} == {f"baseline{end}" for end in FILES.values()}
    manifest = json.loads((folder / "out/rtl/baseline.json").read_text())
    assert json.loads((folder / "facts.json").read_text()) == {"schemes": {"baseline": manifest}, "left_out": {}}
    assert (manifest["scheme"], manifest["preset"], manifest["top"]) == ("baseline", "tiny", "warpfile")
    assert (manifest["parameters"]["lanes"], manifest["parameters"]["warps"]) == (1, 2)
    assert manifest["probes"] is None
    assert "probe" not in {port["name"] for port in manifest["ports"]}
    assert str(folder) not in (folder / "out/rtl/baseline.v").read_text()


def test_clock_gating_is_a_field_and_the_manifest_names_the_gate(invoke: Invoke, folder: Path) -> None:
    asked = ("generate", "baseline", "--preset", "tiny", "--set", "lanes=1", "-o", "rtl")
    for option, gates in ((("--clock-gating",), "arrays"), ((), "none")):
        assert invoke(*asked, *option).exit_code == 0
        facts = json.loads((folder / "rtl/baseline.json").read_text())
        assert facts["parameters"]["clock_gating"] == gates
        assert bool(facts["clock_gate"]) == ("test_enable" in {port["name"] for port in facts["ports"]})
        assert bool(facts["clock_gate"]) == (gates == "arrays")


def test_only_the_probes_that_are_named_are_observed_in_the_order_of_the_scheme(invoke: Invoke, folder: Path) -> None:
    design = ("baseline", "--preset", "tiny", "--set", "lanes=1", "--set", "warps=2")
    result = invoke("generate", *design, "--probe", "write_wait", "--probe", "room", "-o", "rtl")
    assert result.exit_code == 0, result.output
    manifest = json.loads((folder / "rtl/baseline.json").read_text())
    assert [(field["name"], field["offset"]) for field in manifest["probes"]["fields"]] == [
        ("room", 0),
        ("write_wait", 2),
    ]
    (port,) = [port for port in manifest["ports"] if port["name"] == "probe"]
    assert port["width"] == manifest["probes"]["width"] == 2 + manifest["parameters"]["write_back_ports"]
    assert [field["name"] for field in port["fields"]] == ["room", "write_wait"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--probe", "rooms"), "--probe: must be one of started, launch, "),
        (("--probe", "hit"), "with baseline, not 'hit'"),
        (("--probes", "--probe", "room"), "--probes has every probe; --probe must go without it"),
    ],
)
def test_a_probe_that_the_scheme_does_not_have_is_refused(
    invoke: Invoke, folder: Path, options: tuple[str, ...], said: str
) -> None:
    result = invoke("generate", "baseline", *options, "-o", "rtl")
    assert result.exit_code != 0
    assert said in result.output
    assert not (folder / "rtl").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("baseline", "bow", "--host", "vortex"), "--host must go with one SCHEME"),
        (("all", "--host", "vortex"), "--host must go with one SCHEME"),
        (("baseline", "--host", "vortex", "--set", "write_back_ports=3"), "write_back_ports must be 1, not 3"),
    ],
)
def test_a_machine_that_does_not_fit_a_host_is_refused(
    invoke: Invoke, folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    result = invoke("generate", *arguments, "-o", "rtl")
    assert result.exit_code == 2
    assert said in result.output
    assert not list(folder.glob("rtl/*"))


def test_a_failed_conversion_leaves_the_old_files(
    invoke: Invoke, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("baseline.v", "baseline.json"):
        (folder / name).write_text("old")

    def fail(*arguments: object, **options: object) -> None:
        raise OSError("disk is full")

    monkeypatch.setattr("warpfile.verilog.generate.design", fail)
    result = invoke("generate", "baseline")
    assert (result.exit_code, result.stderr) == (2, "warpfile: disk is full\n")
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"baseline.v": "old", "baseline.json": "old"}

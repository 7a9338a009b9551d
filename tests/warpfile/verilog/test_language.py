"""A machine in SystemVerilog does what the one in Verilog does, and tools read it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hdl.equivalence import prove
from tests.warpfile.verilog.test_flows import fusesoc
from tests.warpfile.verilog.test_generate import lint, uncommented
from tests.warpfile.verilog.test_slang import WAIVED, found
from warpfile.schemes import SCHEMES
from warpfile.sim.runner import cosim
from warpfile.sim.simulators import verilator_environment, verilator_executable
from warpfile.spec.stress import stress_trace
from warpfile.verilog.generate import Generated, generate
from warpfile.yosys import YosysError

#: Warnings of slang that stay in SystemVerilog, each with its reason.
WAIVED_OF_RECORDS = {
    "bitwise-op-mismatch": "a record is masked by the bits of a grant, side by side",
    "comparison-mismatch": "a record is compared with a vector of as many bits",
    "implicit-conv": "a record becomes one that has its bits and other names for them",
    "packed-array-conv": "an array of vectors in a record is a vector elsewhere",
}
#: Schemes that `make test` has; the others are left to `make check`.
IN_TEST = ("baseline", "modern")
every_scheme = pytest.mark.parametrize(
    "scheme", [pytest.param(one, marks=() if one in IN_TEST else pytest.mark.check) for one in SCHEMES]
)
Typed = Callable[..., Generated]


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Typed:
    """A scheme at ``tiny`` with all probes, made once in each language."""
    made: dict[tuple[str, str], Generated] = {}

    def one(scheme: str, language: str = "sv") -> Generated:
        if (scheme, language) not in made:
            cfg = SCHEMES[scheme].configuration("tiny")
            folder = tmp_path_factory.mktemp(f"{scheme}-{language}")
            probes = SCHEMES[scheme].probes(cfg)
            made[scheme, language] = generate(SCHEMES[scheme], cfg, "tiny", folder, probes=probes, language=language)
        return made[scheme, language]

    return one


def text(made: Generated, *files: str) -> str:
    """Of some files, without comments and macros, which hold what would look like Verilog; long pins in one line."""
    whole = "".join(made.paths[name].read_text() for name in files)
    return re.sub(r"\n {6}", " ", re.sub(r"//.*|^`.*", "", whole, flags=re.MULTILINE))


def proved(typed: Typed, scheme: str, package: Callable[[str], str] = str) -> int:
    """How many modules yosys proves equal in both languages."""
    machines = (text(typed(scheme, language), "machine", "sram") for language in ("sv", "verilog"))
    return prove(*machines, Path(), package(text(typed(scheme), "package")))


@every_scheme
def test_every_module_does_the_same(typed: Typed, scheme: str) -> None:
    machine = typed(scheme).paths["machine"].read_text()
    assert proved(typed, scheme) == machine.count("endmodule") > 15
    assert len(re.findall(r"_pkg::\w+_t ", machine)) > 50 and not uncommented(machine)
    assert not re.search(r"^ *(wire|reg|always) |always @", machine, re.MULTILINE)


def test_fields_at_other_places_are_found(typed: Typed) -> None:
    def swapped(package: str) -> str:
        one, other = "logic [15:0] token_reads;", "logic [15:0] token_writes;"
        assert one in package
        return package.replace(one, "HERE").replace(other, one).replace("HERE", other)

    with pytest.raises(YosysError):
        proved(typed, "baseline", swapped)


@every_scheme
def test_verilator_and_slang_find_nothing(typed: Typed, scheme: str) -> None:
    paths = typed(scheme).paths
    listed = [paths["list"].with_name(name) for name in paths["list"].read_text().split()]
    assert listed == [paths[name] for name in ("package", "machine", "sram")]
    assert lint(*listed, paths["checks"]) == ""
    assert not found(listed)[paths["machine"].name].keys() - WAIVED.keys() - WAIVED_OF_RECORDS.keys()


def test_verilator_finds_a_record_that_is_too_narrow(typed: Typed) -> None:
    paths = typed("baseline").paths
    narrow = Path(paths["package"].name)
    narrow.write_text(paths["package"].read_text().replace("logic [15:0] token_reads;", "logic [14:0] token_reads;"))
    assert "WIDTH" in lint(narrow, paths["machine"], paths["sram"])


@pytest.mark.check
@pytest.mark.parametrize("scheme", ["baseline", "malekeh"])
def test_it_equals_the_golden_model(root: Path, typed: Typed, scheme: str) -> None:
    made = typed(scheme)
    verilog = "".join(made.paths[name].read_text() for name in ("package", "machine", "sram"))
    trace = stress_trace(3, warps_per_cta=[2, 3], ctas=3, length=40, profile="mixed")
    outcome = cosim(
        SCHEMES[scheme], SCHEMES[scheme].configuration("tiny"), trace, build_root=root / "build", verilog=verilog
    ).outcome
    assert outcome.mismatches == 0, outcome.first_mismatch
    assert outcome.instructions == trace.instructions
    assert outcome.operands_checked == outcome.golden_operands_checked > 0


def test_the_rules_of_its_lint_are_those_of_its_files(typed: Typed) -> None:
    shutil.copytree(typed("baseline").paths["list"].parent, "rtl")
    command = [verilator_executable(), "--lint-only", "-Wall", "baseline.vlt", "-F", "baseline.f"]
    done = subprocess.run(
        [*map(str, command)], cwd="rtl", capture_output=True, text=True, env=verilator_environment(), check=False
    )
    assert done.returncode == 0 and "%" not in done.stderr
    assert "systemVerilogSource" in Path("rtl/baseline.core").read_text()


@pytest.mark.check
def test_fusesoc_has_the_package_in_every_target(typed: Typed) -> None:
    rtl = typed("baseline").paths["list"].parent
    done = fusesoc(rtl, "lint", "warpfile:generated:warpfile")
    assert done.returncode == 0 and "%" not in done.stdout + done.stderr, done.stdout + done.stderr
    done = fusesoc(rtl, "synth", "warpfile:generated:warpfile", "--setup")
    read = re.findall(r"read_verilog .*/(\w+\.s?v)}", Path("work-synth/edalize_yosys_procs.tcl").read_text())
    assert done.returncode == 0 and read == ["baseline_pkg.sv", "baseline.sv", "baseline_sram.v"], done.stderr


def test_verilog_is_what_comes_unasked(typed: Typed) -> None:
    made = generate(SCHEMES["baseline"], SCHEMES["baseline"].configuration("tiny"), "tiny", Path("rtl"))
    asked = Path("asked")
    generate(SCHEMES["baseline"], SCHEMES["baseline"].configuration("tiny"), "tiny", asked, language="verilog")
    assert made.paths["machine"].name == "baseline.v"
    assert all(path.read_bytes() == (asked / path.name).read_bytes() for path in made.paths.values())

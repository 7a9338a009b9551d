"""Two schemes in one design: they lint, simulate and synthesise together, and have no name in common."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.warpfile.conftest import Invoke
from tests.warpfile.verilog.test_generate import lint
from warpfile import yosys
from warpfile.cli.program import main
from warpfile.schemes import SCHEMES
from warpfile.spec.beat import decode_fields, launch_fields, pack_fields
from warpfile.spec.config import Config
from warpfile.spec.trace import Kind, Port
from warpfile.synth.liberty import Liberty, read_liberty
from warpfile.synth.overhead import MODULE_NOISE
from warpfile.synth.yosys import YosysError, synthesise
from warpfile.verilog.names import Names

OPTIONS = ("--preset", "tiny", "--set", "lanes=1")
SCHEMES_HERE = ("baseline", "rfc")
_DESIGN = """\
  wire [{warps}:0] {name}_ready, {name}_retired;
  wire {name}_issue;
  {top} {name} (
    .clk(clk), .rst(rst), .launch__valid(step == 1), .launch__payload({launch}), .decode(beat_of_{name}),
    .decode_valid(step == 3), .decode_ready({name}_ready), .issue({name}_issue), .retired({name}_retired),
    {quiet}
  );
  wire [{beat_top}:0] beat_of_{name} = {beat};
  always @(posedge clk) if ({name}_issue)
    $display("{name}: step %0d, ready %b, retired %b", step, {name}_ready, {name}_retired);
"""
_BENCH = """\
module bench(input clk, input rst, input [3:0] step);
{designs}endmodule
"""
_RUN = """\
module run;
  reg clk = 0, rst = 1;
  reg [3:0] step = 0;
  always #5 clk = ~clk;
  always @(posedge clk) begin
    rst <= 0;
    step <= rst ? 0 : step + 1;
    if (step == 9) $finish(0);
  end
  bench both (.clk(clk), .rst(rst), .step(step));
endmodule
"""


@pytest.fixture(scope="module")
def rtl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both designs, made once."""
    made = tmp_path_factory.mktemp("designs") / "rtl"
    result = CliRunner().invoke(main, ["generate", *SCHEMES_HERE, *OPTIONS, "-o", str(made)])
    assert result.exit_code == 0, result.output
    return made


@pytest.fixture
def sources(rtl: Path, folder: Path) -> list[Path]:
    """Both designs, and a bench that launches warp 2 of each and sends its EXIT."""
    shutil.copytree(rtl, "rtl")
    designs = "".join(_design(folder / f"rtl/{name}.json") for name in SCHEMES_HERE)
    Path("bench.v").write_text(_BENCH.format(designs=designs))
    Path("run.v").write_text(_RUN)
    return [Path("bench.v"), *sorted(Path("rtl").glob("*.v"))]


def _design(path: Path) -> str:
    """An instance of a design by its manifest; inputs that the test does not use are low."""
    facts = json.loads(path.read_text())
    cfg = configuration(facts["scheme"])
    used = {"clk", "rst", "launch__valid", "launch__payload", "decode", "decode_valid"}
    quiet = [port["name"] for port in facts["ports"] if port["direction"] == "input" and port["name"] not in used]
    return _DESIGN.format(
        name=facts["scheme"],
        top=facts["top"],
        warps=cfg.warps - 1,
        launch=_hex(launch_fields(cfg), {"warp": 2, "base": 0, "cta": 0}),
        beat_top=sum(width for _, width in decode_fields(cfg)) - 1,
        beat=_hex(decode_fields(cfg), exit_of(cfg, 2)),
        quiet=", ".join(f".{name}(0)" for name in quiet),
    )


def configuration(name: str) -> Config:
    return SCHEMES[name].configuration("tiny", lanes=1)


def exit_of(cfg: Config, warp: int) -> dict[str, int]:
    """Fields of an EXIT that executes."""
    values = dict.fromkeys((name for name, _ in decode_fields(cfg)), 0)
    return values | {"warp": warp, "port": int(Port.NONE), "kind": int(Kind.EXIT), "executes": 1, "mask": 1}


def _hex(fields: tuple[tuple[str, int], ...], values: dict[str, int]) -> str:
    return f"{sum(width for _, width in fields)}'h{pack_fields(fields, values):x}"


@pytest.mark.check
def test_no_module_has_the_name_of_another(sources: list[Path]) -> None:
    found = [name for path in sources for name in re.findall(r"^module (\w+)", path.read_text(), re.MULTILINE)]
    assert len(found) == len(set(found)) and {f"warpfile_{name}" for name in SCHEMES_HERE} < set(found)


def test_both_lint(sources: list[Path]) -> None:
    warnings = [line for line in lint(*sources, top="bench").splitlines() if "rtl/" in line]
    assert not warnings


@pytest.mark.needs("iverilog")
def test_both_run(sources: list[Path]) -> None:
    subprocess.run(["iverilog", "-g2005", "-s", "run", "-o", "run.vvp", "run.v", *sources], check=True)
    said = subprocess.run(["vvp", "-n", "run.vvp"], check=True, capture_output=True, text=True).stdout
    assert [line.partition(":")[0] for line in sorted(said.splitlines()) if "step" in line] == list(SCHEMES_HERE)
    assert said.count("retired 00100") == len(SCHEMES_HERE)


def test_both_synthesise(sources: list[Path]) -> None:
    script = (
        f"read_verilog {' '.join(map(str, sources))}; hierarchy -check -top bench; proc; opt_clean; memory_collect; "
    )
    script += "flatten; opt_clean; check -assert; stat"
    assert "Found and reported 0 problems" in yosys.start(["-p", script], Path.cwd())


@pytest.mark.check
def test_both_are_mapped_to_cells_and_neither_changes_the_other(sources: list[Path]) -> None:
    """Every module of both becomes cells of the library or instances, as large as without the other scheme.

    Registers and instances are as many; of gates the mapper may choose others, because of nothing but the order in
    which modules were read (``docs/area.md``).
    """
    text, library = "".join(path.read_text() for path in sources), read_liberty()
    boxes = re.findall(r"^module (\w+_bank_sram) ", text, re.MULTILINE)
    both = synthesise(text, "bench", boxes, library.text, levels=False).cells
    known = {*library.cells, *both, *boxes}
    assert all(cell in known for name, cells in both.items() if name != "bench" for cell in cells)
    other = text.replace("module bench", "module unused")
    alone = synthesise(other, "warpfile_baseline", boxes, library.text, levels=False).cells
    assert len(alone) > 10 and len(boxes) == 2
    assert all(_same(cells, both[name], library, MODULE_NOISE) for name, cells in alone.items())
    assert not _same({"DFF": 1}, {"DFF": 2}, library, 10) and not _same({"INV": 10}, {"INV": 12}, library, 0.1)
    others = both.keys() - alone.keys()
    assert others > {"warpfile_rfc", "warpfile_rfc_frame"} and sum(both["warpfile_rfc_frame"].values()) > 100


def _same(cells: dict[str, int], others: dict[str, int], library: Liberty, noise: float) -> bool:
    """Whether registers and instances are as many, and the gates as large but for noise."""
    (gates, rest), (other_gates, other_rest) = (
        (
            sum(library.cells[kind].area * count for kind, count in one.items() if _is_gate(kind, library)),
            {kind: count for kind, count in one.items() if not _is_gate(kind, library)},
        )
        for one in (cells, others)
    )
    return rest == other_rest and abs(other_gates - gates) <= noise * gates


def _is_gate(kind: str, library: Liberty) -> bool:
    return kind in library.cells and kind not in library.flip_flops


def test_a_design_that_lacks_a_module_is_not_mapped(sources: list[Path]) -> None:
    text = "".join(path.read_text() for path in sources if path.name != "rfc_sram.v")
    with pytest.raises(YosysError, match="warpfile_rfc_bank_sram"):
        synthesise(text, "bench", [], "")


@pytest.mark.check
@pytest.mark.needs("iverilog")
def test_the_same_prefix_twice_is_a_clash(invoke: Invoke, folder: Path) -> None:
    for name in SCHEMES_HERE:
        assert invoke("generate", name, *OPTIONS, "--prefix", "same_", "-o", "rtl").exit_code == 0
    sources = sorted(Path("rtl").glob("*.v"))
    done = subprocess.run(["iverilog", "-g2005", "-o", "x.vvp", *sources], capture_output=True, text=True, check=False)
    assert done.returncode and "same_instruction_buffer" in done.stderr


@pytest.mark.parametrize(
    ("options", "top", "module"),
    [
        ((), "warpfile", "warpfile_frame"),
        (("--prefix", "sm0_rf_"), "sm0_rf", "sm0_rf_frame"),
        (("--top", "operands"), "operands", "warpfile_frame"),
        (("--prefix", ""), "warpfile", "frame"),
    ],
)
def test_prefix_and_top_name_the_modules(
    invoke: Invoke, folder: Path, options: tuple[str, ...], top: str, module: str
) -> None:
    assert invoke("generate", "baseline", *OPTIONS, *options).exit_code == 0
    facts = json.loads(Path("baseline.json").read_text())
    found = re.findall(r"^module (\w+)", Path("baseline.v").read_text(), re.MULTILINE)
    assert facts["top"] == found[0] == top and module in found
    assert facts["prefix"] == module.removesuffix("frame")
    assert f"module {top}_checks " in Path("baseline_checks.v").read_text()
    assert f"module {facts['prefix']}bank_sram " in Path("baseline_sram.v").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("baseline", "--prefix", "2x"), "prefix must be letters, digits and underscores behind a letter, not '2x'"),
        (("baseline", "--top", "a.b"), "top must be letters, digits and underscores behind a letter, not 'a.b'"),
        ((*SCHEMES_HERE, "--top", "x"), "top must name one scheme: give a prefix for several"),
    ],
)
def test_names_that_no_module_can_have_are_refused(
    invoke: Invoke, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = invoke("generate", *arguments)
    assert (result.exit_code, result.stderr) == (2, f"warpfile: {message}\n")
    assert not any(folder.iterdir())


def test_parts_in_a_name_are_underscores_in_the_modules() -> None:
    assert Names.of("bow_wr+two_level", False, None, None).top == "warpfile_bow_wr_two_level"

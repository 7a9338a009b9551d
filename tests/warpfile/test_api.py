"""``import warpfile``: functions that do what the commands do, typed, with frames for results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpfile
from tests.warpfile.conftest import Invoke, write_listing
from warpfile.spec.stress import stress_trace
from warpfile.spec.trace import Trace
from warpfile.synth.area import AreaReport
from warpfile.synth.yosys import YosysError

LOADED = "import sys, warpfile; print(*(name for name in ('warpfile.api', 'pandas', 'numpy') if name in sys.modules))"
WRONG = """import warpfile
count: str = warpfile.simulate("baseline", "saxpy").runs[0].cycles
warpfile.simulate("baseline", 3)
"""


def test_runs_are_those_of_the_command(invoke: Invoke, kernel: Path) -> None:
    found = warpfile.simulate(["baseline", "bow_wr"], kernel, preset="tiny", lanes=4)
    frame = found.to_frame()
    said = invoke("run", "baseline", "bow_wr", kernel, "--preset", "tiny", "--set", "lanes=4").stdout
    assert list(frame["scheme"]) == ["baseline", "bow_wr"] and set(frame["config.lanes"]) == {4}
    assert list(frame["cycles"]) == [one.cycles for one in found.runs]
    for cycles in frame["cycles"]:
        assert f" {cycles} " in said
    assert (frame["ipc"] == frame["instructions"] / frame["cycles"]).all()
    assert (frame["counters.instructions"] == frame["instructions"]).all()


def test_a_comparison_has_both_baselines_and_names_what_differs(kernel: Path) -> None:
    found = warpfile.compare(["baseline", "bow", "rfc"], kernel, preset="turing")
    frame = found.to_frame().set_index("scheme")
    assert list(frame["cycles"]) == [
        one.cycles for one in warpfile.simulate([*frame.index], kernel, preset="turing").runs
    ]
    units = warpfile.simulate("baseline", kernel, preset="turing", source_slots=3).runs[0]
    assert frame.loc["rfc", "matched_cycles"] == units.cycles
    assert frame.loc["rfc", "ipc_growth_over_matched"] == pytest.approx(units.cycles / frame.loc["rfc", "cycles"] - 1)
    assert (frame["baseline_cycles"] == frame.loc["baseline", "cycles"]).all()
    assert frame["differs"].map(bool).to_dict() == {"baseline": False, "bow": True, "rfc": True}


def test_kernels_may_be_names_directories_files_and_traces(invoke: Invoke, kernel: Path) -> None:
    invoke("trace", kernel, "-o", "t.npz")
    every = [kernel, str(kernel), "t.npz", Trace.load(Path("t.npz"))]
    frame = warpfile.simulate("baseline", every, preset="tiny").to_frame()
    assert len(frame) == 4 and frame["cycles"].nunique() == 1
    stress = stress_trace(1, ctas=1, warps_per_cta=1, length=8, registers=8)
    assert len(warpfile.simulate("all", stress).runs) == len(warpfile.scheme_names())


def test_an_execution_has_outputs_and_counts_of_every_instruction(kernel: Path) -> None:
    found = warpfile.execute(kernel)
    assert found.ok and found.outputs["y"].tolist() == list(range(64))
    frame = found.to_frame()
    assert frame["issued"].tolist() == [2] * 5 and frame["active"].tolist() == [32.0] * 5
    assert frame["issued"].sum() == found.trace.instructions
    np.save(kernel / "y_expected.npy", np.zeros(64, np.int32))
    assert not warpfile.execute(kernel).ok
    with pytest.raises(warpfile.Difference, match="buffers are not what they must be"):
        warpfile.simulate("baseline", kernel)


def test_lanes_are_counted_before_and_behind_the_guard(kernel: Path) -> None:
    code = ("S2R R0, SR_TID.X", "ISETP.LT.AND P0, PT, R0, 0x8, PT", "@P0 IADD3 R0, R0, 0x1, RZ", "@P0 EXIT", "EXIT")
    write_listing(kernel, (*code, "NOP"))
    frame = warpfile.execute(kernel).to_frame()
    assert frame["issued"].tolist() == [2, 2, 2, 2, 2, 0]
    assert frame["active"].tolist() == [32, 32, 32, 32, 28, 0]  # of the first warp 24 lanes are left, of the other all
    assert frame["executing"].tolist() == [32, 32, 4, 4, 28, 0]


def test_an_analysis_has_a_row_per_instruction(kernel: Path) -> None:
    found = warpfile.analyze(kernel)
    frame = found.to_frame()
    assert frame["opcode"].tolist() == [row["opcode"] for row in found.functions[0]["instructions"]]
    assert frame["live"].tolist() == [len(row["live_in"]) for row in found.functions[0]["instructions"]]


@pytest.mark.needs("iverilog")
def test_lockstep_has_a_row_per_run(kernel: Path, monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    monkeypatch.chdir(root)
    found = warpfile.lockstep("baseline", kernel, preset="tiny", simulator="icarus", lanes=1)
    frame = found.to_frame()
    assert found.equal and frame["mismatches"].tolist() == [0]
    assert frame["cycles"].tolist() == [warpfile.simulate("baseline", kernel, preset="tiny", lanes=1).runs[0].cycles]


def test_costs_have_a_row_per_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(scheme: Any, cfg: Any, **options: Any) -> AreaReport:
        size = 100 if scheme.name == "baseline" else 150
        storage = {"flip_flops": {"warpfile": 10}, "memories": {"register_bank_ram": 1000}}
        return AreaReport("Yosys", "library", size, 10, None, float(size), storage, 5, ())

    monkeypatch.setattr("warpfile.synth.area.measure", measure)
    frame = warpfile.synthesize(["baseline", "bow"], preset="tiny").to_frame()
    assert frame["scheme"].tolist() == ["baseline", "bow"] and frame["cells"].tolist() == [100, 150]
    assert frame["overhead.logic"].tolist() == [0.0, 0.5]
    assert not [name for name in frame.columns if name.startswith(("modules", "overhead.modules"))]


def test_a_tool_that_fails_is_a_runtime_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(scheme: Any, cfg: Any, **options: Any) -> AreaReport:
        raise YosysError("yosys ended")

    monkeypatch.setattr("warpfile.synth.area.measure", measure)
    with pytest.raises(RuntimeError, match="baseline: yosys ended"):
        warpfile.synthesize("baseline")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: warpfile.simulate("nonsense", "saxpy"), "SCHEME must be one of"),
        (lambda: warpfile.simulate("baseline", "nonsense"), "KERNEL must be a bundled kernel"),
        (lambda: warpfile.simulate("baseline", "saxpy", preset="gtx"), "--preset must be one of"),
        (lambda: warpfile.simulate("baseline", "saxpy", lane=4), "no configuration field"),
        (lambda: warpfile.simulate("baseline", "saxpy", lanes=3), "lanes must be a power of two"),
        (lambda: warpfile.execute("saxpy", setting="huge"), "--setting must be one of"),
        (lambda: warpfile.import_cuda(".", "x"), "must be a regular file, not a directory"),
    ],
)
def test_wrong_requests_are_value_errors_in_the_words_of_the_command(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]


def test_a_frame_without_pandas_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'warpfile\[frames\]'"):
        warpfile.analyze("saxpy").to_frame()


def test_the_package_loads_nothing_before_it_is_asked() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_everything_promised_is_there_and_documented() -> None:
    from warpfile import api

    assert set(warpfile.__all__) == set(api.__all__) <= set(dir(warpfile))
    for name in warpfile.__all__:
        assert getattr(warpfile, name) is getattr(api, name)
        assert name == "Kernel" or getattr(warpfile, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        warpfile.nonsense  # noqa: B018
    assert "baseline" in warpfile.scheme_names() and "saxpy" in warpfile.kernel_names()
    assert "turing" in warpfile.preset_names()


def test_types_of_the_functions_reach_the_programs_that_call_them(root: Path, folder: Path) -> None:
    assert (root / "warpfile" / "py.typed").is_file()
    (folder / "program.py").write_text(WRONG)
    options = ["--config-file", str(root / "pyproject.toml"), "--cache-dir", str(root / ".mypy_cache")]
    command = [sys.executable, "-m", "mypy", *options, str(folder / "program.py")]
    said = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout
    assert said.count("error:") == 2
    assert 'has type "int", variable has type "str"' in said and 'incompatible type "int"' in said

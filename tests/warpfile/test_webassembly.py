"""Programs of WebAssembly: compiled once whoever comes first, made anew where damaged, and never another user's."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import wasmtime

from warpfile import webassembly
from warpfile.webassembly import Program, WebAssemblyError, prepare, run

#: Ends with status 7; what stands beside is there to be compiled.
TEXT = """\
(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func (export "_start") (call $exit (i32.const 7))))
"""
#: A process that runs the program in the file of its first argument and says what was said to it.
USER = """\
import sys
from pathlib import Path
from warpfile.webassembly import Program, prepare, run
program = Program("seven", Path(sys.argv[1]), "seven-1", "no time at all")
print(run(prepare(program), ["seven"]))
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which no program was ever run; the folder that will be made there."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    prepare.cache_clear()
    webassembly._loaded.cache_clear()
    return tmp_path / "cache" / "warpfile"


@pytest.fixture
def program(tmp_path: Path) -> Program:
    path = tmp_path / "seven.wasm"
    path.write_bytes(wasmtime.wat2wasm(TEXT))
    return Program("seven", path, "seven-1", "no time at all")


def again(program: Program) -> Path:
    """What another process would find or make."""
    prepare.cache_clear()
    return prepare(program)


def images(cache: Path) -> list[Path]:
    return [path for path in cache.iterdir() if not re.search(r"\.lock(\.owner)?$", path.name)]


def test_a_program_is_compiled_once_and_says_so_once(
    cache: Path, program: Program, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(prepare(program), ["seven"]) == 7
    assert capfd.readouterr().err == "warpfile: compiling seven for this machine, once; no time at all\n"
    before = prepare(program).stat()
    assert run(again(program), ["seven"]) == 7
    assert (prepare(program).stat(), capfd.readouterr().err) == (before, "")
    assert images(cache) == [prepare(program)]


def test_processes_that_start_at_once_compile_it_once(cache: Path, program: Program) -> None:
    command = [sys.executable, "-c", USER, str(program.file)]
    started = [subprocess.Popen(command, stdout=-1, stderr=-1, text=True) for _ in range(4)]
    ended = [(*one.communicate(), one.returncode) for one in started]
    assert [(out, status) for out, _, status in ended] == [("7\n", 0)] * 4
    assert "".join(said for _, said, _ in ended) == (
        "warpfile: compiling seven for this machine, once; no time at all\n"
    )
    assert len(images(cache)) == 1


@pytest.mark.parametrize("damage", ["empty", "truncated", "a byte in the middle", "of another program"])
def test_a_damaged_file_is_made_anew(cache: Path, program: Program, damage: str) -> None:
    whole = prepare(program).read_bytes()
    middle = len(whole) // 2
    prepare(program).write_bytes(
        {
            "empty": b"",
            "truncated": whole[: middle * 3 // 2],
            "a byte in the middle": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
            "of another program": b"\x7fELF" + whole[4:100] * 5,
        }[damage]
    )
    assert again(program).read_bytes() == whole
    assert run(prepare(program), ["seven"]) == 7


def test_what_wasmtime_itself_does_not_see_is_found(cache: Path, program: Program) -> None:
    """Without the check behind the code a byte that changed would run."""
    path = prepare(program)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert wasmtime.Module.deserialize_file(webassembly._engine(), str(path))
    assert not webassembly._sound(path, webassembly._engine())


def test_whoever_dies_over_it_leaves_it_to_the_next(cache: Path, program: Program) -> None:
    dies = USER.replace("print(", "import os, wasmtime\nwasmtime.Module.serialize = lambda module: os._exit(3)\nprint(")
    done = subprocess.run([sys.executable, "-c", dies, str(program.file)], capture_output=True, check=False)
    assert done.returncode == 3 and images(cache) == []
    assert run(prepare(program), ["seven"]) == 7


def test_where_the_users_folder_cannot_be_made_a_temporary_one_is_used(
    cache: Path, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.parent.write_text("a file in the way")
    place = prepare(program)
    assert place.parent.parent.name == "temporary" and place.parent.stat().st_mode & 0o077 == 0
    assert run(place, ["seven"]) == 7


def test_a_folder_that_cannot_be_written_is_read(
    cache: Path, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = prepare(program)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert again(program) == made
    made.unlink()
    with pytest.raises(WebAssemblyError, match="no folder to keep seven in: set XDG_CACHE_HOME"):
        again(program)


def test_code_that_others_can_write_is_not_run(cache: Path, program: Program) -> None:
    planted = prepare(program)
    cache.chmod(0o777)
    assert again(program).parent.parent.name == "temporary"
    cache.chmod(0o700)
    assert again(program) == planted


def test_a_program_sees_the_streams_and_folders_that_it_is_given(cache: Path, tmp_path: Path) -> None:
    """Standard input is copied to standard output, and a folder beside is there under its name."""
    text = """\
    (module
      (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "fd_prestat_dir_name" (func $name (param i32 i32 i32) (result i32)))
      (memory (export "memory") 1)
      (data (i32.const 0) "\\10\\00\\00\\00\\20\\00\\00\\00")
      (func (export "_start")
        (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
        (i32.store (i32.const 4) (i32.load (i32.const 8)))
        (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
        (i32.store (i32.const 4) (i32.const 5))
        (drop (call $name (i32.const 3) (i32.const 16) (i32.const 5)))
        (drop (call $write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 8)))))
    """
    (tmp_path / "copy.wasm").write_bytes(wasmtime.wat2wasm(textwrap.dedent(text)))
    (tmp_path / "in").write_text("given")
    streams = (tmp_path / "in", tmp_path / "out", tmp_path / "err")
    image = prepare(Program("copy", tmp_path / "copy.wasm", "copy-1", "no time"))
    assert run(image, ["copy"], streams=streams, folders={"there": tmp_path}) == 0
    assert [path.read_text() for path in streams[1:]] == ["given", "there"]

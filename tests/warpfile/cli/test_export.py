"""``warpfile export``: a launch for Accel-Sim."""

from __future__ import annotations

from pathlib import Path

from tests.warpfile.conftest import Invoke


def test_a_kernel_is_written_to_a_new_folder(invoke: Invoke, tmp_path: Path) -> None:
    done = invoke("export", "saxpy", "-o", str(tmp_path / "traces"))
    assert done.exit_code == 0 and "kernelslist.g: 80 warps" in done.output
    assert sorted(path.name for path in (tmp_path / "traces").iterdir()) == ["kernel-1.traceg", "kernelslist.g"]


def test_a_trace_file_is_written_as_its_kernel(invoke: Invoke, tmp_path: Path) -> None:
    invoke("trace", "saxpy", "-o", str(tmp_path / "t.npz"))
    invoke("export", "saxpy", "-o", str(tmp_path / "one"))
    invoke("export", str(tmp_path / "t.npz"), "-o", str(tmp_path / "other"))
    assert (tmp_path / "one/kernel-1.traceg").read_bytes() == (tmp_path / "other/kernel-1.traceg").read_bytes()


def test_a_folder_with_files_is_refused(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("")
    done = invoke("export", "saxpy", "-o", str(tmp_path))
    assert done.exit_code == 2 and "must be a new or an empty folder" in done.output


def test_an_imported_trace_is_refused(invoke: Invoke, tmp_path: Path) -> None:
    invoke("export", "saxpy", "-o", str(tmp_path / "one"))
    invoke("trace", "--accelsim", str(tmp_path / "one"), "-o", str(tmp_path / "back.npz"))
    done = invoke("export", str(tmp_path / "back.npz"), "-o", str(tmp_path / "two"))
    assert done.exit_code == 2 and "must be executed by warpfile" in done.output and not (tmp_path / "two").exists()

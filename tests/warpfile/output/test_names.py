"""No name from an input becomes a path."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compiler.traceg import EXIT, text
from tests.warpfile.conftest import CODE, Invoke, write_listing
from warpfile.output.files import file_name

NAMES = ("../../evil", "/tmp/evil", "..", ".hidden", "-o", "a/b", "x" * 400)


def everything(root: Path) -> set[Path]:
    return {path.relative_to(root) for path in root.rglob("*")}


def rename(kernel: Path, name: str) -> None:
    """Give the function of a kernel directory another name."""
    write_listing(kernel, CODE)
    for file, old in (("kernel.sass", ".text.count"), ("launch.toml", '"count"')):
        path = kernel / file
        path.write_text(path.read_text().replace(old, old.replace("count", name)))


@pytest.mark.parametrize("name", NAMES)
def test_a_function_cannot_choose_where_its_trace_goes(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: Path, name: str
) -> None:
    rename(kernel, name)
    inner = tmp_path / "a/b/c"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    before = everything(tmp_path)
    result = invoke("trace", kernel)
    assert result.exit_code == 0, result.output
    (made,) = everything(tmp_path) - before
    assert made.parent == Path("a/b/c") and made.suffix == ".npz" and made.name[0] not in ".-"


@pytest.mark.parametrize("name", NAMES)
def test_a_traced_kernel_cannot_choose_where_its_trace_goes(invoke: Invoke, folder: Path, name: str) -> None:
    (folder / "kernel.traceg").write_text(text({0: (EXIT,)}, {"kernel name": name}))
    before = everything(folder)
    assert invoke("trace", "--accelsim", folder / "kernel.traceg").exit_code == 0
    (made,) = everything(folder) - before
    assert made.suffix == ".npz" and made.name[0] not in ".-"


def test_a_list_of_kernels_names_files_beside_it(invoke: Invoke, folder: Path) -> None:
    (folder / "traces").mkdir()
    (folder / "kernel.traceg").write_text(text({0: (EXIT,)}))
    (folder / "traces/kernelslist.g").write_text("kernels/../../kernel.traceg\n")
    (folder / "traces/kernels").mkdir()
    result = invoke("trace", "--accelsim", folder / "traces")
    assert result.exit_code == 2 and "kernelslist.g, line 1" in result.stderr
    assert not list(folder.glob("*.npz"))


def test_plain_names_stay() -> None:
    assert file_name("_Z6secondIfEvPT_") == "_Z6secondIfEvPT_"
    assert file_name("") == file_name("..") == "kernel"

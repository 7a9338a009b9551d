"""The command line as tests call it, and a small kernel directory to damage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from warpfile.program import main

Invoke = Callable[..., Result]

CODE = (
    "S2R R0, SR_TID.X",
    "IMAD.MOV.U32 R5, RZ, RZ, 0x4",
    "IMAD.WIDE R2, R0, R5, c[0x0][0x160]",
    "STG.E.SYS [R2], R0",
    "EXIT",
)
LAUNCH = """kernel = "count"
grid = [1, 1, 1]
block = [64, 1, 1]
shared_bytes = 0
static_shared_bytes = 0
[[args]]
name = "y"
type = "buffer"
init = "y.npy"
expect = "y_expected.npy"
"""


@pytest.fixture
def invoke() -> Invoke:
    """Run one command line in this process."""
    return lambda *arguments: CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    """Directory of a kernel in which every thread stores its number."""
    directory = tmp_path / "count"
    directory.mkdir()
    write_listing(directory, CODE)
    (directory / "launch.toml").write_text(LAUNCH)
    np.save(directory / "y.npy", np.zeros(64, dtype=np.int32))
    np.save(directory / "y_expected.npy", np.arange(64, dtype=np.int32))
    return directory


def write_listing(directory: Path, code: tuple[str, ...]) -> None:
    """Write ``kernel.sass`` with one function; the label ``start`` is its first instruction."""
    lines = ['\t.section\t.text.count,"ax",@progbits', "count:", "start:"]
    lines += [f"        /*{16 * index:04x}*/                   {text} ;" for index, text in enumerate(code)]
    (directory / "kernel.sass").write_text("\n".join(lines) + "\n")

"""The command line as tests call it, designs that many tests read, and a small kernel directory to damage."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from warpfile.cli.program import main
from warpfile.schemes import SCHEMES
from warpfile.verilog.generate import generate

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


@dataclass(frozen=True)
class Made:
    """One generated design and the processor time it took."""

    verilog: Path
    facts: dict[str, Any]
    seconds: float

    @property
    def sources(self) -> list[Path]:
        """The machine with its SRAM and its checker."""
        return [path for name in self.facts["files"] if (path := self.verilog.with_name(name)).suffix == ".v"]


def _design(scheme: str, preset: str, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The design of a scheme at a preset, made once for all tests of all worker processes."""
    shared = tmp_path_factory.getbasetemp()
    folder = (shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared) / f"design-{scheme}-{preset}"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "seconds").exists():
            start = time.process_time()
            cfg = SCHEMES[scheme].configuration(preset)
            generate(SCHEMES[scheme], cfg, preset, folder, probes=SCHEMES[scheme].probes(cfg))
            (folder / "seconds").write_text(str(time.process_time() - start))
    facts = json.loads((folder / f"{scheme}.json").read_text())
    return Made(folder / f"{scheme}.v", facts, float((folder / "seconds").read_text()))


@pytest.fixture
def made(scheme: str, preset: str, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The design of the parametrised scheme and preset."""
    return _design(scheme, preset, tmp_path_factory)


@pytest.fixture
def facts(scheme: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The manifest of the parametrised scheme at ``tiny``."""
    return _design(scheme, "tiny", tmp_path_factory).facts


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run one command line in this process, without the lines that say on a slow machine that it is still running."""
    monkeypatch.setattr("warpfile.output.display._FIRST", 3600.0)
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

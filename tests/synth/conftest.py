"""Verilog that several tests count."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from filelock import FileLock

from warpfile.schemes import SCHEMES


@pytest.fixture
def wide(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Verilog of a scheme at its own preset, without probes, made once for all tests of all worker processes."""
    shared = tmp_path_factory.getbasetemp()
    folder = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared

    def made(name: str) -> str:
        file = folder / f"wide-{name}.v"
        with FileLock(file.with_suffix(".lock")):
            if not file.exists():
                scheme = SCHEMES[name]
                file.write_text(scheme.verilog(scheme.configuration(scheme.preset), probes=False))
        return file.read_text()

    return made

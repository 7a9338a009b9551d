"""The wires of the small library are known for as long as a test runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.synth.wires.designs import WIRES, cells
from warpfile.synth.liberty import Liberty
from warpfile.synth.wires import technology


@pytest.fixture
def liberty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Liberty:
    monkeypatch.setattr(technology, "read_technologies", lambda: (WIRES,))
    return cells(tmp_path)

"""The comparison with a published operand stage: its table."""

from __future__ import annotations

import pytest

from warpfile.synth import peers
from warpfile.synth.liberty import read_liberty
from warpfile.synth.timing import Timed, WorstPath


def test_the_table_has_every_part_at_every_width(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = {"registers": WorstPath(1.5, 9), "inputs": WorstPath(1.2, 7), "outputs": WorstPath(1.75, 8)}
    monkeypatch.setattr(peers, "measure", lambda *_: Timed(12345.0, 1091, paths))
    rows = [line for line in peers.table(read_liberty()) if line.startswith(("| 4 ", "| 32 "))]
    assert len(rows) == len(peers.VORTEX) * (1 + len(peers.PARTS))
    assert rows[1].endswith("| 12.3 | 1,091 | 9 | 1.50 | 1.75 |")


def test_what_a_unit_passes_on_is_as_wide_as_the_peers() -> None:
    cfg = peers.CONFIG.replace(lanes=4)
    assert cfg.warp_bits + cfg.register_bits + 3 + cfg.lanes + cfg.payload_bits == 91

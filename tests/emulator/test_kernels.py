"""Bundled kernels meet their expectations, and their traces keep the contract of ``spec.trace``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warpfile.emulator.launch import load_kernel
from warpfile.emulator.run import execute
from warpfile.spec.trace import Access, Kind, Trace

KERNELS = sorted(path.parent for path in (Path(__file__).parents[2] / "kernels").glob("*/launch.toml"))


@pytest.fixture(scope="module", params=KERNELS, ids=lambda path: path.name)
def executed(request: pytest.FixtureRequest) -> Trace:
    result = execute(load_kernel(request.param))
    assert result.expectations, "a bundled kernel must check its results"
    for expectation in result.expectations:
        assert expectation.ok, expectation
    return result.trace


def test_masks_are_nested(executed: Trace) -> None:
    assert np.all(executed.execute & ~executed.active == 0)
    assert np.all(executed.active & ~executed.live == 0)
    assert np.all(executed.active != 0)


def test_warps_end_with_the_exit_of_their_last_lanes(executed: Trace) -> None:
    for end in executed.warp_start[1:]:
        last = executed.program[executed.instruction[end - 1]]
        assert last.opcode == "EXIT"
        assert executed.execute[end - 1] == executed.live[end - 1]


def test_every_result_has_its_rows(executed: Trace) -> None:
    counts = np.array([static.dest_count for static in executed.program])[executed.instruction]
    has_rows = (counts > 0) & (executed.execute != 0)
    assert np.array_equal(executed.value_row >= 0, has_rows)
    assert counts[has_rows].sum() == len(executed.values) == len(executed.written)
    rows = np.sort(executed.value_row[has_rows])
    assert len(np.unique(rows)) == len(rows)


def test_every_memory_access_has_its_addresses(executed: Trace) -> None:
    is_access = np.array([static.access is not Access.NONE for static in executed.program])[executed.instruction]
    assert np.array_equal(executed.address_row >= 0, is_access & (executed.execute != 0))
    lanes = (executed.execute[:, None] >> np.arange(32, dtype=np.uint32) & 1).astype(bool)
    chosen = executed.address_row >= 0
    assert np.all(executed.addresses[executed.address_row[chosen]][~lanes[chosen]] == 0)


def test_values_replay_to_a_consistent_register_file(executed: Trace) -> None:
    """A row holds the old value in the lanes that did not execute, and ``written`` only grows."""
    for warp in range(executed.warps):
        registers = np.zeros((256, 32), dtype=np.uint32)
        written = np.zeros(256, dtype=np.uint32)
        for record in range(executed.warp_start[warp], executed.warp_start[warp + 1]):
            static, row = executed.program[executed.instruction[record]], executed.value_row[record]
            if row < 0:
                continue
            kept = ~(executed.execute[record] >> np.arange(32, dtype=np.uint32) & 1).astype(bool)
            for position, number in enumerate(static.dests):
                value = executed.values[row + position]
                assert np.array_equal(value[kept], registers[number][kept])
                registers[number] = value
                written[number] |= executed.execute[record]
                assert executed.written[row + position] == written[number]


def test_control_only_leaves_the_sequence_behind_a_branch(executed: Trace) -> None:
    kinds = np.array([static.kind for static in executed.program])[executed.instruction]
    jumps = executed.instruction[1:] != executed.instruction[:-1] + 1
    jumps[executed.warp_start[1:-1] - 1] = False
    assert set(kinds[:-1][jumps].tolist()) <= {Kind.BRANCH, Kind.EXIT, Kind.BARRIER}


def test_trace_survives_its_file(executed: Trace, tmp_path: Path) -> None:
    executed.save(tmp_path / "t.npz")
    loaded = Trace.load(tmp_path / "t.npz")
    assert loaded.program == executed.program
    assert np.array_equal(loaded.values, executed.values)
    assert np.array_equal(loaded.instruction, executed.instruction)

"""Barriers of a CTA with several warps, and reductions over its threads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.emulator.harness import listing, run
from warpfile.emulator.errors import ExecutionError
from warpfile.emulator.launch import load_kernel
from warpfile.emulator.run import execute

LAUNCH = """kernel = "k"
grid = [1, 1, 1]
block = [{threads}, 1, 1]
[[args]]
name = "y"
type = "buffer"
init = "y.npy"
"""
STORE = """MOV R4, 0x4
    IMAD.WIDE R2, R0, R4, c[0x0][0x160]
    STG.E.SYS [R2], R5"""


def outcome(directory: Path, code: str, threads: int) -> list[int]:
    """What every thread stored from R5; R0 is its number."""
    (directory / "kernel.sass").write_text(listing(f"S2R R0, SR_TID.X\n{code}\n{STORE}"))
    (directory / "launch.toml").write_text(LAUNCH.format(threads=threads))
    np.save(directory / "y.npy", np.zeros(threads, dtype=np.uint32))
    return execute(load_kernel(directory)).buffers["y"].view(np.uint32)[:threads].tolist()


@pytest.mark.parametrize("threads", [32, 64, 100])
def test_count_over_the_cta(tmp_path: Path, threads: int) -> None:
    code = "ISETP.LT.AND P0, PT, R0, 0x25, PT\nBAR.RED.POPC 0x0, P0\nB2R.RESULT R5"
    assert outcome(tmp_path, code, threads) == [min(threads, 0x25)] * threads


@pytest.mark.parametrize(("limit", "every", "some"), [(0, 0, 0), (1, 0, 1), (99, 0, 1), (100, 1, 1)])
def test_all_and_any_over_the_cta(tmp_path: Path, limit: int, every: int, some: int) -> None:
    code = f"""ISETP.LT.AND P0, PT, R0, {limit:#x}, PT
        BAR.RED.AND 0x0, P0
        B2R.RESULT RZ, P1
        BAR.RED.OR.DEFER_BLOCKING 0x0, P0
        B2R.RESULT RZ, P2
        MOV R5, RZ
        @P1 IADD3 R5, R5, 0x2, RZ
        @P2 IADD3 R5, R5, 0x1, RZ"""
    assert outcome(tmp_path, code, 100) == [2 * every + some] * 100


def test_threads_that_have_ended_have_no_vote(tmp_path: Path) -> None:
    code = "ISETP.GE.AND P1, PT, R0, 0x30, PT\n@P1 EXIT\nBAR.RED.POPC 0x0, PT\nB2R.RESULT R5"
    assert outcome(tmp_path, code, 64) == [0x30] * 0x30 + [0] * 0x10


@pytest.mark.parametrize("code", ["BAR.SYNC 0x1, 0x40", "BAR.ARV 0x1, 0x40", "B2R R0, B1"])
def test_barriers_of_a_part_of_the_cta_are_refused(code: str) -> None:
    with pytest.raises(ExecutionError, match=r"line 3: "):
        run(code)

"""The speed of lockstep and that of the simulator alone are those of the same run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import warpfile.sim.benchmark as benchmark
from warpfile.schemes import SCHEMES
from warpfile.sim.benchmark import lockstep_speed
from warpfile.spec.stress import stress_trace

CFG = SCHEMES["baseline"].configuration("tiny", lanes=1)
TRACE = stress_trace(3, warps_per_cta=[2, 3], ctas=3, length=40)


@pytest.mark.check
def test_both_simulations_run_all_cycles(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cycles: list[int] = []

    def noted(name: str, found: Callable[[Any], int]) -> None:
        own = getattr(benchmark, name)
        monkeypatch.setattr(benchmark, name, lambda *given: (result := own(*given), cycles.append(found(result)))[0])

    noted("simulate", lambda result: result[0].cycles)
    noted("_record", int)
    speed = lockstep_speed(SCHEMES["baseline"], CFG, TRACE, root / "build", repeats=2)
    assert cycles == 3 * [speed.cycles]
    assert speed.bare_seconds > 0 and speed.lockstep_seconds > 0

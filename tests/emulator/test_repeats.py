"""A launch that is repeated computes the same every time, at addresses of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warpfile.emulator.launch import load_kernel
from warpfile.emulator.run import execute
from warpfile.output.display import silent
from warpfile.spec.trace import Space, Trace
from warpfile.workloads.inputs import STEADY_WARPS, bundled_kernels, execute_kernel

KERNELS = Path(__file__).parents[2] / "kernels"
TIMES = 3


@pytest.fixture(scope="module")
def once() -> Trace:
    return execute(load_kernel(KERNELS / "saxpy")).trace


def global_addresses(trace: Trace, first: int, last: int) -> set[int]:
    """Of the warps from ``first`` to before ``last``."""
    chosen = slice(trace.warp_start[first], trace.warp_start[last])
    spaces = np.array([static.space for static in trace.program])[trace.instruction[chosen]]
    rows = trace.address_row[chosen][(spaces == Space.GLOBAL) & (trace.address_row[chosen] >= 0)]
    return set(trace.addresses[rows].ravel().tolist()) - {0}


def test_every_launch_computes_what_one_does(once: Trace) -> None:
    result = execute(load_kernel(KERNELS / "saxpy"), repeats=TIMES)
    trace = result.trace
    assert len(result.expectations) == TIMES and all(one.ok for one in result.expectations)
    assert trace.grid == (*once.grid[:2], TIMES * once.grid[2])
    assert np.array_equal(trace.instruction, np.tile(once.instruction, TIMES))
    per_launch = int(max(once.warp_cta)) + 1
    assert trace.warp_cta.tolist() == [cta + number * per_launch for number in range(TIMES) for cta in once.warp_cta]


def test_no_two_launches_share_an_address(once: Trace) -> None:
    trace = execute(load_kernel(KERNELS / "saxpy"), repeats=TIMES).trace
    count = once.warps
    found = [global_addresses(trace, number * count, (number + 1) * count) for number in range(TIMES)]
    assert found[0] == global_addresses(once, 0, count)
    assert not found[0] & found[1] and not found[1] & found[2] and not found[0] & found[2]
    assert len({len(one) for one in found}) == 1


def test_pointers_in_registers_are_those_of_their_launch(once: Trace) -> None:
    trace = execute(load_kernel(KERNELS / "saxpy"), repeats=2).trace
    rows = len(once.values)
    assert np.array_equal(trace.values[:rows], once.values)
    assert not np.array_equal(trace.values[rows:], once.values)


@pytest.mark.parametrize("kernel", bundled_kernels())
def test_steady_is_eight_waves_of_the_largest_machine(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def note(launch: object, limit: object, progress: object, repeats: int) -> None:
        asked.append(repeats * launch.warps)  # type: ignore[attr-defined]

    monkeypatch.setattr("warpfile.emulator.run.execute", note)
    execute_kernel(bundled_kernels()[kernel], "steady", None, silent)
    execute_kernel(bundled_kernels()[kernel], "launch", None, silent)
    assert asked[0] >= STEADY_WARPS == 512 and asked[1] == load_kernel(bundled_kernels()[kernel]).warps

"""A file with a renaming table takes one kernel after the other: when the last warp has left and is swept."""

import random

import pytest

from tests.hdl.rf.launches import Launches
from tests.hdl.rf.packed.bench import config, run
from warpfile.hdl.renaming.kernel_state import KernelState

CYCLES = 600


def simulate(part: KernelState, warps: int) -> tuple[int, int]:
    """Kernels are offered in every cycle; warps come until all are there, and leave. Returns kernels and most warps."""
    rng, kernels = random.Random(5), 0
    launches = Launches(warps, rng)

    async def bench(ctx) -> None:
        nonlocal kernels
        for _ in range(CYCLES):
            clean = rng.random() < 0.5
            ctx.set(part.kernel_valid, 1)
            ctx.set(part.clean, clean)
            taken = clean and not launches.resident
            assert ctx.get(part.kernel_ready) == ctx.get(part.taken) == taken, "taken without warps only"
            assert ctx.get(part.launch_ready) == (kernels > 0)
            come, exits = launches.step(kernels > 0 and not taken)
            kernels += taken
            ctx.set(part.launch_valid, come)
            ctx.set(part.exits, exits)
            await ctx.tick()

    run(part, bench)
    return kernels, launches.most


@pytest.mark.parametrize("warps", [8, 5])
def test_a_kernel_is_taken_when_no_warp_is_resident_or_swept(warps) -> None:
    kernels, most = simulate(KernelState(config("corf_plus", warps=warps)), warps)
    assert kernels > 5
    assert most == warps


class _Smaller(KernelState):
    """Counts to seven."""

    def __init__(self, cfg) -> None:
        super().__init__(cfg)
        self._cfg = cfg.replace(warps=7)


def test_a_count_without_its_last_bit_is_found() -> None:
    with pytest.raises(AssertionError, match="taken without warps only"):
        simulate(_Smaller(config("corf_plus", warps=8)), 8)

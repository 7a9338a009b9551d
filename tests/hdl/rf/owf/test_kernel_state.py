"""One kernel after the other: the next one is taken when the last warp has left."""

import random

import pytest

from tests.hdl.rf.launches import Launches
from tests.hdl.rf.owf.bench import config
from tests.hdl.rf.packed.bench import run
from warpfile.hdl.rf.owf.kernel_state import KernelState

CYCLES = 600


def simulate(part: KernelState, warps: int) -> tuple[int, int]:
    """Kernels are offered in every cycle; warps come until all are there, and leave. Returns kernels and most warps."""
    rng, kept, kernels = random.Random(5), (0, 0), 0
    launches = Launches(warps, rng)

    async def bench(ctx) -> None:
        nonlocal kept, kernels
        for _ in range(CYCLES):
            offered = rng.randrange(1, 16), rng.randrange(8)
            ctx.set(part.kernel_valid, 1)
            ctx.set(part.kernel.private_registers, offered[0])
            ctx.set(part.kernel.paired_warps, offered[1])
            empty = not launches.resident
            assert ctx.get(part.kernel_ready) == ctx.get(part.taken) == empty, "taken without warps only"
            assert ctx.get(part.launch_ready) == (kernels > 0)
            come, exits = launches.step(kernels > 0)
            if empty:
                kept, kernels = offered, kernels + 1
            ctx.set(part.launch_valid, come)
            ctx.set(part.exits, exits)
            await ctx.tick()
            assert (ctx.get(part.private_registers), ctx.get(part.paired_warps)) == kept

    run(part, bench)
    return kernels, launches.most


@pytest.mark.parametrize("warps", [8, 7])
def test_a_kernel_is_taken_when_no_warp_is_resident_and_its_sizes_are_kept(warps) -> None:
    kernels, most = simulate(KernelState(config(warps=warps)), warps)
    assert kernels > 5
    assert most == warps


class _Smaller(KernelState):
    """Counts to seven."""

    def __init__(self, cfg) -> None:
        super().__init__(cfg)
        self._cfg = cfg.replace(warps=7)


def test_a_count_without_its_last_bit_is_found() -> None:
    with pytest.raises(AssertionError, match="taken without warps only"):
        simulate(_Smaller(config()), 8)

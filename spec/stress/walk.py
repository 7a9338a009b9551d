"""Random programs aimed at the corner cases of the machine, as annotated traces of kernels that never existed."""

from __future__ import annotations

import random
from collections.abc import Sequence

from warpfile.spec.stress.program import PROFILES, stress_program
from warpfile.spec.stress.recorder import Recorder
from warpfile.spec.trace import LANES, Trace


def stress_trace(
    seed: int,
    *,
    warps_per_cta: int | Sequence[int] = 4,
    ctas: int = 3,
    length: int = 60,
    registers: int = 24,
    profile: str = "mixed",
) -> Trace:
    """A legal annotated trace that depends on the arguments only.

    CTA k has ``warps_per_cta[k % len(warps_per_cta)]`` warps. Each warp walks over one common program of registers
    below ``registers`` (at least 4) until it has executed about ``length`` instructions or fewer; every stream ends
    in an EXIT of all its live lanes. ``profile`` names a mixture of instructions (``spec.stress.program.PROFILES``).
    """
    if profile not in PROFILES:
        raise ValueError(f"profile must be one of {', '.join(PROFILES)}, not {profile!r}")
    rng = random.Random(f"{seed} {profile} {length} {registers}")
    program = stress_program(rng, PROFILES[profile], size=max(4, min(length, 64)), registers=registers)
    sizes = [warps_per_cta] if isinstance(warps_per_cta, int) else list(warps_per_cta)
    recorder = Recorder(rng, PROFILES[profile], program, registers)
    warp_start, warp_cta = [0], []
    for cta in range(ctas):
        for _ in range(sizes[cta % len(sizes)]):
            recorder.warp(length)
            warp_start.append(len(recorder.instruction))
            warp_cta.append(cta)
    name = f"stress-{profile}-{seed}"
    return recorder.trace(name, (ctas, 1, 1), (LANES * max(sizes), 1, 1), warp_start, warp_cta)

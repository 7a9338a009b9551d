"""The emulator against recorded outcomes: equal, or as near as the measured approximations are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warpfile.compiler.architectures import TARGET
from warpfile.hardware.kernels import ordered
from warpfile.hardware.probes import Probe, emulated, probes

#: Largest distance in units in the last place, and largest absolute error that is let pass beyond that. What is not
#: named must be equal. Both are what was measured over all operands (docs/hardware.md), except for the quotients,
#: whose two units are the PTX ISA's.
NEAR: dict[str, tuple[int, float]] = {
    **{f"{name}_{form}": (1, 0.0) for name in ("rcp", "sqrt") for form in ("ftz", "approx")},
    **{f"{name}_{form}": (2, 0.0) for name in ("rsqrt", "ex2") for form in ("ftz", "approx")},
    **{f"lg2_{form}": (1, 2.0**-22) for form in ("ftz", "approx")},
    "sin_ftz": (0, 4.1e-7),
    "cos_ftz": (0, 4.1e-7),
    "tanh_approx": (134, 0.0),
    "rcp64_ftz": (1, 0.0),
    "rsqrt64_ftz": (1, 0.0),
    "div_full": (2, 0.0),
    "div_approx": (2, 0.0),
}
#: Sums of tensor cores, which hardware cuts off in an order of its own: tests/warpfile/hardware has that order.
CUT = ("hmma_f32", "hmma_f32_edges", "hmma_f32_narrow", "hmma_f16", "hmma_f16_edges")


@dataclass(frozen=True)
class Difference:
    """Threads of a probe whose results are not those recorded, and how many of them are too far off."""

    threads: int
    wrong: int
    first: str = ""  #: operands, recorded and emulated words of the first wrong thread


def recorded(path: Path) -> dict[str, np.ndarray]:
    """``uint32[results, count]`` of every recorded probe."""
    with np.load(path) as data:
        names, words, count = data["names"].tolist(), data["outcomes"], int(data["count"])
    results = {probe.name: probe.results for probe in probes()}
    ends = np.cumsum([results[name] * count for name in names])[:-1]
    return {name: part.reshape(-1, count) for name, part in zip(names, np.split(words, ends), strict=True)}


def write(path: Path, outcomes: Mapping[str, np.ndarray]) -> None:
    """Counterpart of :func:`recorded`."""
    words = np.concatenate([part.ravel() for part in outcomes.values()])
    count = next(iter(outcomes.values())).shape[1]
    np.savez_compressed(path, names=np.array(list(outcomes)), outcomes=words, count=np.array(count))


def compared(probe: Probe, found: np.ndarray, architecture: int = TARGET) -> Difference:
    """The emulator's results, from the listing for a GPU, against recorded ones."""
    ours = emulated(probe, found.shape[1], architecture)
    differs = (ours != found).any(axis=0)
    wrong = differs & ~_near(probe.name, ours, found)
    if not wrong.any():
        return Difference(int(differs.sum()), 0)
    thread = int(np.flatnonzero(wrong)[0])
    columns = [part[:, thread] for part in (probe.operands(found.shape[1]), found, ours)]
    given, there, here = (" ".join(f"{word:08x}" for word in column) for column in columns)
    return Difference(int(differs.sum()), int(wrong.sum()), f"of {given} must be {there}, not {here}")


def _near(name: str, ours: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Which threads' results pass although they differ."""
    if name not in NEAR:
        return np.full(ours.shape[1], False)
    units, absolute = NEAR[name]
    one, other = (np.ascontiguousarray(part[-1]).view(np.float32) for part in (ours, found))
    apart = np.abs(ordered(one) - ordered(other))
    with np.errstate(invalid="ignore"):
        small = np.abs(one.astype(np.float64) - other) <= absolute
    same_class = (np.isfinite(one) == np.isfinite(other)) & (ours[:-1] == found[:-1]).all(axis=0)
    return same_class & ((apart <= units) | small)

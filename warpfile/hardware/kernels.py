"""The bundled kernels: outcomes of a GPU against the emulator's and the reference's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from warpfile.emulator.arguments import buffers
from warpfile.emulator.launch import load_kernel
from warpfile.emulator.run import execute
from warpfile.kernels.build import KERNELS

_SIGNED: dict[int, type[np.signedinteger]] = {2: np.int16, 4: np.int32, 8: np.int64}


def expected(name: str, setting: str) -> dict[str, np.ndarray]:
    """Buffers that a launch file expects something of, as the reference has them."""
    held = buffers(load_kernel(KERNELS / name, setting).arguments)
    return {argument.name: argument.expect for argument, _ in held if argument.expect is not None}


def emulated(name: str, setting: str) -> dict[str, np.ndarray]:
    """The same buffers as the emulator leaves them."""
    contents = execute(load_kernel(KERNELS / name, setting)).buffers
    return {
        buffer: contents[buffer].reshape(-1).view(np.uint8)[: expect.nbytes].view(expect.dtype).reshape(expect.shape)
        for buffer, expect in expected(name, setting).items()
    }


def ordered(values: np.ndarray) -> np.ndarray:
    """Integers whose differences count the numbers between: units in the last place for floats."""
    if values.dtype.kind != "f":
        return values.astype(np.int64)
    kind = _SIGNED[values.itemsize]
    bits = values.view(kind).astype(np.int64)
    return np.where(bits < 0, np.iinfo(kind).min - bits, bits)


def differences(found: np.ndarray, other: np.ndarray) -> dict[str, int]:
    """Elements whose bits differ, and the largest distance of two of them in units in the last place."""
    apart = np.abs(ordered(found) - ordered(other))
    return {"differ": int((apart != 0).sum()), "farthest": int(apart.max())}


def table(outcomes: Mapping[str, np.ndarray]) -> dict[str, dict[str, Any]]:
    """A row per launch, machine code and buffer, from what :func:`warpfile.hardware.measure.run_kernels` gave."""
    rows, ours = {}, {}
    for key, found in outcomes.items():
        name, setting, _, buffer = key.split("/")
        if (name, setting) not in ours:
            ours[name, setting] = (emulated(name, setting), expected(name, setting))
        emulator, reference = (differences(found, side[buffer]) for side in ours[name, setting])
        rows[key] = {"elements": found.size, "emulator": emulator, "reference": reference}
    return rows

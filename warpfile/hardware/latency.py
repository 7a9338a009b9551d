"""Cycles that instructions take, by the clock of the GPU."""

from __future__ import annotations

import ctypes
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np

from warpfile.hardware.driver import Device

SOURCES = (Path(__file__).with_name("latency.cu"), Path(__file__).with_name("banks.cu"))
_CHAIN = re.compile(r"^CHAIN\((\w+),", re.MULTILINE)
_FFMA = 0x7223  # FFMA of four registers without a guard
_INDEPENDENT = 192  # FFMA of banks.cu
_REUSE = 1 << 58  # of the first source, in the upper half of an instruction; the next bit is the second's
_STALL = 0xF << 41


def latencies(device: Device, code: bytes) -> dict[str, float]:
    """Cycles from one instruction of a chain to the next."""
    module = device.module(code)
    found = {}
    for name in _CHAIN.findall(SOURCES[0].read_text()):
        short, long = (_cycles(device, module, f"{name}_{length}") for length in (64, 128))
        found[name] = (long - short) / 64
    return found


def _cycles(device: Device, module: ctypes.c_void_p, name: str) -> int:
    """Least cycles of lane 0 over a few launches."""
    given = np.linspace(0.5, 1.5, 4096, dtype=np.float32)
    places = {"out": device.upload(bytes(8192)), "in": device.upload(given.tobytes())}
    times = []
    for _ in range(5):
        device.launch(module, name, (1, 1, 1), (32, 1, 1), struct.pack("<QQ", places["out"], places["in"]))
        times.append(int(device.download(places["out"], 4).view(np.uint32)[0]))
    device.free(places)
    return min(times)


def bank_conflicts(device: Device, code: bytes) -> dict[str, Any]:
    """Cycles per independent FFMA with chosen sources; a register's bank is taken to be its number modulo 2."""
    return {
        name: _cycles(device, device.module(patched(code, **choice)), "banks") / _INDEPENDENT
        for name, choice in CHOICES.items()
    }


#: Parity of the first two sources against that of the third; whether the first is one register throughout and reused.
CHOICES: dict[str, dict[str, Any]] = {
    "first and second source in the other bank": {"first": 1, "second": 1},
    "second source in the other bank": {"first": 0, "second": 1},
    "all three sources in one bank": {"first": 0, "second": 0},
    "all three in one bank, first repeated": {"first": 0, "second": 0, "repeated": True},
    "all three in one bank, first repeated and reused": {"first": 0, "second": 0, "repeated": True, "reused": True},
}


def patched(code: bytes, first: int, second: int, repeated: bool = False, reused: bool = False) -> bytes:
    """Machine code of ``banks.cu`` with other sources, stalls of one cycle and, if wanted, reuse of the first source.

    Where the first source is repeated, accumulators of even numbers come before those of odd ones in every round, so
    that it changes twice per round.
    """
    words = np.frombuffer(code, dtype="<u8").copy()
    places = [int(place) for place in np.flatnonzero(words[:-1] & np.uint64(0xFFFF) == _FFMA)]
    if len(places) != _INDEPENDENT:
        raise ValueError(f"banks.cu must have {_INDEPENDENT} FFMA of registers, not {len(places)}")
    low = [int(words[place]) for place in places]
    sources = sorted({word >> shift & 0xFF for word in low for shift in (24, 32)})
    targets = sorted({word >> 16 & 0xFF for word in low}, key=lambda register: (register % 2, register))
    for number, place in enumerate(places):
        target = targets[number % len(targets)]
        fitting = [[one for one in sources if one % 2 == (target + parity) % 2] for parity in (first, second)]
        a = fitting[0][0 if repeated else number % len(fitting[0])]
        b = fitting[1][(number + 5) % (len(fitting[1]) - 1) + 1]
        words[place] = _FFMA | target << 16 | a << 24 | b << 32
        control = int(words[place + 1]) & ~(0xFF | _STALL | 0xF << 58) | target | 1 << 41
        words[place + 1] = control | (_REUSE if reused else 0)
    return words.tobytes()

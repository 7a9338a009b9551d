"""What is run on the GPU: probes, every operand of the approximations, the bundled kernels, latencies."""

from __future__ import annotations

import re
import struct
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from warpfile.emulator.arguments import buffers, parameter_bytes
from warpfile.emulator.launch import SETTINGS, load_kernel
from warpfile.hardware import latency, probes
from warpfile.hardware.driver import Device
from warpfile.kernels.build import KERNELS
from warpfile.kernels.toolkit import find_tool, run_tool

EXHAUSTIVE = Path(__file__).with_name("exhaustive.cu")
FUNCTION = re.compile(r"^(?:FUNCTION|HIGH)\((\w+), \"([^\"]+)\"", re.MULTILINE)
_FARTHEST, _UNLIKE, _FIRST_UNLIKE, _ABSOLUTE, _ABSOLUTE_TURN, _SUM, _ABOVE, _NOT_CUT, _STATS = (
    32,
    33,
    34,
    35,
    36,
    37,
    38,
    39,
    40,
)
_NOWHERE = 2**64 - 1
_OPCODE = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)", re.MULTILINE)
#: Opcodes that fetch operands and store results in every probe.
_COMMON = re.compile(
    r"(MOV|S2R|S2UR|IMAD\.WIDE|IMAD\.MOV|IMAD\.SHL|LDC|ULDC|LDG|STG|EXIT|BRA|NOP|IADD3$|IMAD$|LEA|BSSY|BSYNC)"
)


def compiled(source: Path, capability: str, through: str = "") -> bytes:
    """Machine code for the GPU; ``through`` is the virtual architecture that code is generated for first."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "code.cubin"
        virtual = through or capability
        option = f"-gencode=arch=compute_{virtual},code=sm_{capability}"
        nvcc = str(find_tool("nvcc"))
        run_tool([nvcc, option, "-O3", "-diag-suppress=177", "-cubin", "-o", str(target), source.name], source.parent)
        return target.read_bytes()


def opcodes(code: bytes) -> dict[str, str]:
    """What each kernel of some machine code does beside fetching operands and storing results: its opcodes."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "code.cubin").write_bytes(code)
        text = run_tool([str(find_tool("nvdisasm")), "-c", "code.cubin"], Path(folder))
    sections = re.split(r"^\.text\.(\w+):", text, flags=re.MULTILINE)
    found = zip(sections[1::2], sections[2::2], strict=True)
    return {name: " ".join(_telling(_OPCODE.findall(body))) for name, body in found}


def _telling(names: list[str]) -> list[str]:
    return sorted({name for name in names if not _COMMON.match(name)})


def run_probes(device: Device, code: bytes, count: int) -> dict[str, np.ndarray]:
    """``uint32[results, count]`` of every probe."""
    module, found = device.module(code), {}
    for probe in probes.probes():
        size = 4 * probe.results * count
        places = {"in": device.upload(probe.operands(count).tobytes()), "out": device.upload(bytes(size))}
        parameters = struct.pack("<QQ", places["in"], places["out"])
        device.launch(module, probe.name, (count // probes.BLOCK, 1, 1), (probes.BLOCK, 1, 1), parameters)
        found[probe.name] = device.download(places["out"], size).view(np.uint32).reshape(probe.results, count)
        device.free(places)
    return found


def run_exhaustive(device: Device, code: bytes) -> dict[str, dict[str, Any]]:
    """Statistics over all 2**32 operands of every function of ``exhaustive.cu``."""
    module = device.module(code)
    return {
        name: _statistics(device, module, name) | {"ptx": ptx} for name, ptx in FUNCTION.findall(EXHAUSTIVE.read_text())
    }


def _statistics(device: Device, module: Any, name: str) -> dict[str, Any]:
    blank = np.zeros(_STATS, dtype=np.uint64)
    blank[_FIRST_UNLIKE] = _NOWHERE
    places = {"out": device.upload(blank.tobytes())}
    device.launch(module, name, (1056, 1, 1), (256, 1, 1), struct.pack("<Q", places["out"]))
    stats = device.download(places["out"], 8 * _STATS).view(np.uint64)
    device.free(places)
    counts = [int(number) for number in stats[:_FARTHEST]]
    absolute, in_turn = (float(stats[place : place + 1].view(np.float64)[0]) for place in (_ABSOLUTE, _ABSOLUTE_TURN))
    farthest, first = int(stats[_FARTHEST]), int(stats[_FIRST_UNLIKE])
    return {
        "by_distance": counts[: max(place for place in range(32) if counts[place] or not place) + 1],
        "above": int(stats[_ABOVE]),
        "farthest": farthest >> 32,
        "farthest_at": f"{farthest & 0xFFFFFFFF:08x}" if farthest else "",
        "unlike": int(stats[_UNLIKE]),
        "first_unlike": "" if first == _NOWHERE else f"{first:08x}",
        "with_lower_word": int(stats[_NOT_CUT]),
        "largest_absolute": absolute,
        "largest_absolute_to_pi": in_turn,
        "checksum": f"{int(stats[_SUM]):016x}",
    }


def run_kernels(device: Device, names: list[str]) -> dict[str, np.ndarray]:
    """Contents of every buffer after every launch of the bundled kernels, by ``kernel/setting/target/buffer``."""
    jobs = [(name, through) for name in names for through in ("75", device.capability)]
    with ThreadPoolExecutor() as pool:
        codes = list(pool.map(lambda job: compiled(KERNELS / job[0] / "kernel.cu", device.capability, job[1]), jobs))
    found = {}
    for (name, through), code in zip(jobs, codes, strict=True):
        module = device.module(code)
        for setting in SETTINGS:
            for buffer, contents in _launched(device, module, name, setting).items():
                found[f"{name}/{setting}/compute_{through}/{buffer}"] = contents
    return found


def _launched(device: Device, module: Any, name: str, setting: str) -> dict[str, np.ndarray]:
    """Buffers that a launch file expects something of, as arrays of the expected type."""
    launch = load_kernel(KERNELS / name, setting)
    held = buffers(launch.arguments)
    places = {argument.name: device.upload(init.tobytes()) for argument, init in held}
    parameters = parameter_bytes(launch.arguments, places)
    device.launch(module, launch.function.name, launch.grid, launch.block, parameters, launch.dynamic_shared)
    found = {}
    for argument, _ in held:
        if argument.expect is not None:
            data = device.download(places[argument.name], argument.expect.nbytes)
            found[argument.name] = data.view(argument.expect.dtype).reshape(argument.expect.shape)
    device.free(places)
    return found


def run_latencies(device: Device) -> dict[str, Any]:
    """Cycles by the clock."""
    chains, banks = (compiled(source, device.capability) for source in latency.SOURCES)
    return {"chains": latency.latencies(device, chains), "banks": latency.bank_conflicts(device, banks)}

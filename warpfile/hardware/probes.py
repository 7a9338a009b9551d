"""The probes of ``probes.cu``: what each takes and gives, run by the emulator."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from warpfile.compiler import Listing, parse
from warpfile.compiler.architectures import TARGET
from warpfile.emulator.arguments import Argument
from warpfile.emulator.launch import Launch
from warpfile.emulator.run import execute
from warpfile.hardware.operands import words

SOURCE = Path(__file__).with_name("probes.cu")
#: Machine code of the probes, by GPU: the emulator's target, and the H100 that answered them.
LISTINGS = {TARGET: Path(__file__).with_name("probes.sass.gz"), 90: Path(__file__).with_name("probes.sm_90.sass.gz")}
BLOCK = 256
COUNT = BLOCK  #: threads of a probe whose outcomes are kept
_WIDTHS = {"r": 1, "f": 1, "h": 1, "l": 2, "d": 2}
_PROBE = re.compile(r"^(?:PROBE|UNARY|BINARY|TERNARY)\((\w+), (\w+), (\w+),", re.MULTILINE)


@dataclass(frozen=True)
class Probe:
    """One kernel: ``kinds`` has a letter per operand, ``results`` counts words of the result."""

    name: str
    kinds: str
    results: int

    def operands(self, count: int) -> np.ndarray:
        """``uint32[words, count]`` that the kernel reads."""
        return words(self.kinds, count)


def probes() -> list[Probe]:
    """All probes in the order of the source."""
    found = _PROBE.findall(SOURCE.read_text())
    return [Probe(name, kinds, _WIDTHS.get(result) or int(result)) for name, kinds, result in found]


@cache
def listing(architecture: int = TARGET) -> Listing:
    """Machine code of the probes."""
    path = LISTINGS[architecture]
    return parse(gzip.decompress(path.read_bytes()).decode(), path.name)


def emulated(probe: Probe, count: int = COUNT, architecture: int = TARGET) -> np.ndarray:
    """``uint32[results, count]`` that the emulator computes from the listing for a GPU."""
    code = listing(architecture)
    given, blank = probe.operands(count), np.zeros((probe.results, count), dtype=np.uint32)
    arguments = (Argument("in", "buffer", init=given), Argument("out", "buffer", init=blank))
    launch = Launch(
        path=LISTINGS[architecture],
        listing=code,
        function=code.functions[probe.name],
        grid=(count // BLOCK, 1, 1),
        block=(BLOCK, 1, 1),
        static_shared=None,
        dynamic_shared=0,
        arguments=arguments,
    )
    return execute(launch).buffers["out"].view(np.uint32).reshape(blank.shape)

"""Which GPUs' code is read and executed, and where each generation has what a launch gives it (docs/sass.md)."""

from __future__ import annotations

from dataclasses import dataclass

TARGET = 75
EXECUTED = range(70, 130)
#: GPUs whose latencies a preset has: their codes are kept without reserve (docs/schemes/modern.md, section 3).
PRESETS = {TARGET: "turing_rfc", 86: "ampere", 89: "ada", 90: "hopper", 120: "blackwell"}
#: From this GPU on a reader of variable latency comes a cycle earlier after its producer.
SHORTER = 80
#: Oldest GPU that a preset is the nearest to, newest first: sm_100 has the warps, shared memory and doubles of sm_90.
_NEAREST = ((120, 120), (90, 90), (89, 89), (SHORTER, 86), (0, TARGET))
#: Those whose code for every bundled kernel was compared with ``nvdisasm`` and NumPy (docs/architectures.md).
COMPARED = (TARGET, 80, 86, 89, 90, 100, 120)


_OLDER = {20: "Fermi", 30: "Kepler", 50: "Maxwell", 60: "Pascal"}


@dataclass(frozen=True)
class Generation:
    """Places in constant bank 0, in bytes, and the first byte of shared memory that is a kernel's own."""

    first: int  #: its oldest GPU
    parameters: int
    block: int = 0x0  #: three words, threads of a CTA
    grid: int = 0xC  #: three words, CTAs of the grid
    stack: int = 0x28  #: initial R1
    shared: int = 0
    workspace: int = 0x8C  #: two words, where a cooperative launch keeps what the whole grid waits with


_GENERATIONS = (
    Generation(first=100, parameters=0x380, block=0x360, grid=0x370, stack=0x37C, shared=0x400, workspace=0x254),
    Generation(first=90, parameters=0x210, shared=0x400, workspace=0x44),
    Generation(first=70, parameters=0x160),
)


#: Most shared memory of a CTA in KiB, from a GPU on, newest first (CUDA C++ Programming Guide, technical specifications
#: per compute capability).
_SHARED_KIB = ((120, 99), (90, 227), (89, 99), (87, 163), (86, 99), (80, 163), (TARGET, 64), (0, 96))


def shared_limit(architecture: int | None) -> int:
    """Bytes of shared memory that a CTA may have on a GPU; on the target where a listing does not tell."""
    number = TARGET if architecture is None else architecture
    return 1024 * next(size for first, size in _SHARED_KIB if number >= first)


def gpu_name(architecture: int) -> str:
    """A GPU whose code is not read, with the name of its generation: its instructions have another encoding."""
    since = max((first for first in _OLDER if first <= architecture < EXECUTED.start), default=0)
    return f"sm_{architecture}" + (f" ({_OLDER[since]})" if since else "")


def generation(architecture: int | None) -> Generation:
    """That of a GPU; of the target where a listing does not tell."""
    number = TARGET if architecture is None else architecture
    return next((one for one in _GENERATIONS if number >= one.first), _GENERATIONS[-1])


def remark(architecture: int | None) -> str | None:
    """What is to be said of code for this GPU; None where a listing does not tell."""
    if architecture is None or architecture in COMPARED:
        return None
    names = ", ".join(f"sm_{one}" for one in COMPARED)
    return f"code is for sm_{architecture}; what is executed is that of {names}"


def preset(architecture: int) -> str:
    """The preset whose latencies code for a GPU is nearest to."""
    return PRESETS[_nearest(architecture)]


def _nearest(architecture: int) -> int:
    return next(number for first, number in _NEAREST if architecture >= first)


def remark_on_codes(architecture: int | None, machine: int) -> str | None:
    """What is to be said of control codes for a GPU at the latencies of ``machine``, which is 0 where no GPU has them.

    None where they are for that machine, or a listing does not tell.
    """
    if architecture is None:
        return None
    nearest = _nearest(architecture)
    if machine not in (0, nearest):
        said = f"control codes are for sm_{architecture}, and the latencies are those of sm_{machine}"
        return f"{said}: use --preset {PRESETS[nearest]}" + (
            "" if architecture == nearest else ", which is the nearest"
        )
    if architecture == nearest:
        return None
    said = f"control codes are for sm_{architecture}, whose latencies no preset has"
    return f"{said}; the nearest is {PRESETS[nearest]}, of sm_{nearest}"


def whereabouts(offset: int, architecture: int | None) -> str:
    """Where an instruction is, for messages."""
    return f"at {offset:#06x}" + ("" if architecture is None else f" of code for sm_{architecture}")


def is_executed(architecture: int | None) -> bool:
    """Whether a launch may run it; what a listing does not tell may."""
    return architecture is None or architecture in EXECUTED

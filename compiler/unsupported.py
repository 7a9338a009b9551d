"""Features of GPUs since Hopper that are not executed, by the names that CUDA and PTX give them."""

from __future__ import annotations

from warpfile.compiler.architectures import generation
from warpfile.compiler.model import Function, Instruction

#: Starts of opcodes by feature; of several in a function the first row is named.
FEATURES = {
    "tcgen05 (products in tensor memory)": ("UTC", "LDTM", "STTM", "UVIRTCOUNT"),
    "wgmma (products of four warps)": ("HGMMA", "IGMMA", "QGMMA", "BGMMA", "WARPGROUP"),
    "TMA (bulk copies)": ("UTMA", "UBLK"),
    "clusters of several CTAs": ("UCGABAR",),
    "mbarrier (cuda::barrier)": ("SYNCS",),
}


def unsupported(function: Function) -> tuple[str, Instruction] | None:
    """The feature that a function needs and an instruction of it; None where it needs none of them."""
    for feature, starts in FEATURES.items():
        for instruction in function.instructions:
            if instruction.opcode.startswith(starts):
                return feature, instruction
    return None


def grid_sync(function: Function) -> Instruction | None:
    """An instruction of ``grid.sync()``, whose code reads an address that only a cooperative launch gives."""
    workspace = generation(function.architecture).workspace
    return next((one for one in function.instructions if one.reads(0, workspace)), None)

"""Kernel files of Accel-Sim as tests write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from warpfile.compiler.accelsim import Imported, import_kernel
from warpfile.spec.trace import StaticInstruction

HEADER = {
    "kernel name": "hand",
    "kernel id": "1",
    "grid dim": "(1,1,1)",
    "block dim": "(32,1,1)",
    "shmem": "0",
    "nregs": "32",
    "binary version": "75",
    "cuda stream id": "0",
    "shmem base_addr": "0x00007f0000000000",
    "local mem base_addr": "0x00007f0002000000",
    "nvbit version": "1.5.5",
    "accelsim tracer version": "3",
    "enable lineinfo": "0",
}
EXIT = "0f00 ffffffff 0 EXIT 0 0"

Warps = Mapping[int, Sequence[str]]


def text(warps: Warps | Mapping[tuple[int, int, int], Warps], header: Mapping[str, str | None] | None = None) -> str:
    """A whole file: instruction lines by warp of one CTA, or by CTA and warp. A header's None leaves its key out."""
    values = {key: value for key, value in {**HEADER, **(header or {})}.items() if value is not None}
    lines = [*(f"-{key} = {value}" for key, value in values.items()), "", "#traces format = PC mask ...", ""]
    ctas = warps if all(isinstance(key, tuple) for key in warps) else {(0, 0, 0): warps}
    for cta, members in ctas.items():
        lines += ["", "#BEGIN_TB", "", f"thread block = {','.join(map(str, cta))}"]
        for warp, stream in members.items():
            lines += ["", f"warp = {warp}", f"insts = {len(stream)}", *stream]
        lines += ["", "#END_TB"]
    return "\n".join(lines) + "\n"


def imported(folder: Path, content: str, overrides: Mapping[str, str] | None = None) -> Imported:
    """Import a file with this content."""
    path = folder / "kernel-1.traceg"
    path.write_text(content)
    return import_kernel(path, overrides)


def only(folder: Path, line: str, header: Mapping[str, str | None] | None = None) -> tuple[StaticInstruction, set[str]]:
    """The static instruction that a line becomes, and the names of the repairs it took."""
    found = imported(folder, text({0: [line, EXIT]}, header))
    return found.trace.program[0], set(found.repairs.to_json())

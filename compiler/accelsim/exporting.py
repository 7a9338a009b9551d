"""Export of an executed launch as a trace that Accel-Sim reads (docs/trace.md, section "Export")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from warpfile.compiler.accelsim.line import ZERO
from warpfile.spec.trace import LANES, Access, Space, StaticInstruction, Trace

VERSION = 4  #: of the format: lines without CTA and warp, and without immediates
LIST, KERNEL = "kernelslist.g", "kernel-1.traceg"
LOCAL_WINDOW, SHARED_WINDOW = 0x7D00_0000_0000, 0x7E00_0000_0000  #: of generic addresses in our traces
LOCAL_BASE = 0x7E01_0000_0000  #: local memory's in the exported one: Accel-Sim takes it to be above shared memory
_MOST_SOURCES = 4  #: Accel-Sim stops at a line with more
_GUARD = re.compile(r"^@!?U?P\w+\s+")
_REGISTER = re.compile(r"\bR(\d+|Z)\b")
_HEADER = """\
-kernel name = {kernel}
-kernel id = 1
-grid dim = ({grid})
-block dim = ({block})
-shmem = {shared}
-nregs = {registers}
-binary version = {architecture}
-cuda stream id = 0
-shmem base_addr = {shared_base:#018x}
-local mem base_addr = {local_base:#018x}
-nvbit version = none
-accelsim tracer version = {version}
-enable lineinfo = 0

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]
"""


def export_trace(trace: Trace, folder: Path, architecture: int) -> Iterator[int]:
    """Write ``kernelslist.g`` and the kernel's file into a folder that is there; yields how many CTAs are done.

    ``architecture`` is the number of the code's GPU: 75 for sm_75. Registers are those that the listing names, so a
    pair R4, R5 is R4: the destination, then up to four sources, which is all that Accel-Sim takes. The format has no
    predicates and no uniform registers. Addresses of shared memory are offsets in the CTA's, those of local memory
    offsets in the thread's.
    """
    (folder / LIST).write_text(f"{KERNEL}\n")
    heads = [_head(static) for static in trace.program]
    with (folder / KERNEL).open("w") as file:
        file.write(_header(trace, architecture))
        for done, (cta, warps) in enumerate(_ctas(trace).items(), 1):
            file.write(f"\n#BEGIN_TB\n\nthread block = {','.join(map(str, _coordinates(trace, cta)))}\n")
            for number, warp in enumerate(warps):
                records = range(int(trace.warp_start[warp]), int(trace.warp_start[warp + 1]))
                file.write(f"\nwarp = {number}\ninsts = {len(records)}\n")
                file.writelines(_line(trace, heads, record) for record in records)
            file.write("\n#END_TB\n")
            yield done


def _header(trace: Trace, architecture: int) -> str:
    grid, block = (",".join(map(str, size)) for size in (trace.grid, trace.block))
    return _HEADER.format(
        kernel=trace.kernel, grid=grid, block=block, shared=trace.shared_bytes, registers=trace.registers,
        architecture=architecture, shared_base=SHARED_WINDOW, local_base=LOCAL_BASE, version=VERSION,
    )  # fmt: skip


def _ctas(trace: Trace) -> dict[int, list[int]]:
    """Warps of each CTA, by linear numbers."""
    found: dict[int, list[int]] = {}
    for warp, cta in enumerate(trace.warp_cta.tolist()):
        found.setdefault(cta, []).append(warp)
    return found


def _coordinates(trace: Trace, cta: int) -> tuple[int, int, int]:
    width, height, _ = trace.grid
    return cta % width, cta // width % height, cta // width // height


def _head(static: StaticInstruction) -> tuple[str, str, int]:
    """The fields before and behind the mask; bytes per lane of an instruction with addresses, otherwise 0."""
    operands = _GUARD.sub("", static.text.strip()).partition(" ")[2]
    named = [ZERO if name == "Z" else int(name) for name in _REGISTER.findall(operands)]
    dests = [static.dest] if static.dest_count else []
    if dests and static.dest in named:
        named.remove(static.dest)
    elif not dests and operands.startswith("RZ"):
        dests = [named.pop(0)]
    fields = [str(len(dests)), *map("R{}".format, dests), static.opcode]
    sources = named[:_MOST_SOURCES]
    fields += [str(len(sources)), *map("R{}".format, sources)]
    reaches = static.access != Access.NONE and static.space != Space.NONE and not static.opcode.startswith("LDC")
    return f"{static.offset:04x}", " ".join(fields), static.bytes if reaches else 0


def _line(trace: Trace, heads: list[tuple[str, str, int]], record: int) -> str:
    place, rest, width = heads[trace.instruction[record]]
    mask = int(trace.execute[record])
    access = "0"
    if width:
        row = int(trace.address_row[record])
        lanes = [lane for lane in range(LANES) if mask >> lane & 1] if row >= 0 else []
        access = " ".join([f"{width} 0", *(f"{address:#x}" for address in _addresses(trace.addresses[row][lanes]))])
    return f"{place} {mask:08x} {rest} {access}\n"


def _addresses(found: np.ndarray) -> list[int]:
    """Generic addresses of local memory move from the window of our traces to the base in the header."""
    return [
        address - LOCAL_WINDOW + LOCAL_BASE if LOCAL_WINDOW <= address < SHARED_WINDOW else address
        for address in found.tolist()
    ]

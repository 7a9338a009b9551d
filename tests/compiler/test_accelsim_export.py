"""An executed launch as a trace of Accel-Sim: lines worked out by hand, and what the import makes of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warpfile.compiler.accelsim import export_trace, import_kernel, kernel_files
from warpfile.compiler.accelsim.importing import Imported
from warpfile.output.display import silent
from warpfile.spec.trace import NO_ROW, Trace
from warpfile.workloads.inputs import bundled_kernels, obtain_trace


def exported(kernel: str, folder: Path) -> tuple[Trace, list[str]]:
    trace = obtain_trace(kernel, "launch", None, silent)
    assert list(export_trace(trace, folder, 75)) == list(range(1, len(set(trace.warp_cta.tolist())) + 1))
    return trace, (folder / "kernel-1.traceg").read_text().splitlines()


def read_back(folder: Path) -> Imported:
    (file,) = kernel_files(folder)
    return import_kernel(file, {}, lambda *_: None)


def test_the_header_has_the_launch(tmp_path: Path) -> None:
    trace, lines = exported("matmul_tiled", tmp_path)
    assert (tmp_path / "kernelslist.g").read_text() == "kernel-1.traceg\n"
    said = dict(line[1:].split(" = ") for line in lines if line.startswith("-"))
    assert said["kernel name"] == trace.kernel and said["binary version"] == "75"
    assert said["grid dim"] == "({},{},{})".format(*trace.grid)
    assert said["block dim"] == "({},{},{})".format(*trace.block)
    assert said["shmem"] == str(trace.shared_bytes) and said["nregs"] == str(trace.registers)


@pytest.mark.parametrize(
    ("kernel", "text", "line"),
    [
        ("saxpy", "LDG.E.SYS R2, [R2]", "1 R2 LDG.E.SYS 1 R2 4 0 0x"),
        ("warp_reduce", "@!P0 LDG.E.SYS R7, [R2]", "1 R7 LDG.E.SYS 1 R2 4 0"),
        ("saxpy", "STG.E.SYS [R4], R7", "0 STG.E.SYS 2 R4 R7 4 0 0x"),
        ("warp_reduce", "SHFL.DOWN PT, R3, R6, 0x10, 0x1f", "1 R3 SHFL.DOWN 1 R6 0"),
        ("tensor", "HMMA.1688.F32 R24, R12, R20, R24", "1 R24 HMMA.1688.F32 3 R12 R20 R24 0"),
        ("histogram", "ATOMS.ADD RZ, [R5], R10", "1 R255 ATOMS.ADD 2 R5 R10 4 0 0x"),
    ],
)
def test_registers_stand_once_and_the_destination_apart(kernel: str, text: str, line: str, tmp_path: Path) -> None:
    trace, lines = exported(kernel, tmp_path)
    executed = [trace.program[number] for number in set(trace.instruction.tolist())]
    static = next(one for one in executed if one.text == text)
    of_it = [one for one in lines if one.startswith(f"{static.offset:04x} ")]
    assert of_it and all(one.split(maxsplit=2)[2].startswith(line) for one in of_it)


@pytest.mark.parametrize("kernel", ["saxpy", "calls", "bfs_step", "histogram", "tensor", "warp_reduce"])
def test_the_import_reads_masks_registers_and_addresses_back(kernel: str, tmp_path: Path) -> None:
    trace, _ = exported(kernel, tmp_path)
    found = read_back(tmp_path).trace
    assert (found.grid, found.block, found.shared_bytes) == (trace.grid, trace.block, trace.shared_bytes)
    assert found.warp_start.tolist() == trace.warp_start.tolist() and (found.warp_cta == trace.warp_cta).all()
    assert (found.execute == trace.execute).all()
    for record, (mine, theirs) in enumerate(zip(trace.instruction, found.instruction, strict=True)):
        ours, read = trace.program[mine], found.program[theirs]
        assert (read.offset, read.opcode, read.dest) == (ours.offset, ours.opcode, ours.dest)
        assert set(ours.sources[:1]) <= set(read.sources) or not ours.sources
        if found.address_row[record] != NO_ROW:
            rows = trace.addresses[trace.address_row[record]], found.addresses[found.address_row[record]]
            assert np.array_equal(*rows), ours.text


def test_another_mask_would_be_noticed(tmp_path: Path) -> None:
    _, lines = exported("saxpy", tmp_path)
    file = tmp_path / "kernel-1.traceg"
    at = next(n for n, line in enumerate(lines) if " LDG" in line)
    lines[at] = lines[at].replace(" ffffffff ", " 7fffffff ").rsplit(" ", 1)[0]
    file.write_text("\n".join(lines) + "\n")
    trace = obtain_trace("saxpy", "launch", None, silent)
    assert not (read_back(tmp_path).trace.execute == trace.execute).all()


@pytest.mark.check
@pytest.mark.parametrize("kernel", bundled_kernels())
def test_every_kernel_is_read_back(kernel: str, tmp_path: Path) -> None:
    trace, _ = exported(kernel, tmp_path)
    found = read_back(tmp_path).trace
    assert (found.execute == trace.execute).all() and found.instructions == trace.instructions

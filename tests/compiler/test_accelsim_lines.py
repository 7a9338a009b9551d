"""Versions, address modes and the shape of lines; every expected value is worked out by hand."""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.compiler.traceg import EXIT, imported, text
from warpfile.compiler.accelsim import AccelsimError, Imported, import_kernel, kernel_files
from warpfile.spec.trace import NO_ROW

STREAM = ("0000 ffffffff 1 R2 S2R 0 0", "0010 0000000f 1 R4 LDG.E.SYS 1 R2 4 1 0x1000 8", EXIT)


def written(version: int, has_source_lines: bool) -> str:
    """The same stream as the tracer of each version writes it."""
    lines = list(STREAM)
    if version >= 5:
        lines = [f"{line} 0" for line in lines]
    if has_source_lines:
        lines = [f"{17 + index} {line}" for index, line in enumerate(lines)]
    if version < 3:
        lines = [f"0 0 0 0 {line}" for line in lines]
    header = {"accelsim tracer version": str(version), "enable lineinfo": "1" if has_source_lines else None}
    return text({0: lines}, header)


@pytest.mark.parametrize("has_source_lines", [False, True])
@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_every_version_gives_the_same_trace(tmp_path: Path, version: int, has_source_lines: bool) -> None:
    trace = imported(tmp_path, written(version, has_source_lines)).trace
    assert [i.text for i in trace.program] == ["S2R R2", "LDG.E.SYS R4, [R2]", "EXIT"]
    assert trace.instruction.tolist() == [0, 1, 2]
    assert trace.execute.tolist() == [0xFFFFFFFF, 0xF, 0xFFFFFFFF]
    assert trace.address_row.tolist() == [NO_ROW, 0, NO_ROW]
    assert trace.addresses[0, :5].tolist() == [0x1000, 0x1008, 0x1010, 0x1018, 0]


def test_a_file_without_a_version_is_read_as_the_oldest(tmp_path: Path) -> None:
    lines = [f"0 0 0 0 {line}" for line in STREAM]
    found = imported(tmp_path, text({0: lines}, {"accelsim tracer version": None}))
    assert found.trace.instructions == 3
    assert any("version 2" in note for note in found.trace.notes)


@pytest.mark.parametrize(
    ("mask", "mode", "lanes"),
    [
        ("00000005", "0 0x100 0x7f0000000204", {0: 0x100, 2: 0x7F0000000204}),
        ("80000001", "0 0x0000000000000100 0xffffffffffffffff", {0: 0x100, 31: 0xFFFFFFFFFFFFFFFF}),
        ("00000070", "1 0x2000 -16", {4: 0x2000, 5: 0x1FF0, 6: 0x1FE0}),
        ("00000003", "1 0x2000 0", {0: 0x2000, 1: 0x2000}),
        ("c0000000", "1 0x8 -16", {30: 8, 31: 0xFFFFFFFFFFFFFFF8}),
        ("0000000f", "2 0x3000 128 -64 4096", {0: 0x3000, 1: 0x3080, 2: 0x3040, 3: 0x4040}),
        ("80000101", "2 0x10 16 -64", {0: 0x10, 8: 0x20, 31: 0xFFFFFFFFFFFFFFE0}),
        ("00000100", "2 0x3000", {8: 0x3000}),
    ],
)
@pytest.mark.parametrize("immediate", ["", " 7"])
def test_address_modes(tmp_path: Path, mask: str, mode: str, lanes: dict[int, int], immediate: str) -> None:
    lines = [f"0010 {mask} 1 R4 LDG.E.SYS 1 R2 4 {mode}{immediate}", EXIT + (" 0" if immediate else "")]
    trace = imported(tmp_path, text({0: lines}, {"accelsim tracer version": "5" if immediate else "4"})).trace
    expected = np.zeros(32, dtype=np.uint64)
    expected[list(lanes)] = list(lanes.values())
    assert trace.addresses.tolist() == [expected.tolist()]


@pytest.mark.parametrize("mode", ["0", "1 0x0 0", "2 0x0"])
@pytest.mark.parametrize("immediate", ["", " 7"])
def test_an_access_that_no_lane_makes_has_no_addresses(tmp_path: Path, mode: str, immediate: str) -> None:
    lines = [f"0010 00000000 1 R4 LDG.E.SYS 1 R2 4 {mode}{immediate}", EXIT + (" 0" if immediate else "")]
    trace = imported(tmp_path, text({0: lines}, {"accelsim tracer version": "5" if immediate else "4"})).trace
    assert trace.address_row.tolist() == [NO_ROW, NO_ROW]
    assert trace.execute.tolist() == [0, 0xFFFFFFFF]
    assert len(trace.addresses) == 0


def test_blank_lines_may_stand_anywhere(tmp_path: Path) -> None:
    content = text({0: STREAM}).replace("\n", "\n\n").replace(EXIT, " \t\n" + EXIT)
    assert imported(tmp_path, content).trace.instructions == 3


def test_keys_without_a_meaning_are_passed_over(tmp_path: Path) -> None:
    content = text({0: STREAM}, {"cluster dim": "(1,1,1)"}).replace("warp = 0", "cluster rank = 0\nwarp = 0")
    assert imported(tmp_path, content).trace.instructions == 3


BROKEN: Sequence[tuple[str, str]] = [
    ("00g0 ffffffff 0 NOP 0 0", "PC must be hexadecimal, not '00g0'"),
    ("0000 fffffffff 0 NOP 0 0", "mask must be eight hexadecimal digits"),
    ("0000 ffffffff 2 R1 R2 MOV 0 0", "number of destination registers must be a number from 0 to 1"),
    ("0000 ffffffff 1 R256 MOV 0 0", "destination register must be R0 to R255 or UR0 to UR255"),
    ("0000 ffffffff 1 P4 MOV 0 0", "destination register must be R0 to R255 or UR0"),
    ("0000 ffffffff 1 R1 mov 0 0", "opcode must be a dotted mnemonic"),
    ("0000 ffffffff 1 R1 MOV 2 R2 0", "source register must be R0 to R255 or UR0 to UR255, not '0'"),
    ("0000 ffffffff 1 R1 MOV 0", "must go on with its memory width"),
    ("0000 ffffffff 1 R1 MOV 0 0 5", "must end here, not go on with '5'"),
    ("0000 ffffffff 1 R1 MOV 0 0 0x100", "must have no addresses, as its width is 0"),
    ("0000 00000001 1 R1 LDG.E 1 R2 4 3 0x100", "address mode must be a number from 0 to 2"),
    ("0000 00000003 1 R1 LDG.E 1 R2 4 0 0x100", "must have 2 addresses, one per lane of the mask, not 1 numbers"),
    ("0000 00000003 1 R1 LDG.E 1 R2 4 1 0x100", "must have a base and a stride, not 1 numbers"),
    ("0000 00000005 1 R1 LDG.E 1 R2 4 1 0x100 4", "must have one run of active lanes, not mask 00000005"),
    ("0000 00000003 1 R1 LDG.E 1 R2 4 2 0x100 4 4", "a base and 1 distances, one less than lanes in the mask"),
    ("0000 00000003 1 R1 LDG.E 1 R2 4 2 0x100 x", "strides and distances decimal, not '100 x'"),
    ("0000 00000003 1 R1 LDG.E 1 R2 4 0 0x100 0x10000000000000000", "must have at most 64 bits"),
    ("0000 00000003 1 R1 LDG.E 1 R2 4 1 0x100 9999999999999999999999", "must have at most 64 bits"),
    ("0000 00000001 1 R1 LDG.E 1 R2 4 0", "must have addresses that start with 0x"),
    ("0000 00000001 1 R1 LDG.E 1 R2 4 2 1000", "must end here, not go on with '1000'"),
]


@pytest.mark.parametrize(("line", "problem"), BROKEN)
def test_a_malformed_line_is_refused_by_number(tmp_path: Path, line: str, problem: str) -> None:
    content = text({0: [line, EXIT]})
    number = content.splitlines().index(line) + 1
    with pytest.raises(AccelsimError, match=r"kernel-1\.traceg, line ") as refusal:
        imported(tmp_path, content)
    assert refusal.value.line == number
    assert problem in str(refusal.value) and "\n" not in str(refusal.value)


def test_the_immediate_of_version_5_is_no_distance(tmp_path: Path) -> None:
    line = "0010 0000000f 1 R4 LDG.E.SYS 1 R2 4 2 0x3000 128 -64 4096"
    with pytest.raises(AccelsimError, match="3 distances, one less than lanes in the mask and then the immediate"):
        imported(tmp_path, text({0: [line, EXIT]}, {"accelsim tracer version": "5"}))


def test_lines_of_version_2_must_start_with_their_place(tmp_path: Path) -> None:
    with pytest.raises(AccelsimError, match="before version 3 a line must start with the CTA's x, y, z and the warp"):
        imported(tmp_path, text({0: STREAM}, {"accelsim tracer version": "2"}))


def from_list(folder: Path) -> list[Imported]:
    return [import_kernel(path) for path in kernel_files(folder)]


def test_the_list_names_kernels_in_launch_order(tmp_path: Path) -> None:
    for name in ("kernel-1", "kernel-2-ctx_0x55d0"):
        (tmp_path / f"{name}.traceg").write_text(text({0: STREAM}, {"kernel name": name}))
    lines = ["MemcpyHtoD,0x00007f2b2d500000,400", "kernel-2-ctx_0x55d0.traceg", "# note", "kernel-1.traceg"]
    (tmp_path / "kernelslist.g").write_text("\n".join(lines) + "\n")
    assert [one.trace.kernel for one in from_list(tmp_path)] == ["kernel-2-ctx_0x55d0", "kernel-1"]


@pytest.mark.parametrize("name", ["kernel-1.traceg", "kernel-1.traceg.xz"])
def test_a_compressed_kernel_is_the_same_kernel(tmp_path: Path, name: str) -> None:
    (tmp_path / "kernel-1.traceg.xz").write_bytes(lzma.compress(text({0: STREAM}).encode()))
    (tmp_path / "kernelslist.g").write_text(f"{name}\n")
    assert from_list(tmp_path)[0].trace.instructions == 3


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "must be a directory with kernelslist.g"),
        ("", "must name at least one file that starts with 'kernel'"),
        ("MemcpyHtoD,0x10,4\nkernel-9.traceg\n", "line 2: kernel-9.traceg must be in"),
        ("kernel-1.trace\n", "line 1: kernel-1.trace must be in .* and is missing"),
        (
            "kernel-1.traceg.bz2\n",
            "line 1: a kernel must be a .tracez file, or .* or ends in .xz or .gz, not 'kernel-1.traceg.bz2'",
        ),
        ("kernel-1.traceg.zst\n", "line 1: a kernel must be a .tracez file, or a .traceg or .trace file"),
    ],
)
def test_a_list_that_names_no_kernel_is_refused(tmp_path: Path, content: str | None, problem: str) -> None:
    if content is not None:
        (tmp_path / "kernelslist.g").write_text(content)
    with pytest.raises(AccelsimError, match=problem):
        kernel_files(tmp_path)


@pytest.mark.parametrize("damage", [lambda data: data[:-40], lambda data: b"no xz at all"])
def test_a_damaged_archive_is_refused(tmp_path: Path, damage: object) -> None:
    path = tmp_path / "kernel-1.traceg.xz"
    path.write_bytes(damage(lzma.compress(text({0: STREAM}).encode())))  # type: ignore[operator]
    with pytest.raises(AccelsimError, match="must be a whole xz file"):
        import_kernel(path)

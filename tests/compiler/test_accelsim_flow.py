"""Programs and control flow from what warps did; and streams of random instructions, written and read again."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.compiler.traceg import EXIT, imported, text
from warpfile.compiler.accelsim import has_aliases, observed_edges
from warpfile.compiler.accelsim.repairs import REPAIRS
from warpfile.spec.trace import NO_ROW

FULL = "ffffffff"


def line(offset: int, mask: str, rest: str) -> str:
    return f"{offset:04x} {mask} {rest} 0 0"


def edges(folder: Path, warps: dict[int, list[str]], **header: str) -> set[tuple[int, int]]:
    """Edges by offset."""
    threads = {"block dim": f"({32 * len(warps)},1,1)"} | {
        key.replace("_", " "): value for key, value in header.items()
    }
    trace = imported(folder, text(warps, threads)).trace
    offsets = [instruction.offset for instruction in trace.program]
    return {(offsets[a], offsets[b]) for a, b in observed_edges(trace)}


def test_a_loop_has_its_back_edge(tmp_path: Path) -> None:
    turn = [line(0x10, FULL, "0 NOP"), line(0x20, FULL, "0 BRA")]
    stream = [line(0, FULL, "0 NOP"), *turn, *turn[:1], line(0x20, "00000000", "0 BRA"), line(0x30, FULL, "0 EXIT")]
    assert edges(tmp_path, {0: stream}) == {(0, 0x10), (0x10, 0x20), (0x20, 0x10), (0x20, 0x30)}


def test_both_sides_of_a_diverged_branch_are_found(tmp_path: Path) -> None:
    """The taken side comes last, behind BSYNC of the other; the switch between them is no edge."""
    stream = [
        line(0x00, "0000ffff", "0 BRA"),
        line(0x10, "ffff0000", "0 NOP"),
        line(0x20, "ffff0000", "0 BRA"),
        line(0x40, "ffff0000", "0 BSYNC"),
        line(0x30, "0000ffff", "0 NOP"),
        line(0x40, "0000ffff", "0 BSYNC"),
        line(0x50, FULL, "0 EXIT"),
    ]
    found = edges(tmp_path, {0: stream})
    assert found == {(0, 0x10), (0, 0x30), (0x10, 0x20), (0x20, 0x40), (0x20, 0x30), (0x30, 0x40), (0x40, 0x50)}


def test_a_switch_of_splits_behind_an_ordinary_instruction_is_no_edge(tmp_path: Path) -> None:
    stream = [
        line(0x00, "0000ffff", "0 BRA"),
        line(0x10, "ffff0000", "0 NOP"),
        line(0x30, "0000ffff", "0 EXIT"),
        line(0x20, "ffff0000", "0 EXIT"),
    ]
    assert edges(tmp_path, {0: stream}) == {(0, 0x10), (0, 0x30), (0x10, 0x20)}


def test_an_exit_of_all_lanes_has_no_successor(tmp_path: Path) -> None:
    warps = {0: [line(0, FULL, "0 EXIT")], 1: [line(0, "00000000", "0 EXIT"), line(0x10, FULL, "0 EXIT")]}
    assert edges(tmp_path, {0: warps[0]}) == set()
    assert edges(tmp_path, warps) == {(0, 0x10)}


def test_offsets_before_volta_skip_scheduling_words(tmp_path: Path) -> None:
    stream = [line(at, FULL, "0 NOP") for at in (0x08, 0x10, 0x18, 0x28)] + [line(0x30, FULL, "0 EXIT")]
    found = edges(tmp_path, {0: stream}, binary_version="61")
    assert found == {(0x08, 0x10), (0x10, 0x18), (0x18, 0x28), (0x28, 0x30)}


def test_aliased_offsets_leave_no_hints(tmp_path: Path) -> None:
    """A called function starts at offset 0 again, where the caller has another instruction."""
    stream = [line(0, FULL, "1 R1 MOV"), line(0x10, FULL, "0 CALL.ABS.NOINC"), line(0, FULL, "1 R4 S2R"), EXIT]
    trace = imported(tmp_path, text({0: stream})).trace
    assert has_aliases(trace.program)
    assert [i.text for i in trace.program] == ["MOV R1", "S2R R4", "CALL.ABS.NOINC", "EXIT"]
    assert trace.instruction.tolist() == [0, 2, 1, 3]
    assert any(note.startswith("no static hints") for note in trace.notes)
    with pytest.raises(ValueError, match="must come from a program without aliased offsets"):
        observed_edges(trace)


def test_equal_lines_of_all_warps_are_one_instruction(tmp_path: Path) -> None:
    warps = {w: [line(0, f"{1 << w:08x}", "1 R1 MOV"), EXIT] for w in range(4)}
    trace = imported(tmp_path, text(warps, {"block dim": "(128,1,1)"})).trace
    assert len(trace.program) == 2 and not has_aliases(trace.program)
    assert not any(note.startswith("no static hints") for note in trace.notes)


def test_the_documentation_lists_every_repair() -> None:
    page = (Path(__file__).parents[2] / "docs" / "trace.md").read_text()
    rows = [line.split(" | ") for line in page[page.index("### Repairs") :].splitlines() if line.startswith("| `")]
    assert {row[0].strip("| `"): row[1].removesuffix(" |") for row in rows} == REPAIRS


def encoded(rng: random.Random, mask: int, addresses: list[int]) -> str:
    """One of the address modes that can say these addresses."""
    steps = [b - a for a, b in pairwise(addresses)]
    lowest = mask & -mask
    modes = ["0 " + " ".join(f"0x{address:016x}" for address in addresses)]
    modes.append(f"2 0x{addresses[0]:x}" + "".join(f" {step}" for step in steps))
    if len(steps) and len(set(steps)) == 1 and not mask & mask + lowest:
        modes.append(f"1 0x{addresses[0]:x} {steps[0]}")
    return rng.choice(modes)


def access(rng: random.Random) -> tuple[int, list[int]]:
    """A mask and an address for each of its lanes."""
    first = rng.randrange(32)
    run = ((1 << rng.randrange(1, 33 - first)) - 1) << first
    mask = rng.choice([run, rng.getrandbits(32), 0])
    start, stride = rng.getrandbits(47), rng.randrange(-64, 65)
    strided = rng.random() < 0.5
    return mask, [start + stride * k if strided else rng.getrandbits(48) for k in range(mask.bit_count())]


@pytest.mark.parametrize("seed", range(8))
def test_random_streams_survive_writing_and_reading(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    version = rng.randrange(2, 6)
    prefix, suffix = ("0 0 0 0 " if version < 3 else ""), (" 0" if version >= 5 else "")
    warps: dict[int, list[str]] = {}
    expected: list[tuple[int, int, list[int] | None]] = []
    for warp in range(3):
        warps[warp] = []
        for _ in range(rng.randrange(40)):
            offset, (mask, addresses) = 16 * rng.randrange(1, 8), access(rng)
            is_load = offset > 64
            body = f"1 R{4 * offset // 16} LDG.E 1 R2 4 " if is_load else "1 R8 FFMA 3 R8 R9 R10 0"
            tail = (encoded(rng, mask, addresses) if mask else "1 0x0 0") if is_load else ""
            warps[warp].append(f"{prefix}{offset:04x} {mask:08x} {body}{tail}{suffix}")
            expected.append((offset, mask, addresses if is_load and mask else None))
        warps[warp].append(f"{prefix}{EXIT}{suffix}")
        expected.append((0xF00, 0xFFFFFFFF, None))
    header = {"accelsim tracer version": str(version), "block dim": "(96,1,1)"}
    trace = imported(tmp_path, text(warps, header)).trace
    assert np.diff(trace.warp_start).tolist() == [len(stream) for stream in warps.values()]
    for record, (offset, mask, addresses) in enumerate(expected):
        assert trace.program[trace.instruction[record]].offset == offset
        assert trace.execute[record] == mask
        row = int(trace.address_row[record])
        assert (row == NO_ROW) == (addresses is None)
        if addresses is not None:
            lanes = [lane for lane in range(32) if mask >> lane & 1]
            whole = dict(zip(lanes, addresses, strict=True))
            assert trace.addresses[row].tolist() == [whole.get(lane, 0) % 2**64 for lane in range(32)]

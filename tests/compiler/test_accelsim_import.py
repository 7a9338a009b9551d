"""Streams, masks, memory and headers of imported kernels, with expectations worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.compiler.traceg import EXIT, imported, text
from warpfile.compiler.accelsim import AccelsimError, has_aliases
from warpfile.spec.config import Config
from warpfile.spec.trace import NO_ROW, Kind, Port, Trace
from warpfile.spec.workload import prepare

NOP = "0000 ffffffff 0 NOP 0 0"


def test_warps_stand_in_launch_order(tmp_path: Path) -> None:
    ctas = {
        (1, 1, 0): {1: [NOP, NOP, EXIT], 0: [EXIT]},
        (1, 0, 0): {0: [NOP, EXIT], 1: [NOP, NOP, NOP, EXIT]},
    }
    trace = imported(tmp_path, text(ctas, {"grid dim": "(2,2,1)", "block dim": "(8,4,2)"})).trace
    assert trace.warp_cta.tolist() == [1, 1, 3, 3]
    assert np.diff(trace.warp_start).tolist() == [2, 4, 1, 3]
    assert (trace.grid, trace.block, trace.kernel, trace.source) == ((2, 2, 1), (8, 4, 2), "hand", "accelsim")
    assert any("2 of the grid's 4 CTAs" in note for note in trace.notes)


def test_nothing_is_known_of_values(tmp_path: Path) -> None:
    trace = imported(tmp_path, text({0: ["0000 ffffffff 1 R4 FFMA 3 R4 R5 R6 0", EXIT]})).trace
    assert not trace.has_values
    assert trace.value_row.tolist() == [NO_ROW, NO_ROW]
    assert trace.values.shape == (0, 32) and trace.written.shape == (0,)
    assert trace.registers == 7
    assert [beat.expected for beat in prepare(Config(), trace).beats] == [(-1, -1, -1), ()]


def test_lanes_live_until_their_exit(tmp_path: Path) -> None:
    stream = [NOP, "0010 0000000f 0 EXIT 0 0", "0020 00000000 0 EXIT 0 0", "0030 000000f0 0 NOP 0 0"]
    stream.append("0040 00fffff0 0 EXIT 0 0")
    trace = imported(tmp_path, text({0: stream}, {"block dim": "(24,1,1)"})).trace
    assert trace.live.tolist() == [0xFFFFFFFF, 0x00FFFFFF, 0x00FFFFF0, 0x00FFFFF0, 0x00FFFFF0]
    assert trace.active.tolist() == trace.live.tolist()
    assert trace.execute.tolist() == [0xFFFFFFFF, 0xF, 0, 0xF0, 0x00FFFFF0]
    assert [i.kind for i in trace.program[1:3]] == [Kind.EXIT, Kind.BRANCH]


def test_lanes_that_should_be_gone_are_counted(tmp_path: Path) -> None:
    stream = ["0010 000000ff 0 EXIT 0 0", "0020 0000ffff 0 NOP 0 0", "0040 0000ff00 0 EXIT 0 0"]
    found = imported(tmp_path, text({0: stream}, {"block dim": "(16,1,1)"}))
    assert found.trace.live.tolist() == [0xFFFF, 0xFFFF, 0xFF00]
    assert found.repairs.to_json() == {"revived_lanes": {"instructions": 0, "records": 1}}


@pytest.mark.parametrize(
    ("stream", "live"),
    [
        ([], [0xFFFFFFFF]),
        ([NOP], [0xFFFFFFFF, 0xFFFFFFFF]),
        ([NOP, "0010 0000ffff 0 EXIT 0 0", "0020 ffff0000 0 NOP 0 0"], [0xFFFFFFFF] * 2 + [0xFFFF0000] * 2),
        ([NOP, "0010 00000000 0 EXIT 0 0"], [0xFFFFFFFF] * 3),
        ([EXIT, NOP], [0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF]),
    ],
)
def test_a_warp_that_ends_oddly_gets_an_exit(tmp_path: Path, stream: list[str], live: list[int]) -> None:
    found = imported(tmp_path, text({0: stream, 1: [NOP, EXIT]}, {"block dim": "(64,1,1)"}))
    trace = found.trace
    last = trace.program[int(trace.instruction[trace.warp_start[1] - 1])]
    assert (last.text, last.kind, last.port) == ("EXIT (appended)", Kind.EXIT, Port.NONE)
    assert not has_aliases(trace.program)
    assert trace.live[: trace.warp_start[1]].tolist() == live
    assert trace.execute[trace.warp_start[1] - 1] == live[-1]
    assert found.repairs.to_json()["appended_exits"]["records"] == 1
    assert prepare(Config(), trace).warps[0][-1].kind == Kind.EXIT


def test_a_warp_that_is_left_out_is_counted(tmp_path: Path) -> None:
    found = imported(tmp_path, text({1: [EXIT]}, {"block dim": "(96,1,1)"}))
    assert found.trace.warps == 1
    assert found.repairs.to_json() == {"missing_warps": {"instructions": 0, "records": 2}}


COPY = "0010 {mask} 0 LDGSTS.E 2 R8 R4 4 1 0x{address} 4"


def test_of_a_copy_pair_the_record_with_the_source_stays(tmp_path: Path) -> None:
    pair = [COPY.format(mask="ffffffff", address=at) for at in ("0", "9000")]
    found = imported(tmp_path, text({0: [*pair, NOP, *pair, EXIT], 1: [*pair, EXIT]}, {"block dim": "(64,1,1)"}))
    trace = found.trace
    assert trace.instruction.tolist() == [1, 0, 1, 2, 1, 2]
    assert [trace.addresses[row, 0] for row in trace.address_row if row >= 0] == [0x9000] * 3
    assert found.repairs.to_json()["copy_pairs"]["records"] == 3


def test_single_copies_stay(tmp_path: Path) -> None:
    half = [COPY.format(mask=mask, address="9000") for mask in ("0000ffff", "ffff0000")]
    found = imported(tmp_path, text({0: [*half, EXIT]}))
    assert found.trace.instructions == 3
    assert "copy_pairs" not in found.repairs.to_json()


def test_a_barrier_that_no_lane_reaches_is_left_out(tmp_path: Path) -> None:
    stream = ["0010 00000000 0 BAR.SYNC 0 0", "0010 ffffffff 0 BAR.SYNC 0 0", EXIT]
    found = imported(tmp_path, text({0: stream}))
    assert found.trace.execute.tolist() == [0xFFFFFFFF, 0xFFFFFFFF]
    assert found.repairs.to_json() == {"skipped_barriers": {"instructions": 0, "records": 1}}


def test_an_access_without_addresses_is_counted(tmp_path: Path) -> None:
    found = imported(tmp_path, text({0: ["0010 ffffffff 1 R4 LDG.E 1 R2 0", "0020 ffffffff 1 R4 LDC 1 R2 0", EXIT]}))
    assert found.repairs.to_json()["missing_addresses"] == {"instructions": 0, "records": 1}
    assert prepare(Config(), found.trace).beats[0].sectors == ()


@pytest.mark.parametrize(
    ("line", "address", "moved"),
    [
        ("1 R4 LDS 1 R2 4 1 0x1000 4", 0x1000, False),
        ("1 R4 LDS 1 R2 4 1 0x7f0000001000 4", 0x1000, True),
        ("1 R4 LDL 1 R2 4 1 0x7f0002000008 4", 0x8, True),
        ("1 R4 LD.E 1 R2 4 1 0x7f0000000010 4", 0x7E00_0000_0010, True),
        ("1 R4 LD.E 1 R2 4 1 0x7f0002000010 4", 0x7D00_0000_0010, True),
        ("1 R4 LD.E 1 R2 4 1 0x7f0003000000 4", 0x7F00_0300_0000, False),
        ("1 R4 LDG.E 1 R2 4 1 0x7f0000000010 4", 0x7F00_0000_0010, False),
    ],
)
def test_windows(tmp_path: Path, line: str, address: int, moved: bool) -> None:
    found = imported(tmp_path, text({0: [f"0010 00000001 {line}", EXIT]}, {"shmem": "8192"}))
    assert found.trace.addresses[0].tolist() == [address] + [0] * 31
    assert ("rebased_addresses" in found.repairs.to_json()) == moved


@pytest.mark.parametrize(
    ("shmem", "mask", "shared", "noted"),
    [("8192", "3", 8192, False), ("1", "3", 512, True), ("21955021", "3", 512, True), ("1", "0", 1, False)],
)
def test_shared_memory_covers_all_accesses(tmp_path: Path, shmem: str, mask: str, shared: int, noted: bool) -> None:
    line = f"0010 0000000{mask} 1 R4 LDS.128 1 R2 16 1 0x{'0' if mask == '0' else '100'} 16"
    trace = imported(tmp_path, text({0: [line, EXIT]}, {"shmem": shmem})).trace
    assert trace.shared_bytes == shared
    assert any("from the highest access" in note for note in trace.notes) == noted


def test_shared_accesses_beyond_any_memory_are_refused(tmp_path: Path) -> None:
    content = text({0: ["0010 00000001 1 R4 LDS 1 R2 4 1 0x7e1200000000 4", EXIT]})
    with pytest.raises(AccelsimError, match="--header 'shmem base_addr=0x"):
        imported(tmp_path, content)
    assert imported(tmp_path, content, overrides={"shmem base_addr": "0x7e1200000000"}).trace.addresses[0, 0] == 0


def test_garbage_that_can_be_done_without_is_noted(tmp_path: Path) -> None:
    garbage = {"nregs": "21955", "binary version": "0", "shmem": "1", "local mem base_addr": "(nil)"}
    trace = imported(tmp_path, text({0: [NOP, EXIT]}, garbage)).trace
    notes = " / ".join(trace.notes)
    for words in ("nregs (21955) cannot be right", "binary version (0) cannot", "(nil)", "binary version 70"):
        assert words in notes
    fixed = imported(tmp_path, text({0: [NOP, EXIT]}, garbage), overrides={"nregs": "8", "binary version": "75"}).trace
    assert "nregs" not in " ".join(fixed.notes) and "binary version" not in " ".join(fixed.notes)


def test_a_machine_is_guessed_from_the_offsets(tmp_path: Path) -> None:
    stream = ["0008 ffffffff 1 R4 BRX 0 0", "0010 ffffffff 0 EXIT 0 0"]
    trace = imported(tmp_path, text({0: stream}, {"binary version": "0"})).trace
    assert trace.program[0].sources == (4,)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("grid dim", "(0,1,1)", "grid dim must be three sizes"),
        ("grid dim", None, "grid dim must be three sizes .* and is missing; --header 'grid dim=VALUE' overrides it"),
        ("block dim", "(2048,1,1)", "block dim must be three sizes .* from 1 to 1024, not '\\(2048,1,1\\)'"),
        ("accelsim tracer version", "7", "accelsim tracer version must be a number from 2 to 6, not '7'$"),
        ("enable lineinfo", "21955", "enable lineinfo must be a number from 0 to 1"),
    ],
)
def test_garbage_that_matters_is_refused(tmp_path: Path, key: str, value: str | None, problem: str) -> None:
    with pytest.raises(AccelsimError, match=problem):
        imported(tmp_path, text({0: [EXIT]}, {key: value}))
    good = {"grid dim": "(1,1,1)", "block dim": "(32,1,1)", "accelsim tracer version": "3", "enable lineinfo": "0"}
    assert imported(tmp_path, text({0: [EXIT]}, {key: value}), overrides={key: good[key]}).trace.instructions == 1


def test_an_override_must_be_right_too(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--header: key must be one of kernel name, grid dim"):
        imported(tmp_path, text({0: [EXIT]}), overrides={"register count": "3"})
    with pytest.raises(AccelsimError, match="nregs must be a plausible number, not '9999'"):
        imported(tmp_path, text({0: [EXIT]}), overrides={"nregs": "9999"})


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("-shmem = 0", "shmem = 0", "a header line must be '-key = value', not 'shmem = 0'"),
        ("insts = 2", "insts = 1", "expected 'warp = N', 'insts = N' or #END_TB, not '0f00"),
        ("insts = 2", "insts = 3", "1 more instruction lines must stand here"),
        ("insts = 2", "insts = two", "insts must be a number, not 'two'"),
        ("insts = 2", "", "expected 'warp = N', 'insts = N' or #END_TB, not '0000"),
        ("warp = 0", "warp = 1", "warp must be a number below 1"),
        ("warp = 0", "", "'insts = N' must stand behind its 'warp = N'"),
        ("thread block = 0,0,0", "", "a warp must stand behind its 'thread block = x,y,z'"),
        ("thread block = 0,0,0", "thread block = 1,0,0", "inside the grid \\(1, 1, 1\\), not '1,0,0'"),
        ("#END_TB", "", "this #BEGIN_TB must have its #END_TB: the file is cut short"),
        ("#BEGIN_TB", "", "expected #BEGIN_TB, not 'thread block = 0,0,0'"),
        ("#END_TB", "warp = 0\ninsts = 0\n#END_TB", "warp 0 of CTA 0 must be in the file once"),
        ("#END_TB", "#END_TB\nrest", "expected #BEGIN_TB, not 'rest'"),
    ],
)
def test_a_malformed_file_is_refused(tmp_path: Path, old: str, new: str, problem: str) -> None:
    content = text({0: [NOP, EXIT]})
    assert old in content
    with pytest.raises(AccelsimError, match=r"kernel-1\.traceg, line \d+: .*" + problem):
        imported(tmp_path, content.replace(old, new))


def test_a_file_without_a_cta_is_refused(tmp_path: Path) -> None:
    content = text({0: [EXIT]})
    with pytest.raises(AccelsimError, match="must hold at least one CTA"):
        imported(tmp_path, content[: content.index("#BEGIN_TB")])
    with pytest.raises(AccelsimError, match="must have a '#' line behind its header"):
        imported(tmp_path, content[: content.index("#traces")])


def test_a_trace_survives_its_file(tmp_path: Path) -> None:
    trace = imported(tmp_path, text({0: ["0000 0000000f 1 R4 LDG.E 1 R2 4 1 0x80 4", EXIT]})).trace
    trace.save(tmp_path / "t.npz")
    loaded = Trace.load(tmp_path / "t.npz")
    assert (loaded.program, loaded.notes, loaded.source) == (trace.program, trace.notes, "accelsim")
    assert np.array_equal(loaded.addresses, trace.addresses)
    assert prepare(Config(), loaded).beats[0].sectors == prepare(Config(), trace).beats[0].sectors

"""What release 2.0.0 of Accel-Sim writes: version 6, ``.tracez``, files of the tracer, values."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import numpy as np
import pytest

from tests.compiler.traceg import EXIT, imported, text
from tests.compiler.tracez import RELEASED, STOCK, VALUED, VERSION_6, raw, tracez, version_6
from warpfile.compiler.accelsim import AccelsimError, Imported, import_kernel, kernel_files
from warpfile.spec.trace import NO_ROW, Port

NOP = "0000 ffffffff 0 NOP 0 0 0 0 NoVal"
END = "0050 ffffffff 0 EXIT 0 0 0 0 NoVal"


def read(path: Path, content: bytes | str) -> Imported:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return import_kernel(path)


def test_lines_of_version_6(tmp_path: Path) -> None:
    found = imported(tmp_path, version_6({0: STOCK}))
    program = found.trace.program
    assert [i.text for i in program][:4] == ["S2R R2", "IMAD R4, R2, R2", "R2UR R2", "UTMALDG.2D"]
    assert [i.sources for i in program] == [(), (2, 2), (2,), (), (6, 7, 4), ()]
    assert [i.port for i in program[3:6:2]] == [Port.NONE, Port.NONE]
    assert found.trace.address_row.tolist() == [NO_ROW] * 4 + [0, NO_ROW]
    assert found.trace.addresses[0, :2].tolist() == [0x7F1000000000, 0x7F1000000004]
    assert found.repairs.to_json()["bulk_addresses"] == {"instructions": 1, "records": 1}
    assert not found.trace.has_values


@pytest.mark.parametrize("immediates", [" 0", " 0 0"])
def test_version_5_has_one_immediate_or_two(tmp_path: Path, immediates: str) -> None:
    load = f"0010 0000000f 1 R4 LDG.E.SYS 1 R2 4 2 0x3000 128 -64 4096{immediates}"
    lines = [EXIT.replace("EXIT", "NOP") + immediates, load, EXIT + immediates]
    trace = imported(tmp_path, text({0: lines}, {"accelsim tracer version": "5"})).trace
    assert trace.addresses[0, :4].tolist() == [0x3000, 0x3080, 0x3040, 0x4040]
    lines[1] = load.replace(" 4096", "")
    with pytest.raises(AccelsimError, match="a base and 3 distances"):
        imported(tmp_path, text({0: lines}, {"accelsim tracer version": "5"}))


def test_a_product_of_a_group_has_a_flag(tmp_path: Path) -> None:
    line = "0010 ffffffff 1 R24 HGMMA.64x64x16.F32 2 UR8 R24 1 0 0 0 Val 1 00000007 1 00000001 1 00000007"
    trace = imported(tmp_path, version_6({0: [NOP, line, END]})).trace
    assert (trace.program[1].sources, trace.program[1].dests) == ((24,), (24,))


@pytest.mark.parametrize("source_lines", ["0", "1"])
def test_marks_of_spin_loops_are_no_instructions(tmp_path: Path, source_lines: str) -> None:
    line = "17 " if source_lines == "1" else ""
    marks = [f"0000 ffffffff 0 REPLAY_{word} 0 0 0 0" for word in ("START", "END")]
    found = imported(
        tmp_path, version_6({0: [marks[0], line + NOP, marks[1], line + END]}, **{"enable lineinfo": source_lines})
    )
    assert [i.opcode for i in found.trace.program] == ["NOP", "EXIT"]
    assert found.repairs.to_json()["replay_markers"]["records"] == 2


@pytest.mark.parametrize("dictionary", [b"", b"ffffffff 1 R4 IMAD 2 R2 R2 0 0 0 NoVal 0 0 EXIT 0 0"])
@pytest.mark.parametrize("piece", [1, 2, 100])
def test_a_packed_file_is_the_same_trace(tmp_path: Path, dictionary: bytes, piece: int) -> None:
    plain = imported(tmp_path, version_6({0: VALUED, 1: [], 2: STOCK}, **{"block dim": "(96,1,1)"}))
    packed = read(tmp_path / "k.tracez", tracez([VALUED, [], STOCK], piece, dictionary, **{"block dim": "(96,1,1)"}))
    assert packed.trace.program == plain.trace.program
    assert packed.trace.notes == plain.trace.notes
    for name in ("warp_start", "instruction", "execute", "live", "address_row", "addresses", "value_row", "values"):
        assert np.array_equal(getattr(packed.trace, name), getattr(plain.trace, name)), name


def test_no_part_of_a_packed_file_is_a_packed_file(tmp_path: Path) -> None:
    whole = tracez([VALUED, STOCK], dictionary=b"ffffffff 0 0 0", **{"block dim": "(64,1,1)"})
    assert read(tmp_path / "k.tracez", whole).trace.warps == 2
    for length in (*range(0, len(whole), 7), len(whole) - 1):
        with pytest.raises(AccelsimError, match=r"k\.tracez: must be a whole \.tracez file"):
            read(tmp_path / "k.tracez", whole[:length])


def test_a_damaged_packed_file_is_refused_or_read_and_never_breaks(tmp_path: Path) -> None:
    whole, rng, refused = tracez([VALUED]), random.Random(3), 0
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        try:
            read(tmp_path / "k.tracez", bytes(damaged))
        except AccelsimError:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize("prefix", [" 0 0 0 0 0 0 0", "", " 5 9", " 0 0 0 0 0 0 0 5 9"])
def test_a_file_of_the_tracer_is_grouped(tmp_path: Path, prefix: str) -> None:
    block = {"block dim": "(64,1,1)"}
    plain = imported(tmp_path, version_6({0: STOCK, 1: STOCK[1:]}, **block))
    found = read(tmp_path / "k.trace", raw({1: STOCK[1:], 0: STOCK}, prefix, **block))
    assert found.trace.program == plain.trace.program
    assert found.trace.warp_start.tolist() == [0, 6, 11]
    assert np.array_equal(found.trace.instruction, plain.trace.instruction)


@pytest.mark.parametrize("version", ["2", "3", "4", "5"])
def test_older_tracers_wrote_such_files_too(tmp_path: Path, version: str) -> None:
    immediate = " 0" if version == "5" else ""
    header = {"accelsim tracer version": version}
    found = read(
        tmp_path / "k.trace", raw({0: [f"0000 ffffffff 0 NOP 0 0{immediate}", EXIT + immediate]}, "", **header)
    )
    assert [i.opcode for i in found.trace.program] == ["NOP", "EXIT"]


def test_a_line_of_the_tracer_is_refused_by_its_number(tmp_path: Path) -> None:
    content = raw({0: [NOP, NOP.replace("0000", "00x0"), END]})
    number = next(at for at, line in enumerate(content.splitlines(), 1) if "00x0" in line)
    with pytest.raises(AccelsimError, match=f"k.trace, line {number}: PC must be hexadecimal"):
        read(tmp_path / "k.trace", content)
    with pytest.raises(AccelsimError, match="a line that the tracer wrote must start with CTA x, y, z and warp"):
        read(tmp_path / "k.trace", content.replace("0 0 0 0 0 0 0 0 0 0 0", "0 0"))


def test_a_folder_need_not_be_processed(tmp_path: Path) -> None:
    (tmp_path / "kernel-1-ctx_0x55.trace.gz").write_bytes(gzip.compress(raw({0: STOCK}).encode()))
    listing = tmp_path / "kernelslist_ctx_0x55"
    listing.write_text("MemcpyHtoD,0x10,4\nkernel-1-ctx_0x55.trace\n")
    (path,) = kernel_files(tmp_path)
    assert import_kernel(path).trace.instructions == 6
    assert kernel_files(listing) == (path,)
    (tmp_path / "kernelslist_ctx_0x66").write_text("kernel-1.trace\n")
    with pytest.raises(AccelsimError, match="name one of its 2: kernelslist_ctx_0x55, kernelslist_ctx_0x66"):
        kernel_files(tmp_path)
    (tmp_path / "kernelslist.g").write_text("kernel-1-ctx_0x55.tracez\n")
    (tmp_path / "kernel-1-ctx_0x55.tracez").write_bytes(tracez([STOCK]))
    assert [path.name for path in kernel_files(tmp_path)] == ["kernel-1-ctx_0x55.tracez"]


def test_a_damaged_gzip_file_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress(version_6({0: STOCK}).encode())
    for content in (packed[:-20], b"no gzip"):
        with pytest.raises(AccelsimError, match="must be a whole gz file"):
            read(tmp_path / "k.traceg.gz", content)


def test_a_result_has_the_value_that_its_readers_see(tmp_path: Path) -> None:
    trace = imported(tmp_path, version_6({0: VALUED})).trace
    assert trace.has_values
    assert trace.value_row.tolist() == [0, 1, NO_ROW, NO_ROW, NO_ROW, NO_ROW]
    assert trace.values.tolist() == [list(range(32)), [lane * lane for lane in range(32)]]
    assert trace.written.tolist() == [0xFFFFFFFF] * 2
    assert any("values of 2 of 2 results" in note for note in trace.notes)


def test_a_destination_tells_what_it_held_before(tmp_path: Path) -> None:
    again = "0010 ffffffff 1 R2 S2R 0 0 0 0 Val 1 0000002a"
    trace = imported(tmp_path, version_6({0: [VALUED[0], again, END]})).trace
    assert trace.values[0].tolist() == [42] * 32
    assert len(set(trace.values[1].tolist())) > 30  # the second is never read: no pattern


def test_lanes_come_from_who_wrote_them_last(tmp_path: Path) -> None:
    lanes = " ".join(f"{lane:08x}" for lane in range(100, 132))
    stream = [
        "0000 ffffffff 1 R2 S2R 0 0 0 0 NoVal",
        "0010 0000ffff 1 R2 S2R 0 0 0 0 NoVal",
        f"0020 00ffffff 1 R3 MOV 1 R2 0 0 0 Val 1 00000001 32 {lanes}",
        "0030 ff00ffff 0 BAR.SYNC 1 R2 0 0 0 Val 1 00000007",
        "0040 ffffffff 0 BAR.SYNC 1 R3 0 0 0 Val 1 00000009",
        END,
    ]
    trace = imported(tmp_path, version_6({0: stream})).trace
    first, second, third = trace.values.tolist()
    assert second == [*range(100, 124), *[7] * 8]
    assert first[16:] == second[16:] and first[:16] != second[:16]
    assert third == [*[9] * 24, *[0] * 8]
    assert any("values of 2 of 3 results" in note for note in trace.notes)  # lanes 0 to 15 of the first: never read
    assert trace.written.tolist() == [0xFFFFFFFF, 0xFFFFFFFF, 0x00FFFFFF]


def test_a_value_of_64_bits_is_two_registers(tmp_path: Path) -> None:
    stream = [
        "0000 ffffffff 1 R4 S2R 0 0 0 0 NoVal",
        "0010 ffffffff 1 R5 S2R 0 0 0 0 NoVal",
        "0020 00000001 1 UR4 SYNCS.EXCH.64 2 UR6 R4 0 0 0 Val 1 00000000 1 00000000 1 0000000700000009",
        "0030 ffffffff 0 BAR.SYNC 2 R4 R5 0 0 0 Val 1 00000009 1 00000007",
        END,
    ]
    trace = imported(tmp_path, version_6({0: stream})).trace
    assert trace.values[:, 0].tolist() == [9, 7]


def test_few_values_are_none(tmp_path: Path) -> None:
    stream = [NOP, *(f"{at:04x} ffffffff 1 R{at} S2R 0 0 0 0 NoVal" for at in range(16, 20)), *RELEASED]
    trace = imported(tmp_path, version_6({0: stream})).trace
    assert not trace.has_values and len(trace.values) == 0
    assert any("values of 1 of 6 results are in the file: too few" in note for note in trace.notes)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("0000 ffffffff 1 R2 MOV 1 R3 0 0 0", "from version 6 on a line must end in NoVal, or in Val"),
        ("0000 ffffffff 1 R2 MOV 1 R3 0 0 0 Val 1 00000001", "must go on with its number of values of R3"),
        ("0000 ffffffff 1 R2 MOV 1 R3 0 0 0 Val 2 00000001", "number of values of R2 must be 1 or 32, not '2'"),
        ("0000 ffffffff 1 R2 MOV 1 UR3 0 0 0 Val 1 00000001 1 xyz", "a value of UR3 must be 8 or 16 hexadecimal"),
        ("0000 ffffffff 1 R2 MOV 0 0 0 0 Val 1 00000001 1 00000001", "must end here, not go on with '1'"),
        ("0000 ffffffff 1 R2 MOV 0 0 0 0 0 NoVal", "must end here, not go on with '0'"),
    ],
)
def test_values_that_do_not_fit_are_refused(tmp_path: Path, line: str, problem: str) -> None:
    with pytest.raises(AccelsimError, match=problem):
        imported(tmp_path, version_6({0: [line, END]}))


def test_an_unknown_version_is_named_and_no_cure_is_promised(tmp_path: Path) -> None:
    header = {**VERSION_6, "accelsim tracer version": "7"}
    with pytest.raises(AccelsimError, match=r"accelsim tracer version must be a number from 2 to 6, not '7'$"):
        read(tmp_path / "k.traceg", text({0: [EXIT]}, header))
    with pytest.raises(AccelsimError, match=r"from 2 to 6, not '7'$"):
        read(tmp_path / "k.tracez", tracez([STOCK], **{"accelsim tracer version": "7"}))

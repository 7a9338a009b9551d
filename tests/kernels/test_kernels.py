"""The bundled kernels are complete, agree with their references, and are what the documentation says."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from warpfile.kernels import build, reference, toolkit
from warpfile.kernels.chacha.reference import key_stream
from warpfile.kernels.launch import SCALAR_TYPES, Launch, buffer, scalar, write

NAMES = reference.names()
CASES = [(name, size) for name in NAMES for size in reference.SIZES]
INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d\s+)?([A-Z][A-Z0-9.]*)", re.MULTILINE)
CALLING = {
    "bits",
    "calls",
    "coulomb",
    "divide",
    "divide_double",
    "euler_flux",
    "lu_decomposition",
    "mathlib",
    "srad_coefficient",
}
NOTABLE = {
    "bits": "BREV FLO FLO.U32 FLO.U32.SH MATCH.ANY P2R POPC R2P SHF.L.U32.HI SHF.L.W.U32.HI SHF.R.S64 VOTE.ANY",
    "bytes_vector": "LDG.E.U8.SYS LDG.E.S8.SYS LDG.E.U16.SYS LDG.E.64.SYS LDG.E.128.SYS STG.E.128.SYS PRMT",
    "calls": "BMOV.32 BMOV.32.CLEAR CALL.REL.NOINC LDL RET.REL.NODEC STL",
    "divide_double": "DADD DFMA DFMA.RM DMUL DMUL.RP DSETP.GEU.AND F2F.F64.F32 I2F.F64 MUFU.RCP64H MUFU.RSQ64H",
    "half2": "F2F.F16.F32 HADD2 HADD2.F32 HADD2.SAT HFMA2 HFMA2.SAT HMUL2",
    "mathlib": "CALL.REL.NOINC DFMA DSETP.NAN.AND FSEL MUFU.EX2 MUFU.RCP64H",
    "tensor": "HMMA.1688.F32 LDSM.16.M88.4 LDSM.16.MT88.2",
}
FILES_LIMIT = 10 * 2**20
WARPS_PER_BLOCK = 8  # a block lives whole in one scheduling domain


def listing(name: str) -> str:
    """Text of a kernel's listing."""
    return (reference.KERNELS / name / "kernel.sass").read_text()


def launch_file(name: str, size: str) -> dict:
    """A launch file as parsed."""
    return tomllib.loads((reference.KERNELS / name / f"{reference.SIZES[size][0]}.toml").read_text())


def registers(name: str) -> int:
    """General registers per thread, by the listing."""
    return int(re.search(r"SHI_REGISTERS=(\d+)", listing(name))[1])


def opcodes(name: str) -> list[str]:
    """Opcodes of all instructions, without the padding behind the last one."""
    text = re.sub(r"^(\.L_x_\d+):\n.*BRA `\(\1\)\s*;.*$", "", listing(name), flags=re.MULTILINE)
    return [opcode for opcode in INSTRUCTION.findall(text) if opcode != "NOP"]


def documented_row(name: str) -> list[str]:
    """Cells of a kernel's row in the table of the page."""
    page = (reference.KERNELS.parent / "docs" / "kernels.md").read_text()
    row = re.search(rf"^\| `{name}` \|.*$", page, re.MULTILINE)[0]
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_there_are_at_least_twenty():
    assert len(NAMES) >= 20


@pytest.mark.parametrize("name", NAMES)
def test_directory_is_complete(name):
    present = {path.name for path in (reference.KERNELS / name).iterdir()}
    assert present >= {"kernel.cu", "kernel.cubin", "kernel.sass", "launch.toml", "large.toml", "reference.py"}


@pytest.mark.parametrize("name", NAMES)
def test_listing_holds_the_function_and_no_path(name):
    text = listing(name)
    assert f".text.{name}:" in text and f".type           {name},@function" in text
    assert not re.search(r'"[^"]*\.cu"', text)


@pytest.mark.parametrize(("name", "size"), CASES)
def test_launch_file_follows_the_format(name, size):
    parsed = launch_file(name, size)
    assert parsed.keys() == {"kernel", "grid", "block", "shared_bytes", "args"}
    assert parsed["kernel"] == name
    assert len(parsed["grid"]) == len(parsed["block"]) == 3
    assert np.prod(parsed["block"]) <= 32 * WARPS_PER_BLOCK
    for arg in parsed["args"]:
        if arg["type"] == "buffer":
            assert {"name", "type", "init"} <= arg.keys() <= {"name", "type", "init", "expect", "rtol", "atol"}
        else:
            assert arg["type"] in SCALAR_TYPES and arg.keys() == {"name", "type", "value"}
    assert any("expect" in arg for arg in parsed["args"])


@pytest.mark.parametrize("name", NAMES)
def test_arguments_are_the_parameters_of_the_source(name):
    source = (reference.KERNELS / name / "kernel.cu").read_text()
    parameters = re.search(rf"{name}\(([^)]*)\)\s*\{{", source)[1].split(",")
    kinds = {"int": "i32", "unsigned": "u32", "float": "f32", "double": "f64"}
    expected = []
    for parameter in parameters:
        type_, star, label = re.fullmatch(r"\s*(?:const )?(\w+) (\*?)(\w+)\s*", parameter).groups()
        expected.append((label, "buffer" if star else kinds[type_]))
    assert [(arg["name"], arg["type"]) for arg in launch_file(name, "small")["args"]] == expected


@pytest.mark.parametrize(("name", "size"), CASES)
def test_committed_arrays_are_those_of_the_reference(name, size):
    launch = reference.launch(name, size)
    for argument, arg in zip(launch.arguments, launch_file(name, size)["args"], strict=True):
        for key in ("init", "expect"):
            array = getattr(argument, key)
            assert (array is None) == (key not in arg)
            if array is not None:
                committed = np.load(reference.KERNELS / name / arg[key])
                assert committed.dtype == array.dtype
                np.testing.assert_array_equal(committed, array)


@pytest.mark.parametrize("name", NAMES)
def test_regenerating_gives_identical_bytes(name, tmp_path):
    reference.regenerate(name, tmp_path)
    committed = {
        path.name: path.read_bytes()
        for path in (reference.KERNELS / name).glob("*")
        if path.suffix in (".npy", ".toml")
    }
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == committed


def test_folder_stays_small():
    files = [path for path in reference.KERNELS.rglob("*") if path.is_file() and path.parent.name != "__pycache__"]
    assert sum(path.stat().st_size for path in files) < FILES_LIMIT


def test_large_settings_fill_half_of_an_sm_of_32_warps():
    assert all(reference.launch(name, "large").warps >= 16 for name in NAMES)


def test_unrolled_poly_needs_many_registers_and_spills_none():
    assert registers("unrolled_poly") > 60
    assert not {"LDL", "STL"} & {opcode.split(".")[0] for opcode in opcodes("unrolled_poly")}


def test_wide_accumulate_leaves_room_for_few_warps_and_spills_nothing():
    rows, warps = 512, int(np.prod(reference.launch("wide_accumulate", "large").block)) // 32
    assert registers("wide_accumulate") > 100
    assert warps <= rows // registers("wide_accumulate") <= 4
    assert not {"LDL", "STL"} & {opcode.split(".")[0] for opcode in opcodes("wide_accumulate")}


def test_subroutines_are_called_where_the_page_says():
    assert {name for name in NAMES if any(opcode.startswith("CALL") for opcode in opcodes(name))} == CALLING


@pytest.mark.parametrize("name", NOTABLE)
def test_listing_has_the_opcodes_the_kernel_is_there_for(name):
    assert set(NOTABLE[name].split()) <= set(opcodes(name))


@pytest.mark.parametrize("name", NAMES)
def test_documented_opcodes_are_in_the_listing(name):
    present = [opcode.split(".") for opcode in opcodes(name)]
    for part in documented_row(name)[-1].split(", "):
        for opcode in re.findall(r"[A-Z][A-Z0-9]+(?:\.[A-Z0-9]+)*", part)[:1]:
            base, *modifiers = opcode.split(".")
            assert any(base == found[0] and set(modifiers) <= set(found) for found in present), opcode


@pytest.mark.parametrize("name", NAMES)
def test_documented_numbers(name):
    shapes = " ".join(_shape(launch_file(name, size)) for size in reference.SIZES)
    numbers = f"{shapes} {registers(name)} {len(opcodes(name))}"
    assert " ".join(documented_row(name)[2:6]) == numbers


def _shape(parsed: dict) -> str:
    return " of ".join("x".join(str(n) for n in parsed[key] if n > 1) or "1" for key in ("grid", "block"))


@pytest.mark.needs("nvdisasm")
@pytest.mark.parametrize("name", NAMES)
def test_listing_is_that_of_the_cubin(name):
    tool = toolkit.find_tool("nvdisasm")
    assert build.listing(str(tool), reference.KERNELS / name) == listing(name)


def test_encodings_are_listed_where_the_text_hides_bits():
    assert [name for name in NAMES if re.search(r"/\* 0x[0-9a-f]{16} \*/", listing(name))] == ["mathlib"]
    assert [name for name in NAMES if build.HIDDEN.search(listing(name))] == ["mathlib"]


def test_chacha_reference_gives_the_vector_of_the_rfc():
    key = np.arange(32, dtype=np.uint8).view("<u4")
    nonce = np.array([0x09000000, 0x4A000000, 0], np.uint32)
    words = key_stream(key, nonce, np.array([1], np.uint32))[0]
    assert [f"{word:08x}" for word in words[:4]] == ["e4e7f110", "15593bd1", "1fdd0f50", "c47120a3"]


def test_missing_tool_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(toolkit.tools, "nvidia_folders", lambda: iter(()))
    monkeypatch.setenv("PATH", "")
    assert build.main(["saxpy"]) == 2
    assert capsys.readouterr().err == f"kernels.build: {toolkit.tools.missing('nvcc')}\n"


@pytest.mark.parametrize("command", [build.main, reference.main])
def test_unknown_kernel_is_one_line(command, capsys):
    assert command(["nonesuch"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "'nonesuch'" in error


def test_wrong_argument_is_refused():
    with pytest.raises(ValueError, match="type of n must be one of"):
        scalar("n", "i16", 1)
    with pytest.raises(ValueError, match=r"expect of x must be int32\(2,\), not float32\(2,\)"):
        buffer("x", np.zeros(2, np.int32), np.zeros(2, np.float32))


def test_written_launch_reads_back(tmp_path):
    launch = Launch(
        grid=(2, 1, 1),
        block=(32, 1, 1),
        shared_bytes=64,
        arguments=(scalar("n", "f32", 0.5), buffer("x", np.arange(3, dtype=np.int32), rtol=0.25)),
    )
    write(launch, Path(tmp_path), "demo", "launch")
    assert tomllib.loads((tmp_path / "launch.toml").read_text()) == {
        "kernel": "demo",
        "grid": [2, 1, 1],
        "block": [32, 1, 1],
        "shared_bytes": 64,
        "args": [
            {"name": "n", "type": "f32", "value": 0.5},
            {"name": "x", "type": "buffer", "init": "x.npy", "rtol": 0.25},
        ],
    }

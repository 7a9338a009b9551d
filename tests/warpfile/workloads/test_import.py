"""``warpfile import``: kernel directories from cubins and CUDA files, and every way in which that ends early."""

from __future__ import annotations

import json
import os
import re
import stat
import struct
import sys
import tomllib
from pathlib import Path
from shutil import copy

import numpy as np
import pytest

from tests.compiler.corpus.build import ARCHIVE as CORPUS
from tests.warpfile.cli.test_errors import refused
from tests.warpfile.conftest import Invoke
from warpfile.compiler import parse
from warpfile.emulator.launch import load_kernel
from warpfile.kernels import toolkit
from warpfile.kernels.packed import unpacked
from warpfile.output.display import silent
from warpfile.workloads import inputs
from warpfile.workloads.cuda import import_kernel
from warpfile.workloads.signature import parameter_types, plain_name, signature

KERNELS = inputs.bundled_kernels()
SOURCE = """__constant__ float table[4];
__global__ void scale(float *y, int n, double by, char *unused) {
    __shared__ float s[96];
    s[threadIdx.x] = y[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < n) y[threadIdx.x] = s[n - 1 - threadIdx.x] * (float)by + table[threadIdx.x & 3];
}
"""
CUBIN = KERNELS["saxpy"] / "kernel.cubin"
#: What stands for nvdisasm and nvcc, as Python; argv as the tools have it.
PRINTS = "print(open({text!r}).read())"
COPIES = "import shutil; shutil.copy({cubin!r}, sys.argv[sys.argv.index('-o') + 1])"
FAILS = "sys.stderr.write('a.cu(1): warning: w\\na.cu(7): error: identifier \"x\" is undefined\\nmore\\n'); sys.exit(1)"


def tool(folder: Path, name: str, body: str) -> None:
    """A program of that name; ``folder`` is on PATH."""
    path = folder / name
    path.write_text(f"#!{sys.executable}\nimport sys\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All that is on PATH and anywhere else where tools are looked for: nothing to begin with."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(toolkit.tools, "nvidia_folders", lambda: iter(()))
    return folder


@pytest.fixture
def cubin(tmp_path: Path) -> Path:
    path = tmp_path / "some.cubin"
    copy(KERNELS["saxpy"] / "kernel.cubin", path)
    return path


def shows(tools: Path, kernel: str, *others: tuple[str, str]) -> None:
    """Let nvdisasm print a bundled listing with changes."""
    text = (KERNELS[kernel] / "kernel.sass").read_text()
    for old, new in others:
        assert old in text
        text = text.replace(old, new)
    path = tools.parent / "shown.sass"
    path.write_text(text)
    tool(tools, "nvdisasm", PRINTS.format(text=str(path)))


def filled(folder: Path) -> None:
    """Give a skeleton the least that it lacks."""
    path = folder / "launch.toml"
    path.write_text(re.sub("^# (grid|block|value) =", r"\1 =", path.read_text(), flags=re.MULTILINE))
    for argument in tomllib.loads(path.read_text()).get("args", []):
        if "init" in argument:
            np.save(folder / argument["init"], np.zeros(64, np.float32))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_filled_in_skeleton_is_a_launch(invoke: Invoke, tools: Path, cubin: Path, kernel: str) -> None:
    """Types, sizes and alignments put every parameter where the listing has it, or reading the launch is refused."""
    shows(tools, kernel)
    assert invoke("import", cubin, "-o", "made").exit_code == 0
    filled(Path("made"))
    made, bundled = load_kernel(Path("made")), load_kernel(KERNELS[kernel])
    assert [one.size for one in made.arguments] == [one.size for one in bundled.arguments]
    assert made.shared_bytes == bundled.shared_bytes - bundled.dynamic_shared
    assert made.function.name == bundled.function.name


@pytest.mark.needs("nvdisasm")
@pytest.mark.parametrize("kernel", ["bytecode", "matmul_tiled"])
def test_a_cubin_becomes_the_kernel_that_it_is_of(kernel: str) -> None:
    found = import_kernel(KERNELS[kernel] / "kernel.cubin", None, silent).function
    bundled = load_kernel(KERNELS[kernel]).function
    assert [(one.text, one.control) for one in found.instructions] == [
        (one.text, one.control) for one in bundled.instructions
    ]
    facts = ("parameters", "constants", "static_shared", "registers", "routines")
    assert [getattr(found, name) for name in facts] == [getattr(bundled, name) for name in facts]


@pytest.mark.needs("nvcc", "nvdisasm", "c++filt")
def test_a_cuda_file_becomes_a_kernel_that_computes(invoke: Invoke, folder: Path) -> None:
    Path("scale.cu").write_text(SOURCE)
    said = invoke("import", "scale.cu").stdout
    assert said.startswith("scale(float*, int, double, char*): ") and "warpfile trace scale" in said
    filled(folder / "scale")
    path = folder / "scale" / "launch.toml"
    rows = (("[1, 1, 1]", "[2, 1, 1]"), ("[32, 1, 1]", "[64, 1, 1]"), ("value = 0\n", "value = 48\n"))
    for old, new in rows:
        path.write_text(path.read_text().replace(old, new, 1))
    path.write_text(re.sub("value = 0$", "value = 2.5", path.read_text(), flags=re.MULTILINE))
    np.save(folder / "scale" / "p0.npy", np.arange(64, dtype=np.float32))
    path.write_text(path.read_text().replace("# [[con", "[[con").replace("# name", "name").replace("# init", "init"))
    np.save(folder / "scale" / "constant.npy", np.array([1, 2, 3, 4], np.float32))
    # Two CTAs after each other: turned round twice.
    once = np.arange(48.0)[::-1] * 2.5 + np.tile([1, 2, 3, 4], 12)
    wanted = np.concatenate([once[::-1] * 2.5 + np.tile([1, 2, 3, 4], 12), np.arange(48.0, 64)])
    result = invoke("trace", "scale", "--save-outputs", "out")
    assert result.exit_code == 0 and "nothing was checked" in result.stdout
    assert np.array_equal(np.load("out/p0.npy"), wanted.astype(np.float32))


def test_a_cuda_file_goes_through_both_tools(invoke: Invoke, tools: Path, folder: Path) -> None:
    shows(tools, "saxpy")
    tool(tools, "nvcc", COPIES.format(cubin=str(KERNELS["saxpy"] / "kernel.cubin")))
    Path("mine.cu").write_text("// compiled by the test")
    result = invoke("import", "mine.cu")
    # The kernel directory has the name of a bundled kernel, which would be taken without the dot.
    assert result.stdout.endswith("then: warpfile trace ./saxpy\n")
    assert names(folder / "saxpy") == ["kernel.sass", "launch.toml"]
    refused(
        invoke("trace", "./saxpy"), "saxpy/launch.toml", "must be given: grid, block, value of argument 'p0', value of"
    )


def test_constants_and_parameters_are_in_the_skeleton(invoke: Invoke, tools: Path, cubin: Path) -> None:
    shows(tools, "saxpy")
    invoke("import", cubin, "-o", "made")
    text = Path("made/launch.toml").read_text()
    assert "Types are guessed" in text and text.count("[[args]]") == 4
    assert [one["type"] for one in tomllib.loads(text)["args"]] == ["i32", "i32", "buffer", "buffer"]
    shows(tools, "bytecode")
    invoke("import", cubin, "-o", "other")
    assert "# [[constants]]" in Path("other/launch.toml").read_text()


@pytest.mark.needs("nvcc", "nvdisasm")
def test_a_block_that_the_code_tells_is_in_the_skeleton(invoke: Invoke, folder: Path) -> None:
    Path("k.cu").write_text(
        'extern "C" __global__ void __launch_bounds__(64) bound(float *x) { x[threadIdx.x] = 1; }\n'
        'extern "C" __global__ void __block_size__((8, 4, 1)) sized(float *x) { x[threadIdx.x] = 1; }\n'
    )
    for kernel in ("bound", "sized"):
        invoke("import", "k.cu", "--arch", "sm_90", "--kernel", kernel, "-o", kernel)
    assert "# block = [32, 1, 1]  # threads in x, y, z, at most 64 in all\n" in Path("bound/launch.toml").read_text()
    assert "\nblock = [8, 4, 1]  # threads in x, y, z, as the code requires\n" in Path("sized/launch.toml").read_text()


TRITON = {"triton_version": "3.9.0", "num_warps": 4, "warp_size": 32, "num_ctas": 1, "shared": 16}


def test_what_triton_says_beside_a_cubin_is_in_the_skeleton(invoke: Invoke, tools: Path, cubin: Path) -> None:
    shows(tools, "saxpy")  # its last two parameters are pointers
    scratch = {"global_scratch_size": 256, "profile_scratch_size": 0}
    cubin.with_suffix(".json").write_text(json.dumps(TRITON | scratch))
    assert invoke("import", cubin, "-o", "made").exit_code == 0
    text = Path("made/launch.toml").read_text()
    table = tomllib.loads(text)
    assert (table["block"], table["shared_bytes"]) == ([128, 1, 1], 16)
    assert text.count("as some.json of Triton 3.9.0 says") == 2
    assert table["args"][2:] == [
        {"name": "p2", "type": "buffer", "init": "p2.npy"},
        {"name": "p3", "type": "u64", "value": 0},
    ]
    assert 'init = "p2.npy"  # zeros, 256 bytes for each CTA of the grid' in text


def test_older_releases_of_triton_add_no_pointers(invoke: Invoke, tools: Path, cubin: Path) -> None:
    shows(tools, "saxpy")
    cubin.with_suffix(".json").write_text(json.dumps(TRITON))
    assert invoke("import", cubin, "-o", "made").exit_code == 0
    assert [one["type"] for one in tomllib.loads(Path("made/launch.toml").read_text())["args"]][2:] == ["buffer"] * 2


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"block": [8, 1, 1]}', b"\xff\xfe{}\x80", b" " * (1 << 20) + b"{}"])
def test_a_file_that_is_not_tritons_is_left_alone(invoke: Invoke, tools: Path, cubin: Path, data: bytes) -> None:
    shows(tools, "saxpy")
    cubin.with_suffix(".json").write_bytes(data)
    assert invoke("import", cubin, "-o", "made").exit_code == 0
    assert "Triton" not in Path("made/launch.toml").read_text()


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"num_ctas": 2}, ("num_ctas must be 1, not 2",)),
        ({"launch_cooperative_grid": True}, ("must not need a cooperative launch",)),
        ({"shared": None}, ("shared must be a number from 0, not null",)),
        ({"num_warps": -1}, ("num_warps must be a number from 0, not -1",)),
    ],
)
def test_what_triton_says_is_checked(
    invoke: Invoke, tools: Path, cubin: Path, facts: dict[str, object], words: tuple[str, ...]
) -> None:
    shows(tools, "collatz")
    cubin.with_suffix(".json").write_text(json.dumps(TRITON | facts))
    refused(invoke("import", cubin, "-o", "made"), "some.json", *words)
    assert not Path("made").exists()


def test_types_are_those_of_the_name(invoke: Invoke, tools: Path, cubin: Path) -> None:
    tool(tools, "c++filt", "print({'_Z5saxpyifPKfPf': 'saxpy(int, float, float const*, float*)'}[sys.argv[1]])")
    shows(tools, "saxpy", ("saxpy", "_Z5saxpyifPKfPf"))
    signature.cache_clear()
    try:
        said = invoke("import", cubin, "--kernel", "saxpy", "-o", "made").stdout
    finally:
        signature.cache_clear()
    assert said.startswith("saxpy(int, float, float const*, float*): 16 instructions")
    table = tomllib.loads(Path("made/launch.toml").read_text())
    assert [one["type"] for one in table["args"]] == ["i32", "f32", "buffer", "buffer"]
    assert (table["kernel"], "guessed" in Path("made/launch.toml").read_text()) == ("_Z5saxpyifPKfPf", False)


@pytest.mark.needs("c++filt")
@pytest.mark.parametrize(
    ("symbol", "name", "types"),
    [
        ("_Z5saxpyifPKfPf", "saxpy", ("int", "float", "float const*", "float*")),
        ("_Z5otherIfEvPT_4PairhPsPS1_", "other", ("float*", "Pair", "unsigned char", "short*", "float**")),
        ("_ZN2ns4kernEv", "kern", ()),
        ("_Z1gPFvifEi", "g", ("void (*)(int, float)", "int")),
        ("plain", "plain", None),
    ],
)
def test_a_symbol_tells_name_and_types(symbol: str, name: str, types: tuple[str, ...] | None) -> None:
    assert (plain_name(symbol), parameter_types(symbol)) == (name, types)


def info(places: list[tuple[int, int]]) -> str:
    """Section of a listing that has parameters at these offsets with these sizes."""
    lines = ['\t.section\t.nv.info.k,"",@"SHT_CUDA_INFO"']
    for ordinal, (offset, size) in enumerate(places):
        lines += ["\t//----- nvinfo : EIATTR_KPARAM_INFO", "\t.byte 0x04, 0x17", "\t.short 0x000c", "\t.word 0x0"]
        lines += [f"\t.short {ordinal:#06x}", f"\t.short {offset:#06x}", f"\t.word {size << 18:#x}"]
    return "\n".join(lines) + "\n"


def takes(tools: Path, places: list[tuple[int, int]]) -> None:
    """Let nvdisasm print a kernel that only ends, with these parameters."""
    code = '\t.section\t.text.k,"ax",@progbits\n        .other k,@"STO_CUDA_ENTRY STV_DEFAULT"\nk:\n'
    (tools.parent / "k.sass").write_text(f"{info(places)}{code}        /*0000*/   EXIT ;\n")
    tool(tools, "nvdisasm", PRINTS.format(text=str(tools.parent / "k.sass")))


@pytest.mark.parametrize("places", [[(0, 8)], [(0, 8), (8, 4)], []])
def test_pointers_of_triton_must_be_there(
    invoke: Invoke, tools: Path, cubin: Path, places: list[tuple[int, int]]
) -> None:
    takes(tools, places)
    scratch = dict.fromkeys(("global_scratch_size", "profile_scratch_size"), 0)
    cubin.with_suffix(".json").write_text(json.dumps(TRITON | scratch))
    words = ("parameters of k must end with 2 pointers to scratch memory, which some.json names",)
    refused(invoke("import", cubin, "-o", "made"), *words)
    assert not Path("made").exists()


@pytest.mark.parametrize(
    "places",
    [
        [(0, 4), (16, 16)],
        [(0, 12), (16, 32), (48, 1)],
        [(0, 1), (1, 3), (4, 2), (8, 24)],
        [(0, 8), (8, 6), (16, 4)],
        [],
    ],
)
def test_structures_are_where_the_listing_has_them(
    invoke: Invoke, tools: Path, cubin: Path, places: list[tuple[int, int]]
) -> None:
    takes(tools, places)
    assert invoke("import", cubin, "-o", "made").exit_code == 0
    filled(Path("made"))
    launch = load_kernel(Path("made"))
    assert [(one.offset, one.size) for one in launch.function.parameters or ()] == places


def header(machine: int, version: int, flags: int) -> bytes:
    """The start of an ELF file."""
    data = bytearray(64)
    data[:9] = b"\x7fELF\x02\x01\x01\x41" + bytes([version])
    struct.pack_into("<H", data, 0x12, machine)
    struct.pack_into("<I", data, 0x30, flags)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"__global__", ("must be a cubin", "ELF")),
        (b"", ("must be a cubin",)),
        (b"\x7fELF\x02\x01\x01", ("must be a cubin",)),
        (header(62, 0, 0), ("must be a cubin, an ELF file for a GPU",)),
        (header(190, 8, 0x6003D04), ("sm_61", "what is executed is that of sm_75")),
        (header(190, 7, 0x3D053D), ("sm_61", "what is executed is that of sm_75")),
    ],
)
def test_what_is_no_cubin_for_the_emulator_is_refused(
    invoke: Invoke, tools: Path, folder: Path, data: bytes, words: tuple[str, ...]
) -> None:
    shows(tools, "saxpy")
    Path("bad.cubin").write_bytes(data)
    refused(invoke("import", "bad.cubin", "-o", "made"), "bad.cubin", *words)
    assert not (folder / "made").exists()


def test_tools_that_are_missing_are_named_with_how_to_get_them(invoke: Invoke, tools: Path, cubin: Path) -> None:
    refused(invoke("import", cubin), "nvdisasm is missing", "pip install 'warpfile[cuda]'")
    Path("mine.cu").write_text("")
    refused(invoke("import", "mine.cu"), "nvcc is missing", "pip install 'warpfile[cuda]'")


def test_a_cuda_file_is_compiled_for_the_architecture_asked_for(invoke: Invoke, tools: Path, folder: Path) -> None:
    shows(tools, "saxpy")
    tool(tools, "nvcc", f"open('said', 'w').write(' '.join(sys.argv)); {COPIES.format(cubin=str(CUBIN))}")
    Path("a.cu").write_text("")
    for options, wanted in (((), "sm_75"), (("--arch", "sm_90"), "sm_90")):
        assert invoke("import", "a.cu", "-o", wanted, *options).exit_code == 0
        assert f"-arch={wanted} -O3" in Path("said").read_text()
    refused(invoke("import", CUBIN, "--arch", "sm_90"), "--arch must be sm_75, which", "is for, not sm_90")


#: What stands for cuobjdump: lists two cubins and copies one.
LISTS = """if sys.argv[1] == '-lelf': print('ELF file    1: f.1.sm_75.cubin\\nELF file    2: f.2.sm_90a.cubin')
elif sys.argv[1] == '-xelf': import shutil; shutil.copy({cubin!r}, sys.argv[2]); open({said!r}, 'w').write(sys.argv[2])
elif sys.argv[1] == '-lptx': print('PTX file    1: f.1.sm_90.ptx')"""


def test_a_fat_binary_is_asked_for_the_code_of_one_gpu(invoke: Invoke, tools: Path, folder: Path) -> None:
    shows(tools, "saxpy")
    tool(tools, "cuobjdump", LISTS.format(cubin=str(CUBIN), said=str(folder / "said")))
    Path("f.o").write_bytes(header(62, 0, 0))
    refused(invoke("import", "f.o"), "--arch must be one of sm_75, sm_90, which f.o has")
    refused(invoke("import", "f.o", "--arch", "sm_80"), "--arch must be one of sm_75, sm_90, which f.o has, not sm_80")
    assert invoke("import", "f.o", "--arch", "sm_75", "-o", "made").exit_code == 0
    assert (Path("said").read_text(), names(Path("made"))) == ("f.1.sm_75.cubin", ["kernel.sass", "launch.toml"])
    tool(tools, "cuobjdump", LISTS.format(cubin="", said="").replace("-lelf", "none"))
    refused(invoke("import", "f.o"), "f.o must hold machine code, not only PTX for sm_90")
    tool(tools, "cuobjdump", FAILS)
    refused(invoke("import", "f.o"), "f.o must be a cubin, or a file with code for GPUs that cuobjdump reads")
    (tools / "cuobjdump").unlink()
    refused(invoke("import", "f.o"), "cuobjdump is missing", "pip install 'warpfile[cuda]'")


def test_ptx_is_assembled_for_the_gpu_that_it_names(invoke: Invoke, tools: Path, folder: Path) -> None:
    shows(tools, "saxpy")
    tool(tools, "ptxas", f"open('said', 'w').write(' '.join(sys.argv)); {COPIES.format(cubin=str(CUBIN))}")
    Path("a.ptx").write_text(".version 9.0\n.target sm_80\n")
    for options, wanted in (((), "sm_80"), (("--arch", "sm_90"), "sm_90")):
        assert invoke("import", "a.ptx", "-o", wanted, *options).exit_code == 0
        assert f"-arch={wanted} -O3" in Path("said").read_text()
    Path("b.ptx").write_text("nothing")
    refused(invoke("import", "b.ptx"), "b.ptx must be PTX, which names a .target")


@pytest.mark.needs("nvcc", "nvdisasm", "cuobjdump")
def test_every_container_has_the_code_that_the_compiler_made(invoke: Invoke, folder: Path) -> None:
    Path("scale.cu").write_text(SOURCE)
    nvcc, gpus = str(toolkit.find_tool("nvcc")), [f"-gencode=arch=compute_{n},code=sm_{n}" for n in (80, 90)]
    for option, output in (("-fatbin", "f.fatbin"), ("-c", "f of mine.o"), ("-shared", "f.so")):
        toolkit.run_tool([nvcc, "-O3", *gpus, option, "-Xcompiler", "-fPIC", "-o", output, "scale.cu"])
    assert invoke("import", "scale.cu", "--arch", "sm_90", "-o", "direct").exit_code == 0
    for name in ("f.fatbin", "f of mine.o", "f.so"):
        assert invoke("import", name, "--arch", "sm_90", "-o", f"from-{name}").exit_code == 0
        found, direct = (parse(Path(one, "kernel.sass").read_text(), one) for one in (f"from-{name}", "direct"))
        (code,), (wanted,) = found.functions.values(), direct.functions.values()
        assert [(one.text, one.control) for one in code.instructions] == [
            (one.text, one.control) for one in wanted.instructions
        ]


@pytest.mark.parametrize("place", ["CUDA_HOME", "CUDA_PATH", "installed", "wheels"])
def test_tools_are_found_off_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    home = {"installed": tmp_path / "cuda-13.0", "wheels": tmp_path / "nvidia" / "cu13"}.get(place, tmp_path / "home")
    (home / "bin").mkdir(parents=True)
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(toolkit.tools, "INSTALLED", tmp_path if place == "installed" else tmp_path / "nowhere")
    monkeypatch.setattr(toolkit.tools.sysconfig, "get_paths", lambda: {"purelib": str(tmp_path)})
    if place.startswith("CUDA"):
        monkeypatch.setenv(place, str(home))
    with pytest.raises(toolkit.ToolError, match="nvcc is missing"):
        toolkit.find_tool("nvcc")
    tool(home / "bin", "nvcc", "")
    assert toolkit.find_tool("nvcc") == home / "bin" / "nvcc"


def test_a_tool_that_fails_is_one_line_with_its_first_error(invoke: Invoke, tools: Path, folder: Path) -> None:
    tool(tools, "nvcc", FAILS)
    Path("a.cu").write_text("")
    refused(invoke("import", "a.cu"), 'nvcc refuses a.cu: a.cu(7): error: identifier "x" is undefined')
    tool(tools, "nvdisasm", "sys.exit(3)")
    copy(KERNELS["saxpy"] / "kernel.cubin", "b.cubin")
    refused(invoke("import", "b.cubin"), "nvdisasm refuses b.cubin: no message, exit status 3")
    assert names(folder) == ["a.cu", "b.cubin", "bin"]


def test_the_kernel_must_be_one_that_is_there(invoke: Invoke, tools: Path, cubin: Path, folder: Path) -> None:
    shows(tools, "saxpy")
    refused(invoke("import", cubin, "--kernel", "daxpy"), "--kernel must be one of saxpy", "not 'daxpy'")
    entry = '        .other          saxpy,@"STO_CUDA_ENTRY STV_DEFAULT"\n'
    shows(tools, "saxpy", (entry, entry + entry.replace("saxpy", "_Z5otherPf")))
    refused(invoke("import", cubin), "--kernel must be one of", "saxpy")
    shows(tools, "saxpy", (entry, ""))
    refused(invoke("import", cubin), "must hold a kernel, a __global__ function")
    assert names(folder) == ["bin", "shown.sass", "some.cubin"]


def test_nothing_is_written_over_or_half(invoke: Invoke, tools: Path, cubin: Path, folder: Path) -> None:
    shows(tools, "saxpy")
    Path("made").mkdir()
    assert invoke("import", cubin, "-o", "made").exit_code == 0
    before = names(folder / "made")
    refused(invoke("import", cubin, "-o", "made"), "made must be a new or an empty folder")
    refused(invoke("import", cubin, "-o", cubin), "must be a new or an empty folder")
    assert (names(folder / "made"), names(folder)) == (before, ["bin", "made", "shown.sass", "some.cubin"])


@pytest.mark.parametrize(
    ("name", "words"), [("k.ptx", "No such file"), ("no.cubin", "No such file"), (".", "must be a regular file")]
)
def test_the_file_must_be_one(invoke: Invoke, name: str, words: str) -> None:
    refused(invoke("import", name), words)


def test_a_pipe_is_refused_before_it_is_opened(invoke: Invoke, folder: Path) -> None:
    os.mkfifo(folder / "p.cu")
    refused(invoke("import", "p.cu"), "must be a regular file, not a pipe")


@pytest.mark.needs("nvdisasm")
@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("grid_sync", "warning: the kernel calls grid.sync(), and cooperative launches are not executed\n"),
        ("cluster", "warning: the kernel uses clusters of several CTAs, which is not executed\n"),
        ("groups", ""),
    ],
)
def test_what_no_launch_can_execute_is_said_at_once(invoke: Invoke, folder: Path, source: str, words: str) -> None:
    (folder / "mine.cubin").write_bytes(unpacked(CORPUS)[f"sm_90/{source}-O3.cubin"])
    result = invoke("import", "mine.cubin", "-o", "mine")
    assert (result.exit_code, result.stderr) == (0, "")
    assert words in result.stdout
    assert ("not executed" in result.stdout) == bool(words)


def test_a_listing_is_not_imported(invoke: Invoke, tools: Path) -> None:
    listing = tools.parent / "shown.sass"
    listing.write_text("        /*0000*/   EXIT ;\n")
    result = invoke("import", listing)
    assert result.exit_code == 2 and f"{listing} is a listing already: name it kernel.sass" in result.stderr

"""Every rule of a kernel directory, one by one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.emulator import compiled
from tests.emulator.harness import listing
from warpfile.compiler import parse
from warpfile.compiler.architectures import generation
from warpfile.emulator.errors import ExecutionError, LaunchError
from warpfile.emulator.launch import load_kernel
from warpfile.emulator.memory import LOCAL_STACK_TOP
from warpfile.emulator.run import execute
from warpfile.output.display import silent
from warpfile.workloads.cuda import compiled as compiled_listing

GOOD = """kernel = "k"
grid = [2, 1, 1]
block = [40, 1, 1]
shared_bytes = 64
[[args]]
name = "n"
type = "i32"
value = 3
[[args]]
name = "y"
type = "buffer"
init = "y.npy"
expect = "e.npy"
"""
CODE = """S2R R0, SR_TID.X
    S2R R1, SR_CTAID.X
    IMAD R0, R1, c[0x0][0x0], R0
    MOV R4, 0x4
    IMAD.WIDE R2, R0, R4, c[0x0][0x168]
    IADD3 R5, R0, c[0x0][0x160], RZ
    STG.E.SYS [R2], R5"""


class Bomb:
    """Would run code if anything unpickled it."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return exec, ("raise AssertionError('an array file ran code')",)


@pytest.fixture
def kernel(tmp_path: Path) -> Callable[..., Path]:
    """Write a kernel directory; the launch file may be changed by replacements."""

    def write(*changes: tuple[str, str], code: str = CODE) -> Path:
        text = GOOD
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "kernel.sass").write_text(listing(code))
        (tmp_path / "launch.toml").write_text(text)
        np.save(tmp_path / "y.npy", np.zeros(80, dtype=np.int32))
        np.save(tmp_path / "e.npy", np.arange(80, dtype=np.int32) + 3)
        np.save(tmp_path / "big.npy", np.zeros(81, dtype=np.int32))
        np.save(tmp_path / "text.npy", np.array(["a"]))
        np.save(tmp_path / "objects.npy", np.array([Bomb()]), allow_pickle=True)
        header = b"{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000000000,), }"
        (tmp_path / "huge.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
        return tmp_path

    return write


def test_a_good_launch_runs(kernel: Callable[..., Path]) -> None:
    calls = []
    result = execute(load_kernel(kernel()), progress=lambda done, total: calls.append((done, total)))
    assert [(e.name, e.ok, e.worst_error) for e in result.expectations] == [("y", True, 0.0)]
    assert calls == [(1, 2), (2, 2)]
    trace = result.trace
    assert (trace.warps, trace.instructions, trace.shared_bytes) == (4, 32, 64)
    assert trace.live[trace.warp_start[1]] == 0xFF
    assert trace.warp_cta.tolist() == [0, 0, 1, 1]


WRONG = [
    (('kernel = "k"', 'kernel = "q"'), "kernel must be a function of kernel.sass (k), not 'q'"),
    (('kernel = "k"', "kernel = 3"), "kernel must be a string, not 3"),
    (('kernel = "k"\n', ""), "launch.toml: must be given: kernel"),
    (("shared_bytes = 64", "shared = 64"), "key must be one of"),
    (("shared_bytes = 64", "shared_bytes = -1"), "shared_bytes must be a number of bytes, not -1"),
    (("shared_bytes = 64", "shared_bytes = 70000"), "shared memory must be at most 65536 bytes"),
    (("[2, 1, 1]", "[2, 1]"), "grid must be three integers [x, y, z], not [2, 1]"),
    (("[2, 1, 1]", "[0, 1, 1]"), "grid.x must be an integer from 1 to 2147483647, not 0"),
    (("[2, 1, 1]", "[1, 70000, 1]"), "grid.y must be an integer from 1 to 65535, not 70000"),
    (("[2, 1, 1]", "[1.0, 1, 1]"), "grid.x must be an integer"),
    (("[40, 1, 1]", "[1, 1, 65]"), "block.z must be an integer from 1 to 64, not 65"),
    (("[40, 1, 1]", "[64, 32, 1]"), "block must have at most 1024 threads, not 2048"),
    (
        ('type = "i32"', 'type = "int"'),
        "argument 'n': type must be one of i32, u32, f32, i64, u64, f64, i8, u8, i16, u16, buffer, pointer, struct",
    ),
    (("value = 3", "value = 3.5"), "argument 'n': value must be an integer for type i32, not 3.5"),
    (("value = 3", "value = 3000000000"), "argument 'n': value must fit type i32, 3000000000 does not"),
    (("value = 3", 'value = "3"'), "argument 'n': value must be a number, not '3'"),
    (("value = 3", "value = true"), "argument 'n': value must be a number, not True"),
    (("value = 3", "init = 3"), "argument 'n': key of a i32 must be one of name, type, value, not 'init'"),
    (('name = "y"', 'name = "n"'), "names of args must differ, 'n' is given twice"),
    (('name = "y"', "name = 3"), "name of argument 2 must be a string, not 3"),
    (('init = "y.npy"', 'init = "z.npy"'), "launch.toml: must be given: file 'z.npy'"),
    (('init = "y.npy"', 'init = "launch.toml"'), "argument 'y': init must be a .npy file, 'launch.toml' is not"),
    (('init = "y.npy"', 'init = "text.npy"'), "argument 'y': init must be a non-empty array of numbers"),
    (
        ('init = "y.npy"', 'init = "/y.npy"'),
        "argument 'y': init must be a file in the kernel's directory, not '/y.npy'",
    ),
    (('init = "y.npy"', 'init = "../y.npy"'), "argument 'y': init must be a file in the kernel's directory, not"),
    (('expect = "e.npy"', 'expect = "a/../e.npy"'), "argument 'y': expect must be a file in the kernel's directory"),
    (
        ('init = "y.npy"', 'init = "objects.npy"'),
        "argument 'y': init must be a .npy file, 'objects.npy' is not (Array can",
    ),
    (('init = "y.npy"', 'init = "huge.npy"'), "argument 'y': init must be a .npy file, 'huge.npy' is not"),
    (('init = "y.npy"', 'init = "."'), "argument 'y': init must be a .npy file, '.' is not ("),
    (('init = "y.npy"\n', ""), "launch.toml: must be given: init of argument 'y'"),
    (("value = 3\n", ""), "launch.toml: must be given: value of argument 'n'"),
    (('type = "i32"\n', ""), "launch.toml: must be given: type of argument 'n'"),
    (('expect = "e.npy"', 'expect = "big.npy"'), "expect must have at most the 320 bytes of init, not 324"),
    (('expect = "e.npy"', 'expect = "e.npy"\nrtol = -1'), "rtol must be a number of at least 0, not -1"),
    (('expect = "e.npy"', "rtol = 0.1"), "expect must be given where rtol or atol is"),
    (("[[args]]", "[[args"), "launch.toml: must be TOML"),
]


@pytest.mark.parametrize(("change", "text"), WRONG, ids=[text for _, text in WRONG])
def test_wrong_launch_files_say_what_would_be_right(
    kernel: Callable[..., Path], change: tuple[str, str], text: str
) -> None:
    with pytest.raises(LaunchError, match=re.escape(text)) as error:
        load_kernel(kernel(change))
    assert "launch.toml" in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_files(kernel: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match=r"large\.toml is missing: docs/kernels\.md"):
        load_kernel(kernel(), "large")
    (tmp_path / "kernel.sass").unlink()
    with pytest.raises(LaunchError, match=r"kernel\.sass: listing must exist"):
        load_kernel(tmp_path)
    with pytest.raises(LaunchError, match="must be a directory"):
        load_kernel(tmp_path / "nothing")


def test_malformed_listing_names_its_line(kernel: Callable[..., Path], tmp_path: Path) -> None:
    directory = kernel()
    (tmp_path / "kernel.sass").write_text(listing("MOV R1, R400"))
    with pytest.raises(LaunchError, match=r"kernel\.sass, line 3: register number must be below 255"):
        load_kernel(directory)


def test_a_failed_expectation_is_told_with_its_error(kernel: Callable[..., Path]) -> None:
    result = execute(load_kernel(kernel(("value = 3", "value = 5"))))
    assert [(e.ok, e.worst_error) for e in result.expectations] == [(False, 2.0)]
    assert result.expectations[0].report == "y[0] must be 3, not 5; 80 of 80 values differ, worst error 2"
    loose = execute(load_kernel(kernel(("value = 3", "value = 5"), ('"e.npy"', '"e.npy"\natol = 2'))))
    assert loose.expectations[0].ok


def test_access_behind_a_buffer_names_kernel_and_lane(kernel: Callable[..., Path]) -> None:
    with pytest.raises(
        ExecutionError, match=r"k, CTA 1, warp 1: instruction 0x0060 .*lane 7: address 0x\w+ is outside"
    ):
        execute(load_kernel(kernel(("[40, 1, 1]", "[41, 1, 1]"))))


def test_a_launch_of_more_warps_than_instructions_is_refused_at_once(kernel: Callable[..., Path]) -> None:
    launch = load_kernel(kernel(("[2, 1, 1]", "[2147483647, 65535, 65535]")))
    with pytest.raises(
        ExecutionError,
        match=r"launch.toml: grid must have at most as many warps as the instruction limit, 20000000, not \d+$",
    ):
        execute(launch)


def test_runaway_kernel(kernel: Callable[..., Path]) -> None:
    with pytest.raises(ExecutionError, match="instruction limit exceeded at 0x0000"):
        execute(load_kernel(kernel(code="here:\nBRA `(here)")), instruction_limit=500)


def test_barrier_orders_the_warps_of_a_cta(kernel: Callable[..., Path]) -> None:
    code = """S2R R0, SR_TID.X
        STS [R0.X4], R0
        BAR.SYNC 0x0
        IADD3 R5, -R0, 0x27, RZ
        LDS R6, [R5.X4]
        S2R R1, SR_CTAID.X
        IMAD R0, R1, 0x28, R0
        MOV R4, 0x4
        IMAD.WIDE R2, R0, R4, c[0x0][0x168]
        STG.E.SYS [R2], R6"""
    result = execute(load_kernel(kernel(code=code)))
    assert result.buffers["y"].view(np.int32).tolist() == list(range(39, -1, -1)) * 2


def test_a_wrong_buffer_is_told_by_its_first_place(kernel: Callable[..., Path]) -> None:
    directory = kernel()
    wanted = (np.arange(80, dtype=np.int32) + 3).reshape(2, 40)
    wanted[1, 7] += 1000
    wanted[1, 30:] -= 1
    np.save(directory / "e.npy", wanted)
    (found,) = execute(load_kernel(directory)).expectations
    assert not found.ok and (found.first, found.found, found.wanted) == ((1, 7), 50, 1050)
    assert found.report == "y[1, 7] must be 1050, not 50; 11 of 80 values differ, worst error 1000"


def test_differences_within_the_tolerance_are_not_counted(kernel: Callable[..., Path]) -> None:
    directory = kernel(('"e.npy"', '"e.npy"\natol = 2'))
    wanted = np.arange(80, dtype=np.int32) + 5
    wanted[[9, 40]] = 0
    np.save(directory / "e.npy", wanted)
    (found,) = execute(load_kernel(directory)).expectations
    assert (found.wrong, found.count, found.first, found.worst_error) == (2, 80, (9,), 43.0)


STRUCTURED = """kernel = "structured"
grid = [1, 1, 1]
block = [32, 1, 1]
[[args]]
name = "part"
type = "struct"
[[args.fields]]
name = "scale"
type = "f32"
value = 0.5
[[args.fields]]
name = "offset"
type = "f64"
value = 100
[[args.fields]]
name = "steps"
type = "i16"
value = [1, -2, 3]
[[args.fields]]
name = "from"
type = "pointer"
buffer = "rest"
offset = 16
[[args]]
name = "rest"
type = "buffer"
init = "y.npy"
[[args]]
name = "out"
type = "buffer"
init = "out.npy"
expect = "e.npy"
"""


@pytest.fixture
def structured(tmp_path: Path) -> Callable[..., Path]:
    """A compiled kernel that takes a structure with a pointer into one of its buffers."""

    def write(*changes: tuple[str, str]) -> Path:
        text = STRUCTURED
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "kernel.sass").write_text(compiled.text("forms"))
        (tmp_path / "launch.toml").write_text(text)
        values = np.arange(40, dtype=np.float32) * np.float32(1.25)
        np.save(tmp_path / "y.npy", values)
        np.save(tmp_path / "out.npy", np.zeros(32, np.float32))
        steps = np.resize(np.array([1, -2, 3]), 32)
        np.save(tmp_path / "e.npy", (values[4:36] * 0.5 + 100 + steps + values[:32]).astype(np.float32))
        return tmp_path

    return write


def test_a_structure_with_an_array_and_a_pointer_into_a_buffer(structured: Callable[..., Path]) -> None:
    (outcome,) = execute(load_kernel(structured())).expectations
    assert outcome.ok, outcome.report


def test_a_buffer_in_a_structure(structured: Callable[..., Path]) -> None:
    inside = 'type = "buffer"\ninit = "y.npy"'
    directory = structured(
        ('type = "pointer"\nbuffer = "rest"\noffset = 16', inside), ("0.5", "1"), ('"e.npy"', '"f.npy"')
    )
    values = np.load(directory / "y.npy")
    np.save(directory / "f.npy", (values[:32] * 2 + 100 + np.resize(np.array([1, -2, 3]), 32)).astype(np.float32))
    (outcome,) = execute(load_kernel(directory)).expectations
    assert outcome.ok, outcome.report


WRONG_STRUCTURES = [
    (('buffer = "rest"', 'buffer = "more"'), "buffer of pointer 'from' must be one of rest, out, not 'more'"),
    (("offset = 16", "offset = 161"), "offset of pointer 'from' must be at most 160, not 161"),
    (("offset = 16", "offset = -1"), "field of 'part' 'from': offset must be a number of bytes, not -1"),
    (("[1, -2, 3]", "[1, -2, 40000]"), "field of 'part' 'steps': value must fit type i16, 40000 does not"),
    (("[1, -2, 3]", "[]"), "field of 'part' 'steps': value must be a number, not []"),
    (('"f64"', '"f32"'), "argument 'part' (struct) must have 32 bytes as in the listing, not 24"),
    (('type = "struct"', 'type = "struct"\nalign = 3'), "align must be one of 0, 1, 2, 4, 8, 16, not 3"),
    (('name = "from"\ntype = "pointer"\nbuffer = "rest"\noffset = 16', 'type = "i8"\nvalue = 1'), "name of field of"),
]


@pytest.mark.parametrize(("change", "text"), WRONG_STRUCTURES, ids=[text for _, text in WRONG_STRUCTURES])
def test_wrong_structures_say_what_would_be_right(
    structured: Callable[..., Path], change: tuple[str, str], text: str
) -> None:
    with pytest.raises(LaunchError, match=re.escape(text)) as error:
        load_kernel(structured(change))
    assert "\n" not in str(error.value)


CONSTANTS = """
[[constants]]
name = "table"
init = "t.npy"
"""


def test_contents_of_a_constant_variable(tmp_path: Path) -> None:
    table = np.arange(8192, dtype=np.int32) * 3
    head = GOOD.replace('"k"', '"far_constants"').replace("[2, 1, 1]", "[1, 1, 1]").replace("[40, 1, 1]", "[32, 1, 1]")
    text = head.replace("shared_bytes = 64\n", "").replace('"i32"\nvalue = 3', '"buffer"\ninit = "n.npy"')
    (tmp_path / "kernel.sass").write_text(compiled.text("forms"))
    (tmp_path / "launch.toml").write_text(text + CONSTANTS)
    places = np.arange(5, 37, dtype=np.int32)
    for name, array in (("n", places), ("t", table), ("y", np.zeros(32, np.int32)), ("e", table[places - 2])):
        np.save(tmp_path / f"{name}.npy", array)
    (outcome,) = execute(load_kernel(tmp_path)).expectations
    assert outcome.ok, outcome.report  # the other variables are zero
    given = (tmp_path / "launch.toml").read_text()
    for old, new, rule in (
        ('"table"', '"tables"', r"name must be a __constant__ variable that the listing shows \(.*table.*\)$"),
        ('"table"', '"bytes"', r"constant 'bytes': init must have at most 64 bytes, not 32768$"),
        ('init = "t.npy"\n', "", r"constant 'table': init must be the name of a .npy file, not None$"),
        ('"table"', '"table"\nsize = 3', r"key of a constant must be one of init, name, offset, not 'size'$"),
        ('"table"', '"x"\noffset = 40000', r"constant 'x': init must have at most 25536 bytes, not 32768$"),
    ):
        (tmp_path / "launch.toml").write_text(given.replace(old, new))
        with pytest.raises(LaunchError, match=rule):
            load_kernel(tmp_path)


def test_constants_of_a_listing_without_data_are_given_by_their_offset(kernel: Callable[..., Path]) -> None:
    code = CODE.replace("IADD3 R5, R0, c[0x0][0x160], RZ", "IADD3 R5, R0, c[0x3][0x10], RZ")
    directory = kernel(code=code)
    with pytest.raises(ExecutionError, match="constant bank 0x3 is not known"):
        execute(load_kernel(directory))
    np.save(directory / "c.npy", np.array([9, 3], np.int32))
    with (directory / "launch.toml").open("a") as file:
        file.write('[[constants]]\nname = "c"\noffset = 12\ninit = "c.npy"\n')
    assert execute(load_kernel(directory)).expectations[0].ok


#: For each generation: block size, first word of the parameters, its stack pointer.
PLACES = {75: (0x0, 0x160, 0x28), 90: (0x0, 0x210, 0x28), 100: (0x360, 0x380, 0x37C), 120: (0x360, 0x380, 0x37C)}


@pytest.mark.parametrize("architecture", PLACES)
def test_code_finds_what_its_generation_has_in_the_launch_bank(kernel: Callable[..., Path], architecture: int) -> None:
    block, first, stack = PLACES[architecture]
    code = CODE.replace("c[0x0][0x0]", f"c[0x0][{block:#x}]").replace("c[0x0][0x168]", f"c[0x0][{first + 8:#x}]")
    code = code.replace("c[0x0][0x160]", f"c[0x0][{first:#x}]") + f"\nMOV R6, c[0x0][{stack:#x}]"
    directory = kernel(code=code)
    text = (directory / "kernel.sass").read_text()
    (directory / "kernel.sass").write_text(f"\t.target\tsm_{architecture}\n{text}")
    result = execute(load_kernel(directory))
    assert result.expectations[0].ok and result.trace.values[-1][:8].tolist() == [LOCAL_STACK_TOP] * 8


#: KiB of shared memory that a CTA may have, as CUDA's programming guide has them by compute capability.
LARGEST = {70: 96, 75: 64, 80: 163, 86: 99, 87: 163, 89: 99, 90: 227, 100: 227, 120: 99}


@pytest.mark.parametrize("architecture", LARGEST)
def test_a_cta_has_the_shared_memory_of_its_gpu(kernel: Callable[..., Path], architecture: int) -> None:
    most = 1024 * LARGEST[architecture]
    directory = kernel(("shared_bytes = 64", f"shared_bytes = {most}"))
    text = (directory / "kernel.sass").read_text()
    (directory / "kernel.sass").write_text(f"\t.target\tsm_{architecture}\n{text}")
    assert load_kernel(directory).dynamic_shared == most
    launch = directory / "launch.toml"
    launch.write_text(launch.read_text().replace(f"shared_bytes = {most}", f"shared_bytes = {most + 1}"))
    with pytest.raises(LaunchError, match=f"shared memory must be at most {most} bytes"):
        load_kernel(directory)


def test_where_parameters_start_is_the_listings_word(kernel: Callable[..., Path]) -> None:
    directory = kernel(code=CODE.replace("0x160", "0x2a0").replace("0x168", "0x2a8"))
    info = """\t.section\t.nv.info.k,"",@"SHT_CUDA_INFO"
\t//----- nvinfo : EIATTR_PARAM_CBANK
        /*0000*/ \t.byte\t0x04, 0x0a
        /*0002*/ \t.short\t0x0008
        /*0004*/ \t.word\tindex@(.nv.constant0.k)
        /*0008*/ \t.short\t0x02a0
        /*000a*/ \t.short\t0x0010
"""
    listing = parse(info + (directory / "kernel.sass").read_text(), "k.sass")
    assert listing.functions["k"].parameter_base == 0x2A0
    function = replace(listing.functions["k"], parameters=None)
    launch = replace(load_kernel(directory), listing=listing, function=function)
    assert execute(launch).expectations[0].ok


def test_all_that_is_missing_is_said_in_one_line(kernel: Callable[..., Path]) -> None:
    directory = kernel(
        ("grid = [2, 1, 1]\nblock = [40, 1, 1]\n", ""), ("value = 3\n", ""), ("y.npy", "z.npy"), ("e.npy", "../f.npy")
    )
    structure = '[[args]]\nname = "s"\ntype = "struct"\nfields = [{type = "pointer"}, {name = "w", type = "f32"}]\n'
    (directory / "launch.toml").write_text((directory / "launch.toml").read_text() + structure)
    with pytest.raises(LaunchError) as error:
        load_kernel(directory)
    assert str(error.value).endswith(
        "launch.toml: must be given: grid, block, value of argument 'n', file 'z.npy', name of field of 's' 1, "
        "buffer of field of 's' 1, value of field of 's' 'w'"
    )


def threads(attribute: str, code: int, *count: int) -> str:
    """The entry of ``.nv.info.k`` that has three words, as nvdisasm prints it."""
    words = "".join(f"        /*{4 + 4 * at:04x}*/ \t.word\t{number:#010x}\n" for at, number in enumerate(count))
    head = f"        /*0000*/ \t.byte\t0x04, {code:#04x}\n        /*0002*/ \t.short\t0x000c\n"
    return f'\t.section\t.nv.info.k,"",@"SHT_CUDA_INFO"\n\t//----- nvinfo : {attribute}\n{head}{words}'


@pytest.mark.parametrize(
    ("info", "text"),
    [
        (threads("EIATTR_REQNTID", 0x10, 8, 4, 1), "block must be [8, 4, 1] as in the listing, not [40, 1, 1]"),
        (threads("EIATTR_MAX_THREADS", 0x05, 16, 2, 1), "block must have at most 32 threads, not 40"),
    ],
)
def test_a_block_is_what_the_code_was_compiled_for(kernel: Callable[..., Path], info: str, text: str) -> None:
    directory = kernel()
    (directory / "kernel.sass").write_text(info + (directory / "kernel.sass").read_text())
    with pytest.raises(LaunchError, match=re.escape(text)):
        load_kernel(directory)


@pytest.mark.parametrize(
    ("architecture", "word"),
    [(75, "c[0x0][0x8c]"), (86, "c[0x0][0x8c]"), (90, "c[0x0][0x44]"), (100, "c[0x0][UR4+0x254]")],
)
def test_a_kernel_that_waits_for_the_grid_is_refused_by_name(
    kernel: Callable[..., Path], architecture: int, word: str
) -> None:
    """What ``grid.sync()`` of the toolkit's header reads, as nvcc compiles it for these GPUs."""
    directory = kernel(code=f"{'LDCU UR5,' if 'UR4' in word else 'MOV R6,'} {word}")
    text = (directory / "kernel.sass").read_text()
    (directory / "kernel.sass").write_text(f"\t.target\tsm_{architecture}\n{text}")
    with pytest.raises(LaunchError, match=r"must not call grid\.sync\(\).*cooperative launches are not executed"):
        load_kernel(directory)


@pytest.mark.needs("nvcc", "nvdisasm")
@pytest.mark.parametrize("architecture", [75, 80, 90, 100])
def test_the_compiler_makes_such_code_of_grid_sync_alone(tmp_path: Path, architecture: int) -> None:
    for barrier, refused in (("this_grid", True), ("this_thread_block", False)):
        source = tmp_path / f"{barrier}.cu"
        body = f"x[threadIdx.x] = 1; cooperative_groups::{barrier}().sync(); x[0] = 2;"
        source.write_text(f'#include <cooperative_groups.h>\nextern "C" __global__ void k(int *x) {{ {body} }}')
        (function,) = compiled_listing(source, architecture, silent).functions.values()
        workspace = generation(architecture).workspace
        assert any(one.reads(0, workspace) for one in function.instructions) == refused


def test_a_null_pointer_is_a_number(kernel: Callable[..., Path]) -> None:
    null = ('type = "buffer"\ninit = "y.npy"\nexpect = "e.npy"', 'type = "u64"\nvalue = 0')
    with pytest.raises(ExecutionError, match="0x0"):
        execute(load_kernel(kernel(null)))


def test_shared_memory_of_sm_90_starts_behind_what_the_system_keeps(kernel: Callable[..., Path]) -> None:
    code = """S2UR UR5, SR_CgaCtaId
        UMOV UR4, 0x400
        ULEA UR4, UR5, UR4, 0x18
        STS [UR4+{last:#x}], RZ"""
    for last, fits in ((60, True), (64, False)):
        directory = kernel(('expect = "e.npy"\n', ""), code=code.format(last=last))
        text = (directory / "kernel.sass").read_text()
        sizes = '\t.section\t.nv.shared.k,"aw",@nobits\n\t.zero\t1024\n'  # of which nothing is the kernel's own
        launch = load_kernel(directory, listing=parse(f"\t.target\tsm_90\n{sizes}{text}", "k.sass"))
        assert (launch.static_shared, launch.shared_bytes) == (0, 64)
        if fits:
            assert execute(launch).trace.shared_bytes == 64
        else:
            with pytest.raises(ExecutionError, match="0x440 is outside of shared memory"):
                execute(launch)


PLACED = """kernel = "placed"
grid = [1, 1, 1]
block = [32, 1, 1]
[[args]]
name = "n"
type = "i32"
value = 5
[[args]]
name = "v"
type = "struct"
align = 16
[[args.fields]]
name = "xyzw"
type = "f32"
value = [2, 3, 4, 8]
[[args]]
name = "out"
type = "buffer"
init = "y.npy"
expect = "e.npy"
"""


def test_a_structure_of_an_alignment_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "kernel.sass").write_text(compiled.text("forms"))
    np.save(tmp_path / "y.npy", np.zeros(32, np.float32))
    np.save(tmp_path / "e.npy", np.full(32, 10.5, np.float32))
    (tmp_path / "launch.toml").write_text(PLACED)
    assert execute(load_kernel(tmp_path)).expectations[0].ok
    (tmp_path / "launch.toml").write_text(PLACED.replace("align = 16\n", ""))
    rule = r"argument 'v' \(struct\) must start at 0x10 as in the listing, not 0x4; give 'align'$"
    with pytest.raises(LaunchError, match=rule):
        load_kernel(tmp_path)

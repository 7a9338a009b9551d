"""Every rule of a kernel directory, one by one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.emulator.harness import listing
from warpfile.emulator.errors import ExecutionError, LaunchError
from warpfile.emulator.launch import load_kernel
from warpfile.emulator.run import execute

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
    assert (trace.warps, trace.instructions, trace.shared_bytes) == (4, 32, 48 * 1024)
    assert trace.live[trace.warp_start[1]] == 0xFF
    assert trace.warp_cta.tolist() == [0, 0, 1, 1]


WRONG = [
    (('kernel = "k"', 'kernel = "q"'), "kernel must be a function of kernel.sass (k), not 'q'"),
    (('kernel = "k"', "kernel = 3"), "kernel must be a string, not 3"),
    (('kernel = "k"\n', ""), "key 'kernel' must be given"),
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
        "argument 'n': type must be one of i32, u32, f32, i64, u64, f64, buffer, not 'int'",
    ),
    (("value = 3", "value = 3.5"), "argument 'n': value must be an integer for type i32, not 3.5"),
    (("value = 3", "value = 3000000000"), "argument 'n': value must fit type i32, 3000000000 does not"),
    (("value = 3", 'value = "3"'), "argument 'n': value must be a number, not '3'"),
    (("value = 3", "value = true"), "argument 'n': value must be a number, not True"),
    (("value = 3", "init = 3"), "argument 'n': key of a i32 must be one of name, type, value, not 'init'"),
    (('name = "y"', 'name = "n"'), "names of args must differ, 'n' is given twice"),
    (('name = "y"', "name = 3"), "name of argument 2 must be a string, not 3"),
    (('init = "y.npy"', 'init = "z.npy"'), "argument 'y': init must be an existing .npy file, 'z.npy' does not exist"),
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
    (('init = "y.npy"\n', ""), "argument 'y': init must name the .npy file"),
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
    with pytest.raises(LaunchError, match=r"large\.toml: launch file must exist"):
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
    loose = execute(load_kernel(kernel(("value = 3", "value = 5"), ('"e.npy"', '"e.npy"\natol = 2'))))
    assert loose.expectations[0].ok


def test_access_behind_a_buffer_names_kernel_and_lane(kernel: Callable[..., Path]) -> None:
    with pytest.raises(
        ExecutionError, match=r"k, CTA 1, warp 1: instruction 0x0060 .*lane 7: address 0x\w+ is outside"
    ):
        execute(load_kernel(kernel(("[40, 1, 1]", "[41, 1, 1]"))))


def test_a_launch_of_more_warps_than_instructions_is_refused_at_once(kernel: Callable[..., Path]) -> None:
    launch = load_kernel(kernel(("[2, 1, 1]", "[2147483647, 65535, 65535]")))
    with pytest.raises(ExecutionError, match=r"launch.toml: grid must have at most 20000000 warps, not \d+$"):
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

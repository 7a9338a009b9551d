"""Every wrong input is one line on standard error and status 2, and leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from tests.warpfile.conftest import CODE, Invoke, write_listing
from warpfile.cli.program import main
from warpfile.output.difference import Difference
from warpfile.workloads import inputs


def refused(result: Result, *words: str) -> None:
    """Assert a refusal in one line that says all of the words."""
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert result.stderr.startswith("warpfile: ") and result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("Missing command", "--help")),
        (("paint",), ("paint",)),
        (("run", "baseline"), ("SCHEME",)),
        (("run", "baseline", "saxpy", "--fast"), ("--fast",)),
        (("run", "nonsense", "saxpy"), ("SCHEME must be one of", "baseline", "nonsense")),
        (("run", "baseline", "nonsense"), ("KERNEL must be", "'warpfile kernels' lists them", "nonsense")),
        (("run", "baseline", "saxpyy"), ("KERNEL must be", "not 'saxpyy'; did you mean 'saxpy'?")),
        (("run", "bas", "saxpy", "--set", "zz=4"), ("SCHEME must be", "not 'bas'")),
        (("run", "baseline", "saxpy", "--set", "zz=4"), ("'zz' is no", "known are lanes, ")),
        (("run", "baselin", "saxpy"), ("SCHEME must be", "not 'baselin'; did you mean 'baseline'?")),
        (("run", "baseline", "absent.npz"), ("absent.npz",)),
        (("run", "baseline", "saxpy", "--preset", "gtx"), ("--preset must be one of", "turing", "gtx")),
        (("run", "baseline", "saxpy", "--set", "lanes"), ("FIELD=VALUE", "lanes")),
        (("run", "baseline", "saxpy", "--set", "lane=4"), ("'lane' is no", "did you mean 'lanes'?")),
        (("run", "baseline", "saxpy", "--set", "lanes=three"), ("lanes must be a whole number", "three")),
        (("run", "baseline", "saxpy", "--set", "lanes=3"), ("lanes must be a power of two",)),
        (("run", "baseline", "saxpy", "--set", "warps=0"), ("warps must be a number from 1",)),
        (("area", "corf", "--set", "banks=6"), ("banks must be a power of two, 4 or 8, not 6: memory and row",)),
        (("generate", "regmutex", "--set", "banks=24"), ("banks must be a power of two, 16 or 32, not 24: without",)),
        (("run", "baseline", "saxpy", "--set", "bank_ports=2RW"), ("bank_ports must be one of",)),
        (
            ("run", "baseline", "saxpy", "--set", "cache_lines=6"),
            ("cache_lines must be a multiple of cache_ways, 64, not 6",),
        ),
        (("run", "baseline", "saxpy", "--set", "warps=1"), ("CTA", "saxpy", "only 4 such warps fit this SM")),
        (
            ("run", "baseline", "rfc", "saxpy", "--domain", "1"),
            ("rfc, preset isca2011: domain must be below the number of domains, 1, not 1",),
        ),
        (("run", "baseline", "saxpy", "--domain", "4"), ("domain must be below the number of domains, 4, not 4",)),
        (("run", "baseline", "saxpy", "--domain", "-1"), ("--domain", "-1")),
        (
            ("cosim", "baseline", "saxpy", "--preset", "tiny", "--domain", "1"),
            ("domain must be below the number of domains, 1",),
        ),
        (("run", "baseline", "wide_accumulate", "--domain", "3"), ("domain must be below",)),
        (("run", "baseline", "chacha", "--set", "register_names=32"), ("register_names must be at least",)),
        (("run", "baseline", "saxpy", "--setting", "huge"), ("--setting must be one of", "huge")),
        (("run", "baseline", "saxpy", "--instruction-limit", "0"), ("--instruction-limit",)),
        (("cosim", "baseline", "saxpy", "--simulator", "vcs"), ("--simulator", "icarus")),
        (("area", "baseline", "--delays", "absent.lib"), ("absent.lib", "No such file")),
        (("generate", "nonsense"), ("SCHEME must be one of",)),
        (("trace",), ("KERNEL",)),
        (("trace", "saxpy", "-o", "trace.bin"), (".npz", "trace.bin")),
        (("trace", "--accelsim", "."), ("kernelslist.g",)),
        (("analyze", "absent.sass"), ("absent.sass", "No such file")),
        (("analyze", "."), ("directory",)),
    ],
)
def test_a_wrong_request_is_refused(invoke: Invoke, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    refused(invoke(*arguments), *words)


def test_a_refusal_leaves_no_file(invoke: Invoke, folder: Path, kernel: Path) -> None:
    (kernel / "y.npy").unlink()
    refused(invoke("trace", kernel, "-o", "t.npz", "--json", "t.json"), "y.npy")
    assert sorted(path.name for path in folder.iterdir()) == ["count"]


@pytest.mark.parametrize("text", ["", "hello\n", '\t.section\t.text.count,"ax",@progbits\ncount:\n', "\x7fELF"])
def test_a_malformed_listing_is_refused(invoke: Invoke, kernel: Path, text: str) -> None:
    (kernel / "kernel.sass").write_text(text)
    refused(invoke("analyze", kernel / "kernel.sass"), "kernel.sass")
    refused(invoke("trace", kernel), "kernel.sass")


@pytest.mark.parametrize("instruction", ["FROB R1, R2", "IADD3 R1, R2, %7, RZ", "BRA `(nowhere)", "MOV R300, R1"])
def test_a_wrong_instruction_is_refused(invoke: Invoke, kernel: Path, instruction: str) -> None:
    write_listing(kernel, (*CODE[:-1], instruction, "EXIT"))
    refused(invoke("trace", kernel), "kernel.sass")


@pytest.mark.parametrize(
    ("good", "bad", "words"),
    [
        ('kernel = "count"', 'kernel = "other"', ("other",)),
        ('kernel = "count"', "kernel = 3", ("kernel",)),
        ('kernel = "count"', "", ("kernel",)),
        ("grid = [1, 1, 1]", 'grid = "1"', ("grid",)),
        ("grid = [1, 1, 1]", "grid = [1, 1]", ("grid",)),
        ("grid = [1, 1, 1]", "grid = [0, 1, 1]", ("grid.x",)),
        ("block = [64, 1, 1]", "block = [64.5, 1, 1]", ("block.x",)),
        ("block = [64, 1, 1]", "block = [2048, 1, 1]", ("block.x", "1024")),
        ("shared_bytes = 0", 'shared_bytes = "many"', ("shared_bytes",)),
        ("shared_bytes = 0", "shared_bytes = 1000000", ("shared memory",)),
        ('type = "buffer"', 'type = "pointer"', ("type", "pointer")),
        ('type = "buffer"', "type = 7", ("type",)),
        ('init = "y.npy"', "init = 3", ("init",)),
        ('init = "y.npy"', 'init = "absent.npy"', ("absent.npy",)),
        ('expect = "y_expected.npy"', 'expect = "absent.npy"', ("absent.npy",)),
        ('expect = "y_expected.npy"', 'expect = "y_expected.npy"\nrtol = "small"', ("rtol",)),
        ("[[args]]", "[args", ("TOML",)),
        ("[[args]]", '[[args]]\nname = "n"\ntype = "i32"\nvalue = "four"\n[[args]]', ("n",)),
        ("[[args]]", '[[args]]\nname = "n"\ntype = "i32"\nvalue = 1e40\n[[args]]', ("n",)),
        ("[[args]]", '[[args]]\nname = "n"\ntype = "u32"\nvalue = -1\n[[args]]', ("n",)),
    ],
)
def test_a_wrong_launch_file_is_refused(
    invoke: Invoke, kernel: Path, good: str, bad: str, words: tuple[str, ...]
) -> None:
    path = kernel / "launch.toml"
    text = path.read_text()
    assert good in text
    path.write_text(text.replace(good, bad, 1))
    refused(invoke("trace", kernel), "launch.toml", *words)


@pytest.mark.parametrize("name", ["kernel.sass", "launch.toml", "y.npy", "y_expected.npy"])
def test_a_missing_file_is_refused(invoke: Invoke, kernel: Path, name: str) -> None:
    (kernel / name).unlink()
    refused(invoke("trace", kernel), name)


def test_an_array_that_is_none_is_refused(invoke: Invoke, kernel: Path) -> None:
    (kernel / "y.npy").write_bytes(b"not an array")
    refused(invoke("trace", kernel), "y.npy")


def test_an_array_of_another_shape_is_refused(invoke: Invoke, kernel: Path) -> None:
    np.save(kernel / "y_expected.npy", np.arange(65, dtype=np.int32))
    refused(invoke("trace", kernel), "y")


def test_an_access_out_of_bounds_is_refused(invoke: Invoke, kernel: Path) -> None:
    for name in ("y.npy", "y_expected.npy"):
        np.save(kernel / name, np.load(kernel / name)[:60])
    refused(invoke("trace", kernel), "count", "0x0030", "outside")


def test_a_kernel_that_never_ends_is_refused(invoke: Invoke, kernel: Path) -> None:
    write_listing(kernel, (*CODE[:-1], "BRA `(start)", "EXIT"))
    refused(invoke("trace", kernel, "--instruction-limit", 5000), "count", "instruction limit")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"\x93NUMPY"])
def test_a_file_that_is_no_trace_is_refused(invoke: Invoke, folder: Path, content: bytes) -> None:
    (folder / "t.npz").write_bytes(content)
    refused(invoke("run", "baseline", "t.npz"), "t.npz", "warpfile trace")


def test_an_archive_without_the_arrays_of_a_trace_is_refused(invoke: Invoke, folder: Path) -> None:
    np.savez(folder / "t.npz", something=np.arange(3))
    refused(invoke("run", "baseline", "t.npz"), "t.npz")


def test_an_output_folder_that_is_a_file_is_refused(invoke: Invoke, folder: Path) -> None:
    (folder / "taken").write_text("")
    refused(invoke("generate", "baseline", "--preset", "tiny", "--set", "lanes=1", "-o", "taken"), "taken")
    refused(invoke("trace", "saxpy", "-o", "taken/t.npz"), "taken")
    assert (folder / "taken").read_text() == ""


def test_a_failed_expectation_is_status_one_and_writes_no_trace(invoke: Invoke, folder: Path, kernel: Path) -> None:
    np.save(kernel / "y_expected.npy", np.arange(1, 65, dtype=np.int32))
    result = invoke("trace", kernel, "-o", "t.npz", "--json", "t.json")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1 and "y" in result.stderr
    assert (folder / "t.json").exists() and not (folder / "t.npz").exists()
    assert invoke("run", "baseline", kernel).exit_code == 1


def test_a_difference_is_status_one(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    def differ(*arguments: object) -> None:
        raise Difference("not\nthe same")

    monkeypatch.setattr("warpfile.cli.commands.run.golden_run", differ)
    result = invoke("run", "baseline", "saxpy")
    assert (result.exit_code, result.stderr) == (1, "warpfile: not the same\n")


def test_our_own_mistakes_keep_their_traceback(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(inputs, "bundled_kernels", fail)
    assert isinstance(invoke("run", "baseline", "saxpy").exception, KeyError)


@pytest.mark.parametrize(
    ("arguments", "status"), [(["schemes"], 0), (["run", "baseline", "nonsense"], 2), (["run", "x", "saxpy"], 2)]
)
def test_the_installed_command_ends_with_the_same_status(root: Path, arguments: list[str], status: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "warpfile", *arguments], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == status
    assert done.stderr.count("\n") == (status != 0)


def test_a_closed_pipe_is_no_error(root: Path) -> None:
    command = f"{sys.executable} -m warpfile kernels | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=root, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("0", "")


@pytest.mark.parametrize("command", sorted(main.commands))
def test_every_command_has_help_with_an_example(invoke: Invoke, command: str) -> None:
    result = invoke(command, "--help")
    assert result.exit_code == 0
    assert f"Example: warpfile {command}" in result.stdout

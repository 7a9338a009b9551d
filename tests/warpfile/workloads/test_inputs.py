"""Damaged, huge and strange inputs: one line, status 2, and soon."""

from __future__ import annotations

import lzma
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.compiler.traceg import EXIT, text
from tests.effort import effort
from tests.warpfile.cli.test_errors import refused
from tests.warpfile.conftest import Invoke, write_listing
from tests.warpfile.output.test_names import rename
from warpfile.cli.application import give_cache
from warpfile.compiler import parse


def npy(header: str, data: bytes = bytes(256)) -> bytes:
    """A .npy file with this header."""
    body = header.encode("latin-1").ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(body).to_bytes(2, "little") + body + data


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<i4', 'fortran_order': False, 'shape': (64,), ",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (64,)",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (9**99,), }",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (4000000000,), }",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': [], 'fortran_order': False, 'shape': (64,), }",
        "{'descr': 7, 'fortran_order': False, 'shape': (64,), }",
        "{'descr': [('a', ('b',))], 'fortran_order': False, 'shape': (64,), }",
        "{[]: 1, 'descr': '<i4', 'fortran_order': False, 'shape': (64,), }",
        "  {'descr': '<i4'\n  'fortran_order': \\q",
        "(" * 100,
        "-" * 100 + "1",
        "",
    ],
)
def test_damaged_array_headers_are_refused(invoke: Invoke, kernel: Path, header: str) -> None:
    (kernel / "y.npy").write_bytes(npy(header))
    refused(invoke("trace", kernel), "launch.toml", "y.npy")


def test_one_changed_byte_of_an_array_is_refused_or_does_not_matter(invoke: Invoke, kernel: Path) -> None:
    rng, whole, codes = random.Random(2), (kernel / "y.npy").read_bytes(), set()
    for place in range(128):
        data = bytearray(whole)
        data[place] = rng.choice((0, 40, 92, 255, rng.randrange(256)))
        (kernel / "y.npy").write_bytes(data)
        result = invoke("trace", kernel, "-o", "t.npz")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        codes.add(result.exit_code)
    assert {0, 2} <= codes <= {0, 1, 2}


@pytest.mark.parametrize(
    "launch",
    [
        "x = " + "[" * 50_000,
        "x = " + "{a = " * 50_000,
        ".".join("a" * 20_000) + " = 1",
        "[" + ".".join("a" * 20_000) + "]",
        "[" + " . ".join("a" * 20_000) + "]",
        ".".join(['"a"'] * 20_000) + " = 1",
        "x = 1" + "0" * 5000,
        "x = 0x" + "f" * 20_000,
        "# " + "x" * (1 << 20),
        "x = '\udcff'",
    ],
    ids=lambda value: f"{value[:10]!r}",
)
def test_strange_launch_files_are_refused_soon(invoke: Invoke, kernel: Path, launch: str) -> None:
    (kernel / "launch.toml").write_bytes(launch.encode("utf-8", errors="surrogateescape"))
    assert effort(lambda: refused(invoke("trace", kernel), "launch.toml")) < 100


@pytest.mark.parametrize("name", ["[/x]", "[bold]", "[link=x]", ":smile:", "a\x1b[31mb", "[[", "count\\["])
def test_a_name_is_no_markup(invoke: Invoke, kernel: Path, name: str) -> None:
    rename(kernel, name.replace("\x1b", ""))
    if "\x1b" in name:
        (kernel / "kernel.sass").write_text((kernel / "kernel.sass").read_text().replace("a[31mb", name))
        (kernel / "launch.toml").write_text((kernel / "launch.toml").read_text().replace("a[31mb", "a\\u001b[31mb"))
    (kernel / "launch.toml").write_text((kernel / "launch.toml").read_text().replace("count\\[", "count\\\\["))
    for arguments in (("analyze", kernel / "kernel.sass"), ("run", "baseline", kernel)):
        result = invoke(*arguments)
        assert result.exit_code == 0, result.output
        assert name.replace("\x1b", "\\x1b") in result.stdout
        assert "\x1b" not in result.stdout


@pytest.mark.parametrize("kind", ["pipe", "device", "huge"])
def test_what_is_no_regular_file_of_a_sensible_size_is_refused(
    invoke: Invoke, folder: Path, kernel: Path, kind: str
) -> None:
    def replace(path: Path) -> None:
        path.unlink(missing_ok=True)
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "device":
            path.symlink_to("/dev/zero")
        else:
            with path.open("wb") as stream:
                stream.truncate(1 << 41)

    word = {"pipe": "a pipe", "device": "a device", "huge": "at most"}[kind]
    for name in ("y.npy", "launch.toml", "kernel.sass"):
        kept = (kernel / name).read_bytes()
        replace(kernel / name)
        refused(invoke("trace", kernel), name, word)
        if name == "kernel.sass":
            refused(invoke("analyze", kernel / name), name, word)
        (kernel / name).unlink()
        (kernel / name).write_bytes(kept)
    for name in ("t.npz", "kernel.traceg"):
        replace(folder / name)
    refused(invoke("run", "baseline", "t.npz"), "t.npz", word)
    if kind == "huge":
        refused(invoke("trace", "--accelsim", "kernel.traceg"), "kernel.traceg", word)
    else:
        refused(invoke("trace", "--accelsim", "kernel.traceg"), "kernel.traceg")


@pytest.mark.parametrize("where", ["header", "body", "warp"])
@pytest.mark.parametrize("filling", [b"\n", b" "])
def test_a_compressed_nothing_without_end_is_refused_soon(
    invoke: Invoke, folder: Path, where: str, filling: bytes
) -> None:
    parts = text({0: (EXIT,)}).encode().partition({"header": b"#traces", "body": b"#BEGIN", "warp": b"insts"}[where])
    with lzma.open(folder / "kernel.traceg.xz", "wb", preset=0) as stream:
        stream.write(parts[0])
        for _ in range(20):
            stream.write(filling * 10_000_000)
        stream.write(parts[1] + parts[2])
    traced = ("trace", "--accelsim", folder / "kernel.traceg.xz")
    assert effort(lambda: refused(invoke(*traced), "kernel.traceg.xz, line", "at most")) < 100


def test_an_interrupt_in_the_first_second_is_one_line(root: Path) -> None:
    seen = set()
    for delay in (0.1, 0.2, 0.4):
        # The program itself is running by then; before, Python is still starting, however long that takes.
        started = subprocess.Popen(
            [sys.executable, "-c", "from warpfile.__main__ import main; print('up', flush=True); main()", "schemes"],
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert started.stdout and started.stdout.readline() == "up\n"
        time.sleep(delay)
        started.send_signal(signal.SIGINT)
        _, errors = started.communicate(timeout=60)
        seen.add((started.returncode, errors.removeprefix("\n")))  # below the terminal's own ^C
    assert seen <= {(130, "warpfile: interrupted\n"), (0, "")}
    assert (130, "warpfile: interrupted\n") in seen


@pytest.mark.parametrize("moment", ["at once", "busy", "before a wait"])
def test_an_interrupt_that_python_loses_comes_once_more(root: Path, moment: str) -> None:
    """Also where the main thread is slow to leave the place that loses it, or begins to wait just behind a signal."""
    code = f"""if True:
        import os, signal, threading, time
        from warpfile import __main__ as entry
        from warpfile.cli import program
        class Left:
            def __del__(self):
                os.kill(os.getpid(), signal.SIGINT)
        start, kill = threading.Thread.start, os.kill
        def slow_start(thread):
            start(thread)
            time.sleep({int(moment == "busy")})
        def unheard_once(process, number):
            if threading.current_thread() is threading.main_thread():
                return kill(process, number)
            os.kill = kill
            signal.pthread_kill(threading.get_ident(), number)
        threading.Thread.start = slow_start
        if {moment == "before a wait"}:
            os.kill = unheard_once
        def work():
            left = Left()
            del left
            time.sleep(3600)
        program.main = work
        entry.main()"""
    # One that does not come leaves the program in its hour of sleep, on a busy machine too.
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == -signal.SIGINT and "Exception ignored" not in done.stderr


def test_an_interrupt_leaves_no_warnings_of_half_made_hardware(root: Path, tmp_path: Path) -> None:
    code = """if True:
        import sys
        from warpfile.hdl.scoreboard import WarpScoreboard
        from warpfile.cli.program import main
        def interrupted(self, platform):
            raise KeyboardInterrupt
        WarpScoreboard.elaborate = interrupted
        main(["generate", "baseline", "--preset", "tiny", "-o", sys.argv[1]])"""
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "\nwarpfile: interrupted\n")


@pytest.mark.parametrize("home", ["/proc/none", "/dev/null"])
def test_tools_get_a_cache_where_home_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, folder: Path, home: str
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", home)
    monkeypatch.setattr(os, "environ", os.environ.copy())
    give_cache()
    assert os.environ["XDG_CACHE_HOME"] == str(folder / "build/cache")


def test_a_cache_that_can_be_written_stays(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setattr(os, "environ", {"HOME": str(folder)})
    give_cache()
    assert "XDG_CACHE_HOME" not in os.environ


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-8"])
def test_a_listing_may_come_from_windows(invoke: Invoke, kernel: Path, encoding: str) -> None:
    path = kernel / "kernel.sass"
    text = path.read_text()
    path.write_bytes(text.replace("\n", "\r\n").encode(encoding))
    assert invoke("trace", kernel, "-o", "t.npz").exit_code == 0
    path.write_bytes(text.encode("utf-16")[2:])
    refused(invoke("trace", kernel, "-o", "t.npz"), "kernel.sass, line 1: must hold at least one function")


def test_a_listing_of_too_many_lines_is_refused_soon(invoke: Invoke, kernel: Path) -> None:
    (kernel / "kernel.sass").write_text("\n" * 60_000_000)
    reason = "must have at most 2,097,152 lines, not 60,000,000"
    assert effort(lambda: refused(invoke("analyze", kernel / "kernel.sass"), reason)) < 100


def test_many_variables_of_a_listing_are_read_soon() -> None:
    variables = "".join(f"v{number}:\n\t.zero 4\n" for number in range(30_000))
    code = '\t.section\t.text.k,"ax",@progbits\nk:\n        /*0000*/                   EXIT ;\n'
    symbols = {}
    assert effort(lambda: symbols.update(parse(f'{code}\t.section\t.nv.global,"a"\n{variables}', "t").symbols)) < 60
    assert (symbols["v0"].size, symbols["v29999"].size) == (4, 4) and len(symbols) == 30_000


def test_an_array_whose_header_ends_too_early_is_refused_in_our_words(invoke: Invoke, kernel: Path) -> None:
    (kernel / "y.npy").write_bytes(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (64,"))
    refused(invoke("trace", kernel), "'y.npy' is not (the header of an array has no end)")


def test_a_long_text_of_an_input_is_cut(invoke: Invoke, kernel: Path) -> None:
    launch = kernel / "launch.toml"
    launch.write_text(launch.read_text().replace('"count"', f'"{"x" * 200_000}"'))
    result = invoke("trace", kernel)
    refused(result, "kernel must be a function", "count", "xxx'")
    assert len(result.stderr) < 1200


def test_arrays_in_other_byte_orders_are_taken(invoke: Invoke, kernel: Path) -> None:
    np.save(kernel / "y.npy", np.zeros(64, dtype=">i4"))
    assert invoke("trace", kernel, "-o", "t.npz").exit_code == 0


def test_a_kernel_reads_the_numbers_that_a_file_of_another_byte_order_has(invoke: Invoke, kernel: Path) -> None:
    code = ("IMAD.MOV.U32 R2, RZ, RZ, c[0x0][0x160]", "IMAD.MOV.U32 R3, RZ, RZ, c[0x0][0x164]")
    write_listing(kernel, (*code, "LDG.E.SYS R4, [R2]", "IADD3 R4, R4, 0x1, RZ", "STG.E.SYS [R2], R4", "EXIT"))
    np.save(kernel / "y.npy", np.full(64, 300, dtype=">i4"))
    np.save(kernel / "y_expected.npy", np.array([301, 300], dtype=">i4"))
    launch = kernel / "launch.toml"
    launch.write_text(launch.read_text().replace("block = [64", "block = [1"))
    assert invoke("trace", kernel, "-o", "t.npz").exit_code == 0


def test_a_run_that_takes_too_many_cycles_is_given_up(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpfile.results.run.CYCLE_LIMIT", 10_000)
    result = invoke("run", "baseline", "saxpy", "--set", "alu_interval=1024")
    refused(result, "a run must end within 10,000 cycles")
    assert invoke("run", "baseline", "saxpy").exit_code == 0


@pytest.mark.parametrize(
    ("instruction", "words"),
    [
        ("MOV R1, c[0xzz][0x10]", "bank of a constant must be a hexadecimal number, not '0xzz'"),
        ("MOV R1, c[][0x10]", "bank of a constant must be"),
        (f"MOV R{'9' * 5000}, R1", "register number must be below 255"),
        ("MOV R1, c[0x0][zz]", "address must be a sum"),
    ],
)
def test_wrong_operands_are_refused_in_our_words(invoke: Invoke, kernel: Path, instruction: str, words: str) -> None:
    write_listing(kernel, (instruction, "EXIT"))
    refused(invoke("analyze", kernel / "kernel.sass"), "kernel.sass, line 4", words)


def test_a_number_of_thousands_of_digits_is_refused_in_our_words(invoke: Invoke) -> None:
    for digits in ("9" * 5000, "0x" + "f" * 5000):
        refused(invoke("run", "baseline", "saxpy", "--set", f"lanes={digits}"), "lanes must be a whole number")

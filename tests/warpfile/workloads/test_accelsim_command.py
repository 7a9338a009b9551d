"""``warpfile trace --accelsim``: what it writes, prints and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.compiler.traceg import EXIT, text
from tests.compiler.tracez import RELEASED, VALUED, tracez, version_6
from tests.warpfile.conftest import Invoke
from warpfile.schemes import SCHEMES
from warpfile.spec.trace import Trace

STREAM = (
    "0000 ffffffff 1 R2 S2R 0 0",
    "0010 ffffffff 1 R4 LDG.E.64.SYS 1 R2 8 1 0x7f1000000000 8",
    "0020 ffffffff 0 SHFL.IDX 3 R6 R4 R255 0",
    "0030 ffffffff 1 R8 DADD 2 R4 R6 0",
    "0040 00000000 0 BRA 0 0",
    "0050 ffffffff 0 STG.E.SYS 2 R2 R8 4 2 0x7f1000001000" + " 128" * 31,
    EXIT,
)


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """Directory of a trace with two kernels of two warps."""
    folder = tmp_path / "traces"
    folder.mkdir()
    names = ("first", "_Z6secondIfEvPT_")
    for number, name in enumerate(names, 1):
        content = text(
            {0: STREAM, 1: STREAM[number:]}, {"kernel name": name, "block dim": "(64,1,1)", "nregs": "21955"}
        )
        (folder / f"kernel-{number}.traceg").write_text(content)
    (folder / "kernelslist.g").write_text("MemcpyHtoD,0x7f1000000000,512\nkernel-1.traceg\nkernel-2.traceg\n")
    return folder


def made(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "traces")


def test_every_kernel_becomes_a_numbered_trace(invoke: Invoke, folder: Path, traces: Path) -> None:
    result = invoke("trace", "--accelsim", traces, "-o", "T.npz")
    assert (result.exit_code, result.stderr) == (0, "")
    assert made(folder) == ["T-1.npz", "T-2.npz"]
    assert [Trace.load(folder / name).kernel for name in made(folder)] == ["first", "_Z6secondIfEvPT_"]
    assert [Trace.load(folder / name).instructions for name in made(folder)] == [13, 12]
    for words in ("T-1.npz", "RZ among the operands left out", "destination found among the sources", "nregs (21955)"):
        assert words in result.stdout


def test_one_kernel_keeps_its_name(invoke: Invoke, folder: Path, traces: Path) -> None:
    assert invoke("trace", "--accelsim", traces, "--kernel", "2").exit_code == 0
    assert invoke("trace", "--accelsim", traces / "kernel-1.traceg", "-o", "sub/T.npz").exit_code == 0
    assert made(folder) == ["_Z6secondIfEvPT_.npz", "sub"]
    assert Trace.load(folder / "sub" / "T.npz").kernel == "first"


@pytest.mark.parametrize(
    ("chosen", "names"),
    [
        (("*second*",), ["T.npz"]),
        (("*",), ["T-1.npz", "T-2.npz"]),
        (("1-",), ["T-1.npz", "T-2.npz"]),
        (("2-2",), ["T.npz"]),
        (("1", "*second*"), ["T-1.npz", "T-2.npz"]),
    ],
)
def test_kernels_are_taken_by_number_range_or_name(
    invoke: Invoke, folder: Path, traces: Path, chosen: tuple[str, ...], names: list[str]
) -> None:
    options = [word for one in chosen for word in ("--kernel", one)]
    assert invoke("trace", "--accelsim", traces, *options, "-o", "T.npz").exit_code == 0
    assert made(folder) == names


@pytest.mark.parametrize("name", ["k.traceg", "k.tracez"])
@pytest.mark.parametrize(("scheme", "preset"), [("baseline", "tiny"), ("corf", "fermi"), ("modern", None)])
def test_a_trace_with_values_runs_on_schemes_of_all_kinds(
    invoke: Invoke, folder: Path, name: str, scheme: str, preset: str | None
) -> None:
    content = tracez([VALUED]) if name.endswith("z") else version_6({0: VALUED}).encode()
    (folder / name).write_bytes(content)
    assert invoke("trace", "--accelsim", name, "-o", "T.npz").exit_code == 0
    result = invoke("run", scheme, "T.npz", *(("--preset", preset) if preset else ()), "--json", "f.json")
    assert (result.exit_code, result.stderr) == (0, "")
    facts = json.loads((folder / "f.json").read_text())["schemes"][scheme]
    assert facts["instructions"] == 6
    assert facts["operands_checked"] > 0


def test_without_enough_values_a_scheme_that_decides_by_them_refuses(invoke: Invoke, folder: Path) -> None:
    (folder / "k.tracez").write_bytes(tracez([RELEASED]))
    result = invoke("trace", "--accelsim", "k.tracez", "-o", "T.npz")
    assert "values of 1 of 2 results are in the file" in result.stdout
    (folder / "k.tracez").write_bytes(tracez([["0000 ffffffff 1 R9 S2R 0 0 0 0 NoVal", *RELEASED]]))
    result = invoke("trace", "--accelsim", "k.tracez", "-o", "T.npz")
    assert "values of 1 of 3 results are in the file: too few" in result.stdout
    result = invoke("run", "corf", "T.npz", "--preset", "fermi")
    assert result.exit_code == 2 and "must have register values" in result.stderr


def test_default_names_tell_the_kernels_apart(invoke: Invoke, folder: Path, traces: Path) -> None:
    headers = ("--header", "kernel name=void f<int, 3>(float*)")
    assert invoke("trace", "--accelsim", traces, *headers).exit_code == 0
    assert made(folder) == ["void_f_int_3_float_-1.npz", "void_f_int_3_float_-2.npz"]


def test_json_states_what_was_repaired(invoke: Invoke, folder: Path, traces: Path) -> None:
    headers = ("--header", "nregs=16")
    result = invoke("trace", "--accelsim", traces, "--kernel", "1", "-o", "T.npz", "--json", "f.json", *headers)
    assert result.exit_code == 0
    (facts,) = json.loads((folder / "f.json").read_text())["kernels"]
    assert facts.pop("seconds") > 0
    assert facts.pop("notes") == list(Trace.load(folder / "T.npz").notes)
    assert facts == {
        "kernel": "first",
        "number": 1,
        "file": str(traces / "kernel-1.traceg"),
        "trace": "T.npz",
        "warps": 2,
        "instructions": 13,
        "program": 7,
        "lines": (traces / "kernel-1.traceg").read_text().count("\n"),
        "expectations": [],
        "repairs": {
            "zero_registers": {"instructions": 1, "records": 2},
            "moved_destinations": {"instructions": 1, "records": 2},
            "wide_operands": {"instructions": 3, "records": 6},
        },
    }


def test_an_imported_trace_runs_without_value_checks(invoke: Invoke, folder: Path, traces: Path) -> None:
    assert invoke("trace", "--accelsim", traces, "--kernel", "1", "-o", "T.npz").exit_code == 0
    result = invoke("run", "baseline", "T.npz", "--preset", "tiny", "--json", "f.json")
    assert (result.exit_code, result.stderr) == (0, "")
    facts = json.loads((folder / "f.json").read_text())["schemes"]["baseline"]
    assert facts["instructions"] == 13
    assert facts["operands_checked"] == 0


@pytest.mark.check
def test_rtl_and_golden_model_agree_on_an_imported_trace(invoke: Invoke, folder: Path, traces: Path) -> None:
    assert invoke("trace", "--accelsim", traces, "--kernel", "1", "-o", "T.npz").exit_code == 0
    result = invoke("cosim", "baseline", "T.npz", "--preset", "tiny", "--set", "lanes=1", "--json", "f.json")
    assert result.exit_code == 0, result.stderr
    facts = json.loads((folder / "f.json").read_text())["schemes"]["baseline"]
    assert (facts["mismatches"], facts["operands_checked"], facts["instructions"]) == (0, 0, 13)


@pytest.mark.check
@pytest.mark.needs("iverilog")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_rtl_and_golden_model_agree_on_a_packed_trace_of_version_6(invoke: Invoke, folder: Path, scheme: str) -> None:
    (folder / "k.tracez").write_bytes(tracez([VALUED, VALUED[:2] + VALUED[-2:]], **{"block dim": "(64,1,1)"}))
    assert invoke("trace", "--accelsim", "k.tracez", "-o", "T.npz").exit_code == 0
    machine = ("--preset", "tiny", "--set", "lanes=1", "--simulator", "icarus")
    result = invoke("cosim", scheme, "T.npz", *machine, "--json", "f.json")
    assert result.exit_code == 0, result.stderr
    facts = json.loads((folder / "f.json").read_text())["schemes"][scheme]
    assert (facts["mismatches"], facts["instructions"]) == (0, 10)
    assert facts["operands_checked"] > 0


def refused(invoke: Invoke, *arguments: object) -> str:
    result = invoke("trace", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--accelsim", "absent"), "absent: must be a directory with kernelslist.g"),
        (("--accelsim", "traces", "--kernel", "3"), "--kernel must be from 1 to 2"),
        (("--accelsim", "traces", "--kernel", "0"), "--kernel must be from 1 to 2"),
        (("--accelsim", "traces", "--kernel", "2-1"), "--kernel must be from 1 to 2"),
        (("--accelsim", "traces", "--kernel", "2-3"), "--kernel must be from 1 to 2, the kernels of traces, not 2-3"),
        (("--accelsim", "traces", "--kernel", "third*"), "'third*' fits none: first, _Z6secondIfEvPT_"),
        (("--accelsim", "traces", "saxpy"), "--accelsim must go without KERNEL"),
        (("--accelsim", "traces", "--setting", "large"), "--accelsim must go without KERNEL"),
        (("--accelsim", "traces", "-o", "T.bin"), "-o must name a .npz file"),
        (("--accelsim", "traces", "--header", "shmem"), "--header must be KEY=VALUE, not 'shmem'"),
        (("--accelsim", "traces", "--header", "size=3"), "--header: key must be one of"),
        (("--accelsim", "traces", "--header", "grid dim=(0,0,0)"), "grid dim must be three sizes"),
        (("saxpy", "--kernel", "1"), "--kernel and --header must go with --accelsim"),
    ],
)
def test_a_wrong_request_is_refused(
    invoke: Invoke, folder: Path, traces: Path, arguments: tuple[str, ...], words: str
) -> None:
    assert words in refused(invoke, *arguments)
    assert made(folder) == []


def test_a_malformed_kernel_leaves_no_trace_of_the_others(invoke: Invoke, folder: Path, traces: Path) -> None:
    path = traces / "kernel-2.traceg"
    lines = path.read_text().splitlines(keepends=True)
    number = next(at for at, line in enumerate(lines, 1) if "STG" in line)
    lines[number - 1] = lines[number - 1].replace(" 128", "", 1)
    path.write_text("".join(lines))
    problem = refused(invoke, "--accelsim", "traces", "-o", "T.npz", "--json", "f.json")
    assert f"kernel-2.traceg, line {number}: address mode 2 must have a base and 31 distances" in problem
    assert made(folder) == []


def test_traces_replace_no_directory(invoke: Invoke, folder: Path, traces: Path) -> None:
    (folder / "T-2.npz").mkdir()
    assert "T-2.npz must be a file" in refused(invoke, "--accelsim", "traces", "-o", "T.npz")
    assert made(folder) == ["T-2.npz"]

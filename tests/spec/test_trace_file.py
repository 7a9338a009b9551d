"""A trace file is taken whole or refused in one line: every rule of docs/trace.md, broken once."""

from __future__ import annotations

import dataclasses
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warpfile.compiler import parse
from warpfile.emulator.launch import Launch
from warpfile.emulator.run import execute
from warpfile.spec import trace_file
from warpfile.spec.stress import stress_trace
from warpfile.spec.trace import Trace, TraceError

Arrays = dict[str, np.ndarray]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("trace") / "t.npz"
    stress_trace(seed=1).save(path)
    return path.read_bytes()


def unpacked(data: bytes) -> tuple[dict[str, Any], Arrays]:
    with np.load(io.BytesIO(data)) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return json.loads(arrays.pop("meta").tobytes()), arrays


def refusal(folder: Path, meta: object, arrays: Arrays) -> str:
    """The line that refuses a file with these contents."""
    path = folder / "t.npz"
    np.savez(path, meta=np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8), **arrays)
    return refused(path)


def refused(path: Path) -> str:
    with pytest.raises(TraceError) as error:
        Trace.load(path)
    line = str(error.value)
    assert str(path) in line and "\n" not in line and len(line) < 700
    return line


def at(name: str, value: Callable[[np.ndarray], np.ndarray]) -> Callable[[Arrays], None]:
    def change(arrays: Arrays) -> None:
        arrays[name] = value(arrays[name])

    return change


def put(name: str, place: int, value: int) -> Callable[[Arrays], None]:
    def change(arrays: Arrays) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name][place] = value

    return change


def test_a_whole_file_is_taken(whole: bytes, tmp_path: Path) -> None:
    meta, arrays = unpacked(whole)
    path = tmp_path / "t.npz"
    np.savez(path, meta=np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8), **arrays)
    loaded, written = Trace.load(path), stress_trace(seed=1)
    for field in dataclasses.fields(Trace):
        assert np.array_equal(getattr(loaded, field.name), getattr(written, field.name)), field.name


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("written", at("values", lambda array: array[:3])),
        ("value_row", lambda arrays: arrays.update(values=arrays["values"][:3], written=arrays["written"][:3])),
        ("written", at("written", lambda array: array[:-1])),
        ("values", at("values", lambda array: array.astype(np.int32))),
        ("values", at("values", lambda array: array[:, :16])),
        ("values", at("values", lambda array: array.reshape(-1))),
        ("addresses", at("addresses", lambda array: array.astype(np.float64))),
        ("address_row", at("addresses", lambda array: array[:1])),
        ("instruction", put("instruction", 0, 1 << 20)),
        ("instruction", put("instruction", 0, -1)),
        ("active", at("active", lambda array: array[1:])),
        ("active", put("live", 0, 0)),
        ("execute", put("active", 0, 0)),
        ("warp_start", put("warp_start", 1, 1 << 40)),
        ("warp_start", put("warp_start", 0, 1)),
        ("warp_start", at("warp_start", lambda array: array[:-1])),
        ("warp_cta", put("warp_cta", 0, -1)),
        ("warp_cta", put("warp_cta", -1, 1 << 20)),
        ("warp_start", at("warp_cta", lambda array: array[:0])),
        ("value_row", put("value_row", 0, -7)),
        ("hints", at("hints", lambda array: np.zeros(3, dtype=np.uint64))),
        ("hints", at("hints", lambda array: array.astype(np.uint8))),
        ("original_row", at("original_row", lambda array: np.zeros(2, dtype=np.int64))),
    ],
)
def test_inconsistent_arrays_are_refused(
    whole: bytes, tmp_path: Path, name: str, change: Callable[[Arrays], None]
) -> None:
    meta, arrays = unpacked(whole)
    change(arrays)
    assert f"({name} must" in refusal(tmp_path, meta, arrays) or name == "hints"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kernel", 7),
        ("grid", [1, 1]),
        ("grid", [0, 1, 1]),
        ("grid", "111"),
        ("block", [1024, 2, 1]),
        ("block", [1 << 80, 1, 1]),
        ("shared_bytes", -1),
        ("shared_bytes", 1.5),
        ("registers", 1000),
        ("registers", 0),
        ("registers", True),
        ("source", "guessed"),
        ("source", ["emulated"]),
        ("listing", None),
        ("notes", "text"),
        ("notes", [1]),
        ("annotation", 0),
        ("descriptor", []),
        ("descriptor", {"a": "b"}),
        ("before", [1]),
        ("before", [1, 1, 1]),
        ("before", [-1, 1, 1]),
        ("program", 3),
        ("program", []),
        ("program", [[]]),
        ("program", [None]),
        ("program", {}),
    ],
)
def test_wrong_metadata_is_refused(whole: bytes, tmp_path: Path, name: str, value: object) -> None:
    meta, arrays = unpacked(whole)
    meta[name] = value
    refusal(tmp_path, meta, arrays)
    del meta[name]
    assert name in refusal(tmp_path, meta, arrays)


@pytest.mark.parametrize("wrong", [None, -1, 1 << 70, "x", [], {}, 1.5, [[1]], True])
def test_wrong_instructions_are_refused(whole: bytes, tmp_path: Path, wrong: object) -> None:
    names = [field.name for field in dataclasses.fields(stress_trace(seed=1).program[0])]
    for place, name in enumerate(names):
        meta, arrays = unpacked(whole)
        was = meta["program"][0][place]
        if type(was) is type(wrong) and name not in ("token_reads", "token_writes", "dest", "offset"):
            continue
        if (name == "operand" and type(wrong) is int and wrong > 0) or (name == "sources" and wrong == []):
            continue
        meta["program"][0][place] = wrong
        assert name in refusal(tmp_path, meta, arrays)


def test_another_version_is_refused_by_its_number(whole: bytes, tmp_path: Path) -> None:
    meta, arrays = unpacked(whole)
    assert "format warpfile-trace version 5, not 2" in refusal(tmp_path, meta | {"version": 2}, arrays)
    assert "version 5" in refusal(tmp_path, meta | {"format": "other"}, arrays)
    assert "must be a table" in refusal(tmp_path, [], arrays)


@pytest.mark.parametrize("text", [b"[" * 100_000, b"\xff", b"{", b"1" * 10_000, b"NaN"])
def test_damaged_metadata_is_refused(whole: bytes, tmp_path: Path, text: bytes) -> None:
    _, arrays = unpacked(whole)
    np.savez(tmp_path / "t.npz", meta=np.frombuffer(text, dtype=np.uint8), **arrays)
    refused(tmp_path / "t.npz")


def test_damaged_bytes_are_refused_or_do_not_matter(whole: bytes, tmp_path: Path) -> None:
    rng, refusals, path = random.Random(1), 0, tmp_path / "t.npz"
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 1, 4))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data)
        try:
            Trace.load(path)
        except TraceError:
            refusals += 1
    assert refusals > 100


def test_a_bomb_is_refused_before_it_is_unpacked(whole: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meta, arrays = unpacked(whole)
    path = tmp_path / "t.npz"
    many = np.zeros(1 << 21, dtype=np.uint8)
    np.savez_compressed(path, meta=np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8), many=many, **arrays)
    monkeypatch.setattr(trace_file, "_LARGEST", 1 << 20)
    assert path.stat().st_size < 1 << 20
    assert "its arrays must have at most 1,048,576 bytes" in refused(path)
    monkeypatch.setattr(trace_file, "_LARGEST", 1 << 10)
    assert "must have at most 1,024 bytes" in refused(path)


def test_what_the_emulator_writes_is_taken(tmp_path: Path) -> None:
    text = '\t.section\t.text.k,"ax",@progbits\nk:\n'
    code = ("S2R R0, SR_TID.X", "IADD3 R1, R0, 0x1, RZ", "EXIT")
    text += "".join(f"        /*{16 * index:04x}*/   {line} ;\n" for index, line in enumerate(code))
    listing = parse(text, "k")
    launch = Launch(Path("k"), listing, listing.functions["k"], (2, 1, 1), (40, 1, 1), 0, 0, ())
    made = execute(launch).trace
    made.save(tmp_path / "t.npz")
    assert Trace.load(tmp_path / "t.npz").instructions == made.instructions == 12

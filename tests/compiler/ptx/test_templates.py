"""Every template of one thread's operations, beside the machine code that ptxas makes of the same PTX."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from warpfile.compiler import Listing
from warpfile.compiler.ptx.listing import allocated
from warpfile.compiler.ptx.templates import TEMPLATES
from warpfile.emulator.arguments import Argument
from warpfile.emulator.launch import Launch
from warpfile.emulator.run import execute
from warpfile.kernels.toolkit import find_tool, run_tool
from warpfile.workloads.cuda import disassembled

LANES = 32
needs_ptxas = pytest.mark.needs("ptxas", "nvdisasm")
#: Of several threads; the bundled kernels execute them.
TOGETHER = ("bar", "barrier", "vote", "match", "mma", "ldmatrix", "cvta")
#: Results of the special-function unit, whose range ptxas widens by scaling.
APPROXIMATE = re.compile(r"\.(approx|full)\.")


def kind(name: str) -> str:
    """Letters of the registers of a type: ``rd`` of ``s64``."""
    if name in ("pred", "f16x2", "f16"):
        return {"pred": "p", "f16x2": "r", "f16": "rs"}[name]
    return ("f" if name[0] == "f" else "r") + {"64": "d", "32": "", "16": "s", "8": ""}[name[1:]]


def shape(opcode: str) -> tuple[str, list[str]]:
    """Kinds of the result and of the sources of a PTX instruction (PTX ISA, chapter 9)."""
    first, *parts = opcode.split(".")
    own = kind(parts[-1])
    count = max(int(found) for found in re.findall(r"\$(\d)", " ".join(TEMPLATES[opcode])))
    sources, dest = [own] * count, own
    if first in ("shl", "shr", "shf"):
        sources[-1] = "amount"
    elif first == "setp":
        dest = "p"
    elif first == "selp":
        sources[-1] = "p"
    elif first == "cvt":
        dest = kind(parts[-2])
    elif parts[0] == "wide":
        dest = "r" if own == "rs" else "rd"
        sources[2:] = ["rd"] * (count - 2)
    elif first in ("popc", "clz", "bfind"):
        dest = "r"
    return dest, sources


OPCODES = [one for one in TEMPLATES if one.split(".")[0] not in TOGETHER]
#: In place of a last source of a kind, and where it is: not of what has no literals.
LITERALS = {"r": "-77", "f": "0f40400000", "rd": "-99", "fd": "0dC014000000000000", "amount": "5"}


def variants(opcode: str) -> Iterator[tuple[str, str]]:
    """Results and sources of an opcode: registers, a literal at the end, and the result in place of each source."""
    dest, kinds = shape(opcode)
    sources = [f"%{name}{one}" for one, name in enumerate(kinds, 1)]
    yield f"%z{dest}", ", ".join(sources)
    if len(kinds) > 1 and kinds[-1] in LITERALS and ".f16" not in opcode:
        yield f"%z{dest}", ", ".join((*sources[:-1], LITERALS[kinds[-1]]))
    for at, name in enumerate(kinds):
        if name == dest and name != "p":
            yield f"%{name}{at + 1}", ", ".join(sources)


ROWS = [(opcode, *one) for opcode in OPCODES for one in variants(opcode)]
_INPUTS = {"r": "u32", "f": "f32", "rd": "u64", "fd": "f64", "rs": "u16", "amount": "u32"}


def module() -> str:
    """A kernel ``each``: three sources of every kind, then every opcode, whose result has a row of the output."""
    return "\n".join((*_HEAD, *_body(), "ret;", "}"))


_HEAD = (
    *(".version 8.0", ".target sm_75", ".address_size 64"),
    f".visible .entry each({', '.join(f'.param .u64 each_param_{at}' for at in range(len(_INPUTS) + 1))})",
    "{ .reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<4>, %amount<4>, %lane; .reg .f32 %f<4>;",
    ".reg .b64 %rd<4>, %out, %at, %base; .reg .f64 %fd<4>;",
    ".reg .pred %zp; .reg .b16 %zrs; .reg .b32 %zr; .reg .f32 %zf; .reg .b64 %zrd; .reg .f64 %zfd;",
)


def _body() -> Iterator[str]:
    yield "mov.u32 %lane, %tid.x;"
    for at, (name, typed) in enumerate(_INPUTS.items()):
        size = int(typed[1:]) // 8
        yield f"ld.param.u64 %base, [each_param_{at}]; mul.wide.s32 %at, %lane, {size}; add.s64 %base, %base, %at;"
        yield from (f"ld.global.{typed} %{name}{one}, [%base+{(one - 1) * size * LANES}];" for one in (1, 2, 3))
    yield from (f"setp.lt.s32 %p{one}, %r{one}, 0;" for one in (1, 2, 3))
    yield f"ld.param.u64 %out, [each_param_{len(_INPUTS)}]; mul.wide.s32 %at, %lane, 8; add.s64 %out, %out, %at;"
    for row, (opcode, result, sources) in enumerate(ROWS):
        dest = shape(opcode)[0]
        typed = _INPUTS.get(dest, "pred").replace("u", "b")
        is_source = result[1] != "z"
        yield f"mov.{typed} %z{dest}, {result};" if is_source else ""
        yield f"{opcode} {result}, {sources};"
        yield "selp.u32 %zr, 1, 0, %zp;" if dest == "p" else ""
        stored = "%zr" if dest == "p" else result
        yield f"st.global.{_INPUTS.get(dest, 'u32')} [%out+{8 * LANES * row}], {stored};"
        yield f"mov.{typed} {result}, %z{dest};" if is_source else ""


def buffers() -> tuple[Argument, ...]:
    """Random sources; floating-point values are neither tiny nor huge, amounts go beyond the width."""
    rng = np.random.default_rng(75)
    made = {
        "r": rng.integers(0, 1 << 32, 3 * LANES, dtype=np.uint32),
        "f": rng.uniform(0.5, 40, 3 * LANES).astype(np.float32),
        "rd": rng.integers(0, 1 << 64, 3 * LANES, dtype=np.uint64),
        "fd": rng.uniform(-40, 40, 3 * LANES),
        "rs": rng.integers(0, 1 << 16, 3 * LANES, dtype=np.uint16),
        "amount": rng.integers(0, 80, 3 * LANES, dtype=np.uint32),
    }
    made["r"][: LANES // 2] &= np.uint32(0xFF)
    out = Argument("out", "buffer", init=np.zeros(LANES * len(ROWS), dtype=np.uint64))
    return (*(Argument(name, "buffer", init=made[name]) for name in _INPUTS), out)


def output(listing: Listing) -> np.ndarray:
    function = listing.function("each")
    launch = Launch(Path("each.toml"), listing, function, (1, 1, 1), (LANES, 1, 1), 0, 0, buffers())
    return execute(launch).buffers["out"].reshape(len(ROWS), LANES)


def machine_code(folder: Path) -> Listing:
    source, cubin = folder / "each.ptx", folder / "each.cubin"
    source.write_text(module())
    run_tool([str(find_tool("ptxas")), "-arch=sm_75", "-o", str(cubin), str(source)])
    return disassembled(cubin.read_bytes(), "each")


def differing(ours: np.ndarray, theirs: np.ndarray) -> set[str]:
    """Opcodes whose results differ; of approximate ones by more than two units in the last place."""
    found = set()
    for (opcode, *_), one, other in zip(ROWS, ours, theirs, strict=True):
        if APPROXIMATE.search(opcode):
            values = [row.astype(np.uint32).view(np.float32).astype(np.float64) for row in (one, other)]
            same = np.allclose(*values, rtol=2**-22, atol=2**-22)
        else:
            same = bool((one == other).all())
        found |= set() if same else {opcode}
    return found


@needs_ptxas
def test_templates_compute_what_machine_code_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = output(machine_code(tmp_path))
    assert differing(output(allocated(module(), "each")), theirs) == set()
    monkeypatch.setitem(TEMPLATES, "sub.s32", TEMPLATES["add.s32"])
    monkeypatch.setitem(TEMPLATES, "cos.approx.f32", TEMPLATES["sin.approx.f32"])
    assert differing(output(allocated(module(), "each")), theirs) == {"sub.s32", "cos.approx.f32"}

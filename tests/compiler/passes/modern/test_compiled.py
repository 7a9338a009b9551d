"""Code that the compiler of NVIDIA makes now, at several levels and for several machines, keeps our distances."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from warpfile.compiler import load_listing
from warpfile.compiler.architectures import preset
from warpfile.compiler.model import Function
from warpfile.compiler.passes.modern.latency_check import uncovered
from warpfile.kernels.toolkit import find_tool, run_tool
from warpfile.schemes import find
from warpfile.spec.config import Config

KERNELS = Path(__file__).resolve().parents[4] / "kernels"
NAMES = sorted(path.parent.name for path in KERNELS.glob("*/kernel.cu"))
#: GPUs that differ; code for sm_80 and sm_89 at -O3 is in tests/compiler/test_architectures.py.
MACHINES = (75, 86, 90, 100, 120)

pytestmark = [pytest.mark.check, pytest.mark.needs("nvcc", "ptxas", "nvdisasm")]


def compiled(machine: int, source: Path) -> Iterator[Path]:
    """Listings of a program at each level for a machine; the levels are those of the code generator."""
    nvcc, ptxas, nvdisasm = (str(find_tool(tool)) for tool in ("nvcc", "ptxas", "nvdisasm"))
    ptx, gpu = source.with_suffix(f".{machine}.ptx"), f"-arch=sm_{machine}"
    run_tool([nvcc, gpu, "-ptx", "-o", str(ptx), f"-I{KERNELS}", str(source)])
    for level in ("1", "2", "3"):
        cubin = ptx.with_suffix(f".{level}.cubin")
        run_tool([ptxas, gpu, f"-O{level}", "-o", str(cubin), str(ptx)])
        listing = cubin.with_suffix(".sass")
        listing.write_text(run_tool([nvdisasm, "-hex", str(cubin)]))
        yield listing


def programs(folder: Path) -> Iterator[Path]:
    """All kernels in few programs, because compiler and disassembler take longer to start than for a kernel.

    Those with headers of CUDA are programs of their own: names of these headers are names of other kernels.
    """
    together = folder / "together.cu"
    with together.open("w") as file:
        for name in NAMES:
            text = (KERNELS / name / "kernel.cu").read_text()
            include = f'#include "{name}/kernel.cu"\n'
            if "#include" in text:
                alone = folder / f"{name}.cu"
                alone.write_text(include)
                yield alone
                continue
            macros = "".join(f"#undef {macro}\n" for macro in re.findall(r"^#define (\w+)", text, re.MULTILINE))
            file.write(f"namespace in_{name} {{\n{include}}}\n{macros}")
    yield together


def early(program: str, functions: Iterable[Function], cfg: Config) -> list[str]:
    return [f"{program} {function.name}: {one}" for function in functions for one in uncovered(function, cfg)]


@pytest.mark.parametrize("machine", MACHINES, ids="sm_{}".format)
def test_no_reader_comes_before_what_it_reads(machine: int, tmp_path: Path) -> None:
    cfg, seen = find("modern").configuration(preset(machine)), Counter[str]()
    for source in programs(tmp_path):
        for path in compiled(machine, source):
            functions = load_listing(path).functions
            assert early(path.stem, functions.values(), cfg) == []
            seen.update(functions.keys())
    assert {name: seen[name] for name in NAMES} == dict.fromkeys(NAMES, 3)


def test_a_latency_of_one_cycle_more_would_be_too_much(tmp_path: Path) -> None:
    """With ``dependences`` of a scoreboard such a machine may be built; here its distances are held against codes."""
    source = tmp_path / "random_walk.cu"
    source.write_text('#include "random_walk/kernel.cu"')
    *_, listing = compiled(75, source)
    functions = load_listing(listing).functions.values()
    slow = find("modern").configuration("turing_rfc", dependences="scoreboard", alu_latency=4, fma_latency=4)
    object.__setattr__(slow, "dependences", "control_codes")
    assert early(listing.stem, functions, slow)

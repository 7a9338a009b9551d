"""Code that the compiler of NVIDIA makes now, at several levels and for several machines, keeps our distances."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from warpfile.compiler import load_listing
from warpfile.compiler.architectures import preset
from warpfile.compiler.passes.modern.latency_check import uncovered
from warpfile.kernels.toolkit import find_tool, run_tool
from warpfile.schemes import find
from warpfile.spec.config import Config

KERNELS = Path(__file__).resolve().parents[4] / "kernels"
NAMES = sorted(path.parent.name for path in KERNELS.glob("*/kernel.cu"))
#: GPUs that differ; code for sm_80 and sm_89 at -O3 is in tests/compiler/test_architectures.py.
MACHINES = (75, 86, 90, 100, 120)

pytestmark = [pytest.mark.check, pytest.mark.needs("nvcc", "ptxas", "nvdisasm")]


def compiled(name: str, folder: Path) -> Iterator[tuple[int, Path]]:
    """Listings of a kernel with the machine that each is for; the levels are those of the code generator."""
    nvcc, ptxas, nvdisasm = (str(find_tool(tool)) for tool in ("nvcc", "ptxas", "nvdisasm"))
    for machine in MACHINES:
        ptx, gpu = folder / f"{machine}.ptx", f"-arch=sm_{machine}"
        run_tool([nvcc, gpu, "-ptx", "-o", str(ptx), f"{name}/kernel.cu"], KERNELS)
        for level in ("1", "2", "3"):
            cubin = folder / f"{machine}-{level}.cubin"
            run_tool([ptxas, gpu, f"-O{level}", "-o", str(cubin), str(ptx)])
            listing = cubin.with_suffix(".sass")
            listing.write_text(run_tool([nvdisasm, "-hex", str(cubin)]))
            yield machine, listing


def early(listing: Path, cfg: Config) -> list[str]:
    return [
        f"{listing.name}: {one}"
        for function in load_listing(listing).functions.values()
        for one in uncovered(function, cfg)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_no_reader_comes_before_what_it_reads(name: str, tmp_path: Path) -> None:
    for machine, listing in compiled(name, tmp_path):
        assert early(listing, find("modern").configuration(preset(machine))) == []


def test_a_latency_of_one_cycle_more_would_be_too_much(tmp_path: Path) -> None:
    """With ``dependences`` of a scoreboard such a machine may be built; here its distances are held against codes."""
    listing = dict(compiled("random_walk", tmp_path))[75]
    slow = find("modern").configuration("turing_rfc", dependences="scoreboard", alu_latency=4, fma_latency=4)
    object.__setattr__(slow, "dependences", "control_codes")
    assert early(listing, slow)

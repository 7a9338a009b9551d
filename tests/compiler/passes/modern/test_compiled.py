"""Code that the compiler of NVIDIA makes now, at several levels and for several machines, keeps our distances."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from warpfile.compiler import load_listing
from warpfile.compiler.passes.modern.covering import uncovered
from warpfile.kernels.toolkit import find_tool, run_tool
from warpfile.schemes import find
from warpfile.spec.config import Config

KERNELS = Path(__file__).resolve().parents[4] / "kernels"
NAMES = sorted(path.parent.name for path in KERNELS.glob("*/kernel.cu"))
PRESETS = {"sm_75": "turing_rfc", "sm_80": "ampere", "sm_86": "ampere", "sm_90": "ampere"}
#: HMMA, and on sm_90 double precision, has a fixed latency on these, which the preset does not have.
NOT_ON = {"tensor": ("sm_80", "sm_86", "sm_90"), "divide_double": ("sm_90",), "mathlib": ("sm_90",)}
#: sm_90 has no preset of its own: the low register of its IMAD.WIDE may be read a tick sooner than that of ampere.
SOONER = ("sm_90", "IMAD.WIDE", "and needs 4")

pytestmark = [pytest.mark.check, pytest.mark.needs("nvcc", "nvdisasm")]


def compiled(name: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """Listings of a kernel with the machine that each is for; the levels are those of the code generator."""
    nvcc, nvdisasm = str(find_tool("nvcc")), str(find_tool("nvdisasm"))
    for machine in PRESETS:
        for level in ("1", "2", "3"):
            cubin = folder / f"{machine}-{level}.cubin"
            run_tool(
                [nvcc, f"-arch={machine}", "-Xptxas", f"-O{level}", "-cubin", "-o", str(cubin), f"{name}/kernel.cu"],
                KERNELS,
            )
            listing = cubin.with_suffix(".sass")
            listing.write_text(run_tool([nvdisasm, "-hex", str(cubin)]))
            yield machine, listing


def early(listing: Path, cfg: Config) -> list[str]:
    return [
        f"{listing.name}: {one}"
        for function in load_listing(listing).functions.values()
        for one in uncovered(function, cfg)
    ]


def is_sooner(machine: str, listing: Path, one: str) -> bool:
    """Whether a reader that comes too early is one of :data:`SOONER`."""
    where, opcode, needs = SOONER
    writer = int(re.search(r"after (0x[0-9a-f]+) wrote", one)[1], 16)
    return (
        machine == where
        and one.endswith(needs)
        and f"/*{writer:04x}*/ {opcode}" in re.sub(" +", " ", listing.read_text())
    )


@pytest.mark.parametrize("name", NAMES)
def test_no_reader_comes_before_what_it_reads(name: str, tmp_path: Path) -> None:
    found = []
    for machine, listing in compiled(name, tmp_path):
        if machine not in NOT_ON.get(name, ()):
            too_early = early(listing, find("modern").configuration(PRESETS[machine]))
            found += [one for one in too_early if not is_sooner(machine, listing, one)]
    assert not found


def test_a_latency_of_one_cycle_more_would_be_too_much(tmp_path: Path) -> None:
    """With ``dependences`` of a scoreboard such a machine may be built; here its distances are held against codes."""
    listing = dict(compiled("random_walk", tmp_path))["sm_75"]
    slow = find("modern").configuration("turing_rfc", dependences="scoreboard", alu_latency=4, fma_latency=4)
    object.__setattr__(slow, "dependences", "control_codes")
    assert early(listing, slow)

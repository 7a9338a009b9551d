"""Bundled kernels as allocated PTX: executed against NumPy, and read as the compiler reads any listing."""

from __future__ import annotations

from functools import cache

import pytest

from warpfile.compiler import Listing, parse
from warpfile.compiler.cfg import build_cfg
from warpfile.compiler.liveness import general_registers, liveness, predicates
from warpfile.compiler.ptx.listing import allocated
from warpfile.emulator.launch import load_kernel
from warpfile.emulator.run import execute
from warpfile.kernels import build
from warpfile.kernels.reference import KERNELS, names
from warpfile.output.display import silent
from warpfile.results.run import golden_run
from warpfile.schemes import find

#: Vectors, warps that work together, predicates beyond seven, products of matrices, quotients, shared memory.
FEW = ("conv_layer", "fft64", "half2", "merge_step", "nbody", "scan", "spmv", "tensor", "warp_reduce")
REFUSED = {
    "bytecode": "must be a kernel without constants of a module",
    "calls": "must be a kernel without a function that is called",
    "divide_double": "div.rn.f64 is not lowered",
    "mathlib": "must be a kernel without a function that is called",
}
CASES = [pytest.param(name, marks=() if name in FEW else pytest.mark.check) for name in names() if name not in REFUSED]
pytestmark = pytest.mark.needs("nvcc")


@cache
def listing(name: str) -> Listing:
    return allocated(build.ptx(KERNELS / name / "kernel.cu", build.TARGET), name)


@pytest.mark.parametrize("name", CASES)
def test_bundled_kernels_give_what_numpy_gives(name: str) -> None:
    result = execute(load_kernel(KERNELS / name, "launch", listing(name)))
    assert result.expectations and all(one.ok for one in result.expectations), result.expectations
    assert result.trace.registers <= (listing(name).function(name).registers or 0)


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_read_that_no_instruction_has_written(name: str) -> None:
    """By the liveness of machine code, which knows nothing of virtual registers: only R1, which every EXIT reads."""
    live = liveness(build_cfg(listing(name).function(name))).live_in[0]
    assert general_registers(live) == (1,) and predicates(live) == ()


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_kernels_that_are_refused_say_why(name: str) -> None:
    with pytest.raises(ValueError) as found:
        listing(name)
    said = str(found.value)
    assert said.startswith(f"{name}: PTX, line ") and said.endswith(f": {REFUSED[name]}")


def test_a_listing_is_its_text_and_the_same_every_time() -> None:
    found = listing("scan")
    assert parse(found.text, "scan") == found and found.warnings == () and found.architecture == build.TARGET
    assert allocated(build.ptx(KERNELS / "scan" / "kernel.cu", build.TARGET), "scan") == found


def test_schemes_run_such_a_trace_and_one_that_needs_control_codes_refuses_it() -> None:
    trace = execute(load_kernel(KERNELS / "scan", "launch", listing("scan"))).trace
    for scheme, preset in (
        ("baseline", "maxwell"),
        ("ltrf_plus", "maxwell"),
        ("pilot", "kepler"),
        ("bow_wr", "pascal"),
    ):
        cfg = find(scheme).configuration(preset)
        assert golden_run(find(scheme), cfg, preset, trace, silent).operands_checked
    cfg = find("modern").configuration("turing_rfc")
    with pytest.raises(ValueError, match="control codes"):
        golden_run(find("modern"), cfg, "turing_rfc", trace, silent)

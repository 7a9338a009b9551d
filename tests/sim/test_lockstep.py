"""RTL equals golden model: seeded stress traces on awkward machines, bundled kernels at 32 lanes."""

import pytest

from tests.golden.dealing import instructions_of
from tests.golden.scenario import hand_trace, op
from tests.golden.test_steady_state import PATTERNS
from warpfile.emulator.launch import load_kernel
from warpfile.emulator.run import execute
from warpfile.schemes import SCHEMES
from warpfile.sim.runner import cosim
from warpfile.spec.presets import PRESETS
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.workloads.inputs import bundled_kernels

BASELINE = SCHEMES["baseline"]
KERNELS = ("saxpy", "matmul_tiled", "stencil", "collatz", "warp_reduce", "histogram", "unrolled_poly", "spmv")


def run(preset, trace, root, simulator="verilator", **changes):
    """Lockstep run that must find no difference, and must have compared something."""
    cfg = PRESETS[preset].config.replace(**changes)
    report = cosim(BASELINE, cfg, trace, preset=preset, simulator=simulator, build_root=root / "build")
    assert report.outcome.mismatches == 0, report.outcome.first_mismatch
    assert report.outcome.instructions == instructions_of(cfg, trace) > 0
    assert report.outcome.operands_checked == report.outcome.golden_operands_checked
    return report


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_tiny_runs_every_stress_profile(root, profile):
    for seed in range(3):
        print(f"seed {seed}")
        trace = stress_trace(seed, warps_per_cta=[3, 1, 2], ctas=9, length=120, profile=profile)
        assert run("tiny", trace, root).outcome.operands_checked


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_tiny_runs_in_icarus(root, profile):
    trace = stress_trace(7, warps_per_cta=[2, 3], ctas=3, length=40, profile=profile)
    assert run("tiny", trace, root, "icarus").outcome.operands_checked


@pytest.mark.check
@pytest.mark.parametrize(
    "preset", ["turing", *(pytest.param(name, marks=pytest.mark.regress) for name in ("pascal", "isca2011", "kepler"))]
)
def test_narrow_presets_run_stress_traces(root, preset):
    domains = PRESETS[preset].config.domains
    for seed in range(4):
        print(f"seed {seed}")
        trace = stress_trace(seed, warps_per_cta=[4 * domains, 1, 3 * domains - 1], ctas=12, length=120)
        assert run(preset, trace, root, lanes=1, domain=seed % domains).outcome.operands_checked


@pytest.mark.check
@pytest.mark.parametrize(
    "changes",
    [
        {"banks": 1, "collectors": 1, "warps": 3, "source_slots": 1, "ports": 1, "scheduler": "lrr"},
        {
            "bank_cycles": 3,
            "bank_ports": "1R1W",
            "collect": "one",
            "bank_arbitration": "oldest",
            "bank_skew": "row",
            "banks": 3,
        },
        {"bank_cycles": 2, "collect": "all", "dispatch_arbitration": "oldest", "buffer_depth": 3, "branch_delay": 0},
        {"banks": 6, "collect": "one", "bank_skew": "none", "source_slots": 8, "buffer_depth": 1, "scheduler": "lrr"},
        {"ports": 6, "write_back_ports": 3, "collect": "all", "collectors": 5, "result_queue": 1},
        {"ports": 6, "write_back_ports": 6, "banks": 6, "dispatch_arbitration": "oldest"},
        {"ports": 4, "write_back_ports": 1, "bank_cycles": 2},
        {"banks": 128, "rows": 4, "bank_skew": "row", "retake": "same", "collect": "all"},
        {"retake": "same", "collectors": 2, "collect": "one", "ports": 6, "port_queue": 2},
    ],
    ids=[
        "one_of_each",
        "slow_two_port_banks",
        "slow_single_port_banks",
        "one_fill_of_many_requests",
        "ports_that_share_the_way_back",
        "a_port_for_each_unit_both_ways",
        "one_way_back",
        "many_banks",
        "units_taken_again_at_once",
    ],
)
def test_awkward_configurations_run_stress_traces(root, changes):
    for seed in range(3):
        print(f"seed {seed}")
        trace = stress_trace(seed, warps_per_cta=[3, 1, 2], ctas=9, length=120)
        assert run("tiny", trace, root, lanes=2, **changes).outcome.operands_checked


@pytest.mark.parametrize(("sources", "dests", "law"), PATTERNS)
def test_the_rtl_obeys_the_law_of_bank_conflicts(root, sources, dests, law):
    changes = {"lanes": 1, "banks": 2, "rows": 64, "bank_ports": "1RW", "collectors": 4, "collect": "all"}
    changes |= {"source_slots": 3, "bank_skew": "none", "alu_interval": 1, "alu_latency": 4, "register_names": 64}

    def cycles(length):
        trace = hand_trace([op(sources, dests[k % len(dests)]) for k in range(length)], registers=64)
        return run("tiny", trace, root, **changes).outcome.cycles

    assert (cycles(800) - cycles(400)) / 400 == pytest.approx(law, abs=0.05)


def kernel_trace(root, name, setting="launch"):
    result = execute(load_kernel(root / "kernels" / name, setting))
    assert all(expectation.ok for expectation in result.expectations)
    return result.trace


RUNS = [("turing", kernel) for kernel in bundled_kernels()]
RUNS += [pytest.param("fermi", kernel, marks=pytest.mark.regress) for kernel in KERNELS]


@pytest.mark.parametrize(("preset", "kernel"), RUNS)
def test_bundled_kernels_run_at_32_lanes(root, preset, kernel):
    report = run(preset, kernel_trace(root, kernel), root)
    assert report.outcome.lanes_checked > report.outcome.operands_checked

"""RTL of every scheme equals its golden model: stress traces on small machines, bundled kernels at 32 lanes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from tests.compiler.passes.pilot import test_annotate as fast_part
from tests.golden.dealing import instructions_of
from tests.golden.scenario import hand_trace, op
from tests.schemes.collector_examples import UNITS, WINDOWS
from tests.schemes.examples import CACHE, INTERVALS, dying
from tests.schemes.worked_hints import Example, Said, label
from warpfile import tools
from warpfile.schemes import SCHEMES, find, variants
from warpfile.sim.runner import CosimReport, cosim
from warpfile.spec.annotation import on_last_beat
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace
from warpfile.workloads.inputs import obtain_trace

#: Every scheme beside the baseline; of variants ``make test`` has what Icarus runs, and regressions the rest.
#: (``test_shared_rows`` has what stress traces do not reach of ``larf``.)
OTHERS = [name for name in SCHEMES if name != "baseline"]
#: Of these another one has the same modules, or nearly; at 32 lanes a build takes up to half a minute.
HALVES = ("bow", "regmutex_paired", "ltrf_plus", "corf")
WIDE = [
    pytest.param(name, marks=pytest.mark.regress if name in HALVES or name in variants() else ())
    for name in (*OTHERS, *variants())
]
WITH_VARIANTS = [*OTHERS, *(pytest.param(name, marks=pytest.mark.regress) for name in variants())]
#: Of stress traces, each as it is and with looser hints; ``make test`` has the first.
SEEDS = [0, pytest.param(1, marks=pytest.mark.regress)]
#: Traces of schemes and variants in Icarus. Of listed schemes it runs a mixed one on the files that users get, too
#: (``tests/warpfile/verilog/test_generate.py``), so that on the text of the lockstep ``make test`` has the other one.
IN_ICARUS = [
    pytest.param(name, profile, marks=pytest.mark.regress if profile == "mixed" and name in SCHEMES else ())
    for name in (*OTHERS, *variants())
    for profile in ("mixed", "mask")
]
#: Icarus builds without a C++ compiler, three times as fast, and runs a few beats as soon.
FOR_FEW_BEATS = "icarus" if tools.find("iverilog") else "verilator"
#: A warp leaves for any load, if a ready one needs its place, and comes back for all its loads.
OUTSTANDING = {"suspend": "outstanding", "resume": "all", "suspend_load": "needed", "suspend_barrier": "needed"}
#: One bank, six ports and units that answer at once: a result is late, an eviction waits, whatever it is.
CROWDED = {"banks": 1, "window": 2, "window_entries": 3, "ports": 6, "write_back_ports": 6} | dict.fromkeys(
    (f"{unit}_latency" for unit in ("alu", "fma", "double", "tensor", "sfu", "shared", "texture", "hit", "miss")), 2
)
#: Configurations that are unlike the scheme's own: scheme, preset, what is changed. Each is a simulation of its own:
#: ``make test`` has one or two of every scheme, with all that the scheme has of its own; the others are regressions.
AWKWARD = [
    ("bow", "tiny", {"window": 2, "window_entries": 3, "bank_ports": "1R1W", "bank_cycles": 2, "ports": 1, "banks": 3}),
    ("bow_wr", "tiny", {"ports": 6, "write_back_ports": 3, "window": 4}),
    ("malekeh", "tiny", {"collectors": 4, "unit_entries": 16, "source_slots": 8, "banks": 6, "ports": 1}),
    ("malekeh+two_level", "tiny", {"active_warps": 3}),
    ("baseline", "tiny", {"scheduler": "two_level", "active_warps": 3, "suspend": "always", "collectors": 1}),
    (
        "rfc",
        "tiny",
        {"active_warps": 5, "suspend": "never", "long_results": "allocate", "cache_entries": 5, "banks": 6},
    ),
    ("rfc", "tiny", {"partial_results": "lanes", "replacement": "evict_first", "cache_entries": 3, "write_queue": 1}),
    ("rfc", "tiny", {"starved_after": 3, "branch_delay": 12}),
    ("bow_wr+pilot", "tiny", {"fast_registers": 3, "profile": "pilot", "bank_cycles": 2, "banks": 6}),
    ("pilot", "tiny", {"remap": "migrate", "rename_latency": 1, "fast_registers": 3, "collect": "all", "banks": 3}),
    ("pilot", "tiny", {"bank_occupancy": "one", "bank_ports": "1R1W", "slow_cycles": 5, "pilot_map": "always"}),
    ("bow_wr+regmutex", "tiny", {"fair": 1, "bank_cycles": 2}),
    ("baseline+two_level", "tiny", OUTSTANDING | {"active_warps": 2, "long_from": "miss"}),
    (
        "ltrf_plus",
        "tiny",
        {"active_warps": 4, "interval_registers": 32, "crossbar_beats": 1, "resume": "head", "banks": 3},
    ),
    ("ltrf_plus", "tiny", {"active_warps": 4, "moved_back": "dirty", "recall": "spared"}),
    ("bow_wr+packed", "tiny", {"window": 2, "window_entries": 3, "alu_latency": 3}),
    ("modern", "tiny", {"dependences": "scoreboard", "read_ports": 2}),
    ("shrf", "tiny", {"orf_entries": 1, "lrf": "one", "active_warps": 3, "banks": 3, "ports": 1}),
    ("shrf+gto", "tiny", {"orf_entries": 2, "lrf": "one", "banks": 3, "ports": 1}),
    ("owf", "tiny", {"rows": 32, "banks": 4, "bank_ports": "1R1W", "bank_cycles": 2, "ports": 1}),
    ("scalar", "tiny", {"banks": 3, "collect": "all", "bank_cycles": 2, "ports": 1}),
    ("sticky", "tiny", {"ports": 6, "write_back_ports": 3, "bank_cycles": 3, "source_slots": 4, "retake": "same"}),
    ("sticky+scalar", "tiny", {"collectors": 3, "collect": "all", "alu_latency": 3}),
    *(
        pytest.param(name, "tiny", changes, marks=pytest.mark.regress)
        for name, changes in (
            ("corf_plus_virtual", {"banks": 4, "source_slots": 3, "ports": 6, "write_back_ports": 6}),
            ("bow_wr", {"window": 7, "window_entries": 9, "bank_skew": "row", "banks": 6}),
            ("malekeh", {"collectors": 1, "bank_ports": "1R1W", "bank_cycles": 2, "wait_control": "fixed"}),
            ("malekeh", {"ports": 6, "write_back_ports": 4, "result_queue": 1}),
            ("sticky", {"collect": "all", "bank_ports": "1R1W", "collectors": 1, "bank_occupancy": "one"}),
            ("sticky", {"collect": "one", "collectors": 4, "ports": 4, "bank_cycles": 2, "keep_operands": "none"}),
            ("sticky", {"forward_results": "none", "retake": "same", "banks": 3, "bank_arbitration": "oldest"}),
            ("sticky", {"forward_results": "none", "keep_operands": "none", "ports": 1, "pending_entries": 2}),
            ("sticky+cggty", {"collect": "all", "retake": "same", "ports": 6, "alu_latency": 3}),
            ("sticky+lrr", {"collectors": 4, "bank_ports": "1R1W", "dispatch_arbitration": "oldest"}),
            ("sticky+scalar", {"collect": "all", "retake": "same", "ports": 6, "bank_cycles": 2}),
            ("sticky+scalar", {"collectors": 4, "bank_ports": "1R1W", "alu_latency": 3, "keep_operands": "none"}),
            ("sticky+two_level", {"active_warps": 2, "collect": "all", "bank_cycles": 2}),
            ("baseline", {"scheduler": "two_level", "active_warps": 2}),
            ("bow+two_level", {"active_warps": 3, "window": 2}),
            ("bow_wr+two_level", {"active_warps": 2, "suspend": "always", "active_choice": "round_robin"}),
            ("rfc", {"ports": 6, "write_back_ports": 6}),
            ("rfc", {"suspend": "always", "replacement": "lru", "bank_ports": "1R1W", "cache_entries": 3}),
            (
                "rfc",
                {"replacement": "evict_first", "allocation": "hinted", "dead_bits": "ignored", "bank_cycles": 2},
            ),
            (
                "rfc",
                {"active_warps": 1, "cache_entries": 1, "write_queue": 1, "active_choice": "round_robin", "banks": 3},
            ),
            ("shrf", {"orf_entries": 8, "lrf": "none", "bank_ports": "1R1W", "bank_cycles": 2, "active_warps": 1}),
            ("shrf", {"orf_entries": 2, "source_slots": 2, "ports": 6, "write_back_ports": 6, "active_warps": 2}),
            ("shrf", {"long_from": "miss", "notice_latency": 1, "suspend": "pending", "collect": "all"}),
            ("shrf+cggty", {"orf_entries": 3, "lrf": "none", "collectors": 4, "bank_cycles": 2, "collect": "all"}),
            ("shrf+lrr", {"orf_entries": 0, "lrf": "split", "ports": 6, "write_back_ports": 6, "warps": 5}),
            ("shrf+oldest", {"orf_entries": 8, "lrf": "one", "bank_ports": "1R1W", "source_slots": 2}),
            ("owf", {"rows": 64, "warps": 5, "register_unit": 1, "collect": "all", "ports": 6, "write_back_ports": 6}),
            ("owf+two_level", {"rows": 64, "active_warps": 2} | OUTSTANDING),
            ("bow_wr+owf", {"rows": 64}),
            ("scalar", {"bank_ports": "1R1W", "ports": 6, "write_back_ports": 6}),
            ("scalar", {"bank_occupancy": "one", "bank_cycles": 3, "collect": "one", "bank_arbitration": "oldest"}),
            ("scalar+two_level", {"active_warps": 2, "banks": 1}),
            ("bow+pilot", {"slow_cycles": 5}),
            *((name, {"banks": 4, "source_slots": 3}) for name in ("corf", "corf_plus", *variants())),
            ("bow_wr+packed", CROWDED),
            ("bow_wr+packed", {"packing": 0, "window_writes": "back"}),
            ("bow_wr+packed", {"allocation": "sides", "banks": 4}),
            ("bow_wr+packed", {"allocation": "pairs", "ports": 6}),
            ("bow+packed", {"window": 7, "window_entries": 9}),
            ("bow_wr+packed+two_level", {"active_warps": 2}),
            ("first_fit_virtual+two_level", {"active_warps": 3, "bank_arbitration": "oldest", "ports": 1}),
            ("malekeh+pilot", {"bank_ports": "1R1W", "banks": 5}),
            ("pilot+two_level", {"active_warps": 3, "collect": "one"}),
            ("pilot", {"fast_registers": 5, "profile": "oracle", "low_cycles": 7, "collect": "all", "banks": 4}),
            ("pilot", {"profile": "none", "slow_cycles": 1, "low_cycles": 1}),
            ("malekeh+pilot", {"remap": "migrate", "bank_ports": "1R1W"}),
            ("bow_wr+pilot", {"bank_occupancy": "one", "bank_cycles": 2, "low_cycles": 1}),
            ("pilot", {"bank_occupancy": "one", "remap": "migrate", "collect": "one", "bank_arbitration": "oldest"}),
            ("rfc", {"bank_occupancy": "one", "bank_cycles": 3}),
            ("regmutex", {"bank_occupancy": "one", "bank_cycles": 4, "bank_ports": "1R1W"}),
            ("pilot+two_level", {"remap": "migrate", "active_warps": 2}),
            ("malekeh+regmutex", {"bank_ports": "1R1W"}),
            ("regmutex+two_level", {"active_warps": 2, "suspend": "always"}),
            ("rfc", {"active_warps": 2, "long_from": "miss", "notice_latency": 1}),
            ("malekeh+two_level", {"active_warps": 2, "suspend_load": "needed"}),
            ("bow_wr+two_level", OUTSTANDING | {"active_warps": 1}),
            ("pilot+two_level", {"active_warps": 2, "resume": "all", "long_from": "miss", "notice_latency": 6}),
            ("regmutex+two_level", OUTSTANDING | {"active_warps": 2, "long_from": "miss"}),
            ("regmutex_paired", {"pair_state": "pair", "collect": "all", "banks": 4}),
            ("ltrf", {"prefetch_unit": "strands", "control_block": "warps", "bank_cycles": 1}),
            ("rfc+ltrf", {"active_warps": 1}),
            ("ltrf", {"recall": "spared"}),
            ("ltrf_plus", {"crossbar_beats": 1, "bank_cycles": 19, "banks": 4, "collect": "all"}),
            ("ltrf_plus", {"interval_registers": 32, "banks": 1, "active_warps": 4} | OUTSTANDING),
        )
    ),
]


def run(
    name: str, preset: str, trace: Trace, root: Path, simulator: str = "verilator", **changes: object
) -> CosimReport:
    """Lockstep run that must find no difference, and must have compared something."""
    scheme = find(name)
    cfg = scheme.configuration(preset, **changes)
    report = cosim(scheme, cfg, trace, preset=preset, simulator=simulator, build_root=root / "build")
    assert report.outcome.mismatches == 0, report.outcome.first_mismatch
    assert report.outcome.instructions == instructions_of(cfg, trace) > 0
    assert report.outcome.operands_checked == report.outcome.golden_operands_checked
    return report


def loosened(name: str, preset: str, trace: Trace, seed: int, **changes: object) -> Trace:
    """A trace with hints that are right, but not always the best."""
    scheme = find(name)
    return scheme.annotated(scheme.configuration(preset, **changes), trace, seed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("profile", sorted(PROFILES))
@pytest.mark.parametrize("name", WITH_VARIANTS)
def test_tiny_runs_every_stress_profile(root: Path, name: str, profile: str, seed: int) -> None:
    trace = stress_trace(seed, warps_per_cta=[3, 1, 2], ctas=9, length=120, profile=profile)
    assert run(name, "tiny", trace, root).outcome.operands_checked
    assert run(name, "tiny", loosened(name, "tiny", trace, seed), root).outcome.operands_checked


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize(("name", "profile"), IN_ICARUS)
def test_tiny_runs_in_icarus(root: Path, name: str, profile: str) -> None:
    trace = stress_trace(7, warps_per_cta=[2, 3], ctas=3, length=40, profile=profile)
    assert run(name, "tiny", loosened(name, "tiny", trace, 7), root, "icarus").outcome.operands_checked


@pytest.mark.needs("iverilog")
def test_lines_that_know_their_lanes_run_in_icarus(root: Path) -> None:
    trace = stress_trace(7, warps_per_cta=[2, 3], ctas=3, length=40, profile="mask")
    trace = loosened("rfc", "tiny", trace, 7, partial_results="lanes")
    assert run("rfc", "tiny", trace, root, "icarus", partial_results="lanes").outcome.counters["recalls"]


@pytest.mark.needs("iverilog")
def test_registers_that_move_run_in_icarus(root: Path) -> None:
    trace = loosened("pilot", "tiny", stress_trace(7, warps_per_cta=[2, 3], ctas=3, length=40), 7)
    assert run("pilot", "tiny", trace, root, "icarus", remap="migrate").outcome.counters["migrated_pairs"]


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize(("pilot_map", "kept"), [("checked", 1), ("always", 0)])
def test_a_list_that_the_pilot_has_missed_is_kept_in_icarus(root: Path, pilot_map: str, kept: int) -> None:
    trace = stress_trace(7, warps_per_cta=[2, 3], ctas=3, length=40, profile="mask")
    report = run("pilot", "tiny", loosened("pilot", "tiny", trace, 7), root, "icarus", pilot_map=pilot_map)
    found = report.outcome.counters
    assert (found["lists_kept"], bool(found["warps_new_map"])) == (kept, not kept)


@pytest.mark.check
@pytest.mark.parametrize(("profile", "reads", "writes"), [("compiler", 1, 1), ("oracle", 5, 5)])
def test_a_listing_decides_which_registers_are_fast(root: Path, profile: str, reads: int, writes: int) -> None:
    found = run("pilot", "tiny", fast_part.example(), root, fast_registers=2, profile=profile).outcome.counters
    assert found["fast_reads_high"] + found["fast_reads_low"] == reads
    assert found["fast_writes_high"] + found["fast_writes_low"] == writes


@pytest.mark.check
@pytest.mark.parametrize(("name", "stored"), [("regmutex", 2), ("bow_wr+regmutex", 0)])
def test_a_listing_decides_where_a_section_is_held(root: Path, name: str, stored: int) -> None:
    """Eight registers for life: from the ninth definition, R8, until R8 and R9 are read, one section of four.

    A window of three beats has both until then, so that no bank needs them.
    """
    code = [*(f"MOV R{number}, {number:#x}" for number in range(10)), "IADD3 R0, R0, R8, R9"]
    code += ["IADD3 R0, R0, R1, R2", "IADD3 R3, R3, R4, R5", "IADD3 R6, R6, R7, R0", "IADD3 R6, R6, R3, RZ"]
    said = dict.fromkeys(range(len(code) + 1), Said())
    trace = Example("regmutex", "tiny", {}, "\n".join(code), said).trace
    found = run(name, "tiny", trace, root, es_override=4, rows=16, warps=4, register_unit=4).outcome.counters
    assert [found[f"{one}_ok"] for one in ("acq", "rel")] == [1, 1]
    assert (found["extended_accesses"], found["acq_nop"] + found["rel_nop"], found["stray_cycles"]) == (
        2 + stored,
        0,
        0,
    )
    if name == "regmutex":  # five instructions read 1, 3, 3, 3 and 2 registers of the base set and write one
        assert found["base_accesses"] == 8 + 12 + 5


@pytest.mark.check
@pytest.mark.parametrize(("name", "preset", "changes"), AWKWARD)
def test_awkward_configurations_run_stress_traces(
    root: Path, name: str, preset: str, changes: dict[str, object]
) -> None:
    for seed, profile in enumerate(("mixed", "mask", "wide")):
        print(f"seed {seed}")
        trace = stress_trace(seed, warps_per_cta=[3, 1, 2], ctas=9, length=120, profile=profile)
        trace = loosened(name, preset, trace, seed, lanes=2, **changes)
        assert run(name, preset, trace, root, lanes=2, **changes).outcome.operands_checked


@pytest.mark.check
@pytest.mark.parametrize("kernel", ["spmv", "collatz"])
@pytest.mark.parametrize("name", WIDE)
def test_kernels_run_at_32_lanes(root: Path, name: str, kernel: str) -> None:
    """On the small machine: with all its warps the scheme's own takes up to a minute to build, in the regression."""
    trace = obtain_trace(kernel, "launch", None, lambda *_: None)
    assert run(name, "tiny", trace, root, lanes=32).outcome.lanes_checked


def with_counts(example: Example, root: Path) -> None:
    """Lockstep from the example's listing on, which must find no difference and the example's counts."""
    scheme, cfg = SCHEMES[example.scheme], example.config
    outcome = cosim(scheme, cfg, example.trace, simulator=FOR_FEW_BEATS, build_root=root / "build").outcome
    assert outcome.mismatches == 0, outcome.first_mismatch
    assert outcome.instructions == len(example.said)
    assert {name: outcome.counters[name] for name in example.counters} == example.counters


@pytest.mark.check
@pytest.mark.parametrize(
    "example", [*WINDOWS, *UNITS[:2], *CACHE[:2], INTERVALS[1], dying("corf_virtual", 2, {"kills_done": 4})], ids=label
)
def test_the_worked_examples_run_from_their_listings(root: Path, example: Example) -> None:
    with_counts(example, root)


@pytest.mark.check
@pytest.mark.parametrize(("mode", "writes"), [("through", 10), ("back", 5)])
def test_operand_windows_without_hints_have_the_bank_writes_of_the_worked_example(
    root: Path, mode: str, writes: int
) -> None:
    example, counters = WINDOWS[0], {"bank_writes": writes, "bank_reads": 5, "bypassed_reads": 14}
    with_counts(
        dataclasses.replace(example, changes={**example.changes, "window_writes": mode}, counters=counters), root
    )


def test_a_wrong_write_class_is_seen(root: Path) -> None:
    """A result that is read when it has left the window, but was meant for the window only."""
    trace = hand_trace([op((), 5), *(op((), 6 + k) for k in range(4)), op((5,), 1)])
    scheme = SCHEMES["bow_wr"]
    cfg = scheme.configuration("tiny")
    label = scheme.annotated(cfg, trace).annotation
    for write_class, wrong in ((1, False), (3, False), (2, True), (0, True)):
        words = np.full(trace.instructions, 3, dtype=np.uint32)
        words[0] = write_class
        hinted = dataclasses.replace(trace, hints=on_last_beat(trace, cfg.source_slots, words), annotation=label)
        outcome = cosim(scheme, cfg, hinted, build_root=root / "build", explain=False).outcome
        assert bool(outcome.mismatches) == wrong, outcome.first_mismatch

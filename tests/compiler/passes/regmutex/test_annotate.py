"""Traces with and without listings: descriptor, stream, what is drawn, what is refused, what is shown."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.compiler.passes.regmutex.harness import config, kernel
from tests.compiler.passes.regmutex.interpreter import judged
from tests.compiler.passes.regmutex.scheduler import finishes
from tests.compiler.passes.regmutex.test_soundness import streams
from tests.golden.scenario import hand_trace, op
from warpfile.compiler.passes.regmutex.annotate import annotate, label, limits_of, shown
from warpfile.compiler.passes.regmutex.exact import in_use, stretched
from warpfile.compiler.passes.trace_listing import listed_function
from warpfile.spec.rewrite import original
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Kind, Port, Trace
from warpfile.spec.workload import prepare

BARRIER = op(kind=Kind.BARRIER, port=Port.NONE, text="BAR")
NONE = {"extended_registers": 0, "pool": 0, "sections": 0}


def loosened(trace: Trace, seed: int, **changes: Any) -> Trace:
    cfg = config("tiny", **changes)
    found = annotate(cfg, trace, seed)
    prepare(cfg, found)
    assert not judged(found, strict=cfg.pair_state == "pair").wrong
    return found


def test_a_kernel_that_registers_do_not_limit_has_a_descriptor_without_extended_set() -> None:
    trace = annotate(config(), kernel("saxpy"), None)
    assert trace.descriptor == {"base_registers": 8} | NONE
    assert not trace.inserted.any()
    assert annotate(config(es_rule="off"), kernel("chacha"), None).descriptor == {"base_registers": 40} | NONE


def test_a_launch_whose_warps_all_fit_has_no_extended_set() -> None:
    """One CTA of four warps, of 38 registers; as many as a domain hosts without the scheme: six of them."""
    for changes in ({}, {"sharing": "pairs"}):
        trace = annotate(config(**changes), kernel("chacha"), None)
        assert trace.descriptor == {"base_registers": 40} | NONE
        assert not trace.inserted.any()
    assert annotate(config(rows=8), kernel("chacha"), None).descriptor["extended_registers"]


def test_sets_and_pool_of_a_kernel_that_registers_limit() -> None:
    """40 registers: 24 warps in CTAs of four; with 26 there are 32, and 192 places behind them."""
    cfg = config()
    trace = annotate(cfg, kernel("chacha", "large"), None)
    assert trace.descriptor == {"base_registers": 26, "extended_registers": 14, "pool": 832, "sections": 13}
    prepare(cfg, trace)
    assert cfg.resident_warps(38, trace.descriptor) == 32


def test_pairs_have_no_pool() -> None:
    cfg = config(sharing="pairs")
    trace = annotate(cfg, kernel("chacha", "large"), None)
    assert trace.descriptor["extended_registers"] and trace.descriptor["pool"] == 0
    prepare(cfg, trace)
    assert cfg.resident_warps(38, trace.descriptor) > 24


def test_the_original_comes_back() -> None:
    trace = kernel("matmul_tiled")
    found = annotate(config(), trace, None)
    assert found.inserted.any() and found.instructions == trace.records
    assert original(found).descriptor == {} and (original(found).values == trace.values).all()


def test_a_listing_that_is_none_is_not_used() -> None:
    bare = replace(kernel("chacha"), listing="")
    trace = annotate(config(es_override=14), bare, None)
    assert not judged(trace).wrong
    assert not any(static.inserted and static.dest_count for static in trace.program)


def test_a_register_is_in_use_from_its_write_to_its_last_read() -> None:
    read, write = op((9,)), op((), 9)
    trace = hand_trace([op(), write, op(), read, op(), write, read])
    assert in_use(trace).tolist() == [-1, 9, 9, 9, -1, 9, 9, -1]
    assert in_use(hand_trace([write, read, op(), (write, 1), read])).tolist() == [9, 9, 9, 9, 9, -1]


def test_what_no_lane_wrote_is_in_use_from_the_start() -> None:
    assert in_use(hand_trace([op(), (op((), 9), 1), op((9,))])).tolist() == [9, 9, 9, -1]


def test_a_section_brackets_the_use() -> None:
    trace = hand_trace([op((), 1), op((), 11), op((11,)), op((1,))])
    found = annotate(config("tiny", es_override=4), trace, None)
    assert found.descriptor["base_registers"] == 8
    assert [one.text for one in streams(found)[0]][1:5:3] == ["ACQ", "REL"]


def test_an_override_that_a_barrier_forbids_is_refused() -> None:
    trace = hand_trace([op((), 11), BARRIER, op((11,))])
    with pytest.raises(ValueError, match="es_override must leave a base set of 12 for the barriers of"):
        annotate(config("tiny", es_override=4), trace, None)


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("chacha", {"es_override": 40}, "es_override must be below the 40 registers of the kernel, not 40"),
        ("matmul_tiled", {"es_override": 26}, "base set of 14: the code needs 17 registers at a barrier"),
        ("chacha", {"es_override": 8, "rows": 8}, "es_override must leave a section in 128 places behind"),
        ("bytecode", {"es_override": 4, "sharing": "pairs", "pair_state": "pair"}, "pair_state must be warp for this"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(name: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        annotate(config(**changes), kernel(name), None)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("changes", [{}, {"sharing": "pairs"}, {"sharing": "pairs", "pair_state": "pair"}])
def test_drawn_sections_are_sound(profile: str, changes: dict[str, Any]) -> None:
    counts: Counter[str] = Counter()
    for seed in range(4):
        found = loosened(stress_trace(seed, profile=profile, registers=12), seed, **changes)
        counts += judged(found).counts
        if found.descriptor["extended_registers"]:
            assert finishes(streams(found)[:4], 1, seed)
    assert counts["ACQ"] and (counts["extended"] or profile in ("mixed", "control"))  # all is in use at their barriers


def test_drawn_sections_reach_the_corner_cases() -> None:
    counts: Counter[str] = Counter()
    sections, spare = set(), set()
    for seed in range(24):
        found = loosened(stress_trace(seed, registers=12, profile="chain"), seed)
        counts += judged(found).counts
        sections.add(found.descriptor["sections"])
        sizes = found.descriptor["base_registers"] + found.descriptor["extended_registers"]
        spare.add(sizes > found.registers)
    assert counts["again"] and 1 in sections and len(sections) >= 4 and spare == {True, False}


def test_a_drawn_release_too_early_is_noticed() -> None:
    traces = (annotate(config("tiny"), stress_trace(seed, registers=12), seed) for seed in range(8))
    found = next(one for one in traces if one.descriptor["extended_registers"])
    assert judged(replace(found, descriptor=found.descriptor | {"base_registers": 1})).wrong


def test_the_override_and_off_hold_for_drawn_sections_too() -> None:
    trace = stress_trace(1, registers=12, profile="chain")
    assert loosened(trace, 3, es_rule="off").descriptor["extended_registers"] == 0
    assert loosened(trace, 3, es_override=4).descriptor["base_registers"] == 8


def test_limits_are_those_of_the_domain() -> None:
    trace = kernel("chacha")  # CTAs of four warps
    assert limits_of(config(), trace).cta_warps == 4
    assert limits_of(config(domains=2, domain=1), trace).cta_warps == 2
    assert limits_of(config(), trace).launch == 1
    assert limits_of(config(), kernel("chacha", "large")).launch == 16
    assert limits_of(config(shared_bytes=1024), replace(trace, shared_bytes=400)).ctas == 2


def test_the_label_tells_configurations_apart() -> None:
    assert "es_rule=min_pass" in label(config())
    assert len({label(config(**one)) for one in ({}, {"rows": 32}, {"hoist": 1}, {"auto_off": 1})}) == 4


def test_the_code_of_a_listing_is_shown() -> None:
    function = listed_function(kernel("chacha"))
    assert function is not None
    found = shown(function, config())
    assert found[0].startswith("base 26, extended 14, inserted_acq ")
    assert any("ACQ" in text for text in found.values()) and any(" as R" in text for text in found.values())
    other = listed_function(kernel("saxpy"))
    assert other is not None
    assert shown(other, config()) == {0: "base 8, extended 0: registers do not limit the warps, or no size fits"}


def test_a_listing_is_of_ctas_of_which_the_domain_runs_its_share() -> None:
    """64 registers in 512 places: CTAs of two warps leave 10 warps with 48, and two sections; those of four leave 8."""
    function = listed_function(kernel("unrolled_poly"))
    assert function is not None
    half = shown(function, config(domains=2, warps=24, banks=8))
    assert half[0].startswith("base 48, extended 16, ")
    alone = shown(function, config(warps=24, banks=8))
    assert not alone[0].startswith("base 48, ")


@pytest.mark.parametrize("kind", [Kind.EXIT, Kind.BRANCH])
def test_longer_stretches_may_last_to_the_end_but_not_with_one_bit_per_pair(kind: Kind) -> None:
    kinds = [Kind.NORMAL, Kind.BARRIER, Kind.NORMAL, kind]
    drawn = {
        proven: [
            stretched(random.Random(seed), [False, False, True, False], kinds, proven=proven) for seed in range(40)
        ]
        for proven in (False, True)
    }
    assert not any(held[1] for found in drawn.values() for held in found)
    assert {held[3] for held in drawn[False]} == {False, True} and not any(held[3] for held in drawn[True])

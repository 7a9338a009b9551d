"""Exact reuse distances in place of near bits."""

from __future__ import annotations

from functools import partial

import pytest

from tests.golden.collectors.malekeh.scenario import hinted, malekeh_config, malekeh_layout
from tests.golden.collectors.malekeh.test_random import random_case
from tests.golden.machines import Malekeh
from tests.golden.scenario import hand_trace, op
from warpfile.compiler.passes.malekeh.exact import NEVER as COMPILER_NEVER
from warpfile.compiler.passes.malekeh.exact import distances, near_from_distances
from warpfile.golden.collectors.malekeh.oracle import NEVER, OracleCollectors, beat_distances
from warpfile.golden.run import simulate
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.malekeh import MalekehConfig, near_words
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare


def both(cfg: MalekehConfig, trace: Trace) -> tuple[Malekeh, Malekeh]:
    """The same run with near bits and with distances."""
    found = distances(trace)
    trace = hinted(trace, near_words(trace, cfg, *near_from_distances(found, cfg.reuse_threshold)))
    layout, workload = malekeh_layout(cfg), prepare(cfg, trace)
    per_beat = beat_distances(workload.beats, found.first.tolist(), found.distance.tolist())
    with_oracle = type("Oracle", (Malekeh,), {"kind": partial(OracleCollectors, distances=per_beat)})
    models = Malekeh(cfg, layout), with_oracle(cfg, layout)
    for model in models:
        simulate(model, Environment(cfg, workload, layout))
    return models


def test_the_register_that_is_needed_last_is_replaced() -> None:
    # Two entries. When R4 comes, R2 and R3 are near: the least recently used one is R2, needed last is R3.
    # Near bits miss R2 and R3 again, then hit R4 (which is far now), R2, R3. Distances miss only R3 again.
    cfg = malekeh_config(source_slots=1, unit_entries=2, collectors=1)
    trace = hand_trace([op((register,)) for register in (2, 3, 4, 2, 4, 3, 2, 3)])
    near_bits, exact = both(cfg, trace)
    assert (near_bits.counters["source_hits"], exact.counters["source_hits"]) == (3, 4)


def test_distances_are_cut_into_beats_as_the_sources_are() -> None:
    cfg = malekeh_config(source_slots=2)
    trace = hand_trace([op((2, 3, 4), 6, dest_count=2), op((6, 2))])
    found = distances(trace)
    workload = prepare(cfg, hinted(trace, [0] * 4))
    per_beat = beat_distances(workload.beats, found.first.tolist(), found.distance.tolist())
    assert per_beat == [(1, NEVER), (NEVER, 1, NEVER), (NEVER, NEVER), ()]
    assert NEVER == COMPILER_NEVER


def test_results_are_filtered_by_their_distance() -> None:
    cfg = malekeh_config(reuse_threshold=2)
    near, far = op((), 4), op((), 6)
    _, exact = both(cfg, hand_trace([near, op((4,)), far, op(()), op(()), op((6,))]))
    assert exact.counters["cached_results"] == 1
    assert exact.counters["uncached_far"] == 1


@pytest.mark.parametrize("seed", range(6))
def test_the_operands_are_right(seed: int) -> None:
    cfg, trace = random_case(seed)
    near_bits, exact = both(cfg, trace)
    assert exact.operands_checked == near_bits.operands_checked
    assert exact.counters["bank_writes"] == near_bits.counters["bank_writes"]


def test_with_room_for_all_registers_both_are_the_same_machine() -> None:
    # Fewer registers than entries: nothing is ever replaced.
    cfg = malekeh_config(source_slots=3, unit_entries=16)
    program = [op((2 + k % 5, 7), 8 + k % 3) for k in range(40)]
    near_bits, exact = both(cfg, hand_trace(program, program))
    assert near_bits.counters == exact.counters
    assert near_bits.counters["source_hits"] > 40

"""The random runs meet every corner case of operand windows."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.golden.collectors.bow.corners import CORNERS, HINTED, BowCorners
from tests.golden.collectors.bow.scenario import MODES, bow_layout, exactly_hinted, machine, random_bow_config
from tests.golden.machines import Bow
from tests.golden.scenario import NOP, hand_trace, op
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.bow import BowConfig
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare


def count_corners(cfg: BowConfig, trace: Trace) -> Counter[str]:
    """Corner cases of one run."""
    layout, workload = bow_layout(cfg), prepare(cfg, trace)
    model, environment = Bow(cfg, layout), Environment(cfg, workload, layout)
    corners = BowCorners(cfg, workload, model)
    while not environment.done:
        stimulus = environment.stimulus()
        corners.look(stimulus)
        word = model.step(stimulus)
        corners.note(layout.unpack(word))
        environment.observe(word)
    return corners.counts


def total_of(mode: str, seeds: range) -> Counter[str]:
    """Corner cases of random machines, every fourth of them with a single busy bank."""
    total = Counter(dict.fromkeys(CORNERS, 0))
    for seed in seeds:
        rng = random.Random(f"{seed} {mode}")
        cfg = random_bow_config(rng, mode)
        profile, registers = rng.choice(list(PROFILES)), rng.choice((22, 23, 24))
        if seed % 4 == 0:
            cfg, profile = (
                cfg.replace(banks=1, bank_cycles=3, window=3, window_entries=12),
                ("mask", "wide")[seed % 8 // 4],
            )
        trace = stress_trace(seed, profile=profile, warps_per_cta=[4, 1], ctas=4, length=60, registers=registers)
        total.update(count_corners(cfg, exactly_hinted(cfg, trace, rng.choice((None, seed)))))
    return total


@pytest.mark.check
def test_every_corner_case_is_met() -> None:
    totals = {mode: total_of(mode, range(60)) for mode in MODES}
    for name in CORNERS:
        print(f"{name:42} {[totals[mode][name] for mode in MODES]}")
    assert set(totals["hints"]) == set(CORNERS)
    assert not [name for name in CORNERS if not totals["hints"][name]]
    assert not [name for name in CORNERS if not totals["back"][name] and name not in HINTED]


def test_a_short_program_meets_what_it_says() -> None:
    # R2 is read in beats 0 and 2 (a hit at distance 2 of 3, while it waits for its data) and 5 (a miss at distance 3).
    trace = hand_trace([op((2,), 4), NOP, op((2, 2), 6), NOP, NOP, op((2, 8), 8)])
    counts = +count_corners(machine(), trace)
    assert counts == {
        "reuse at window - 1": 1,
        "reuse at window": 1,
        "hit on fill": 1,
        "equal sources": 1,
        "source is destination": 1,
        "registers no multiple of banks": 1,
        "exit with dirty": 1,
    }

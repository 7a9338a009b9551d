"""Random programs on random machines with a read window, every cycle under the eye of the watcher."""

from __future__ import annotations

import random

import pytest

from tests.golden.collectors.read_window.random_window import random_window
from tests.golden.collectors.read_window.watched import watch
from tests.golden.machines import Modern
from warpfile.spec.stress import PROFILES, stress_trace


def random_run(seed: int, dependences: str, model: type[Modern] = Modern, **changes: object) -> Modern:
    """One random machine with one random program, whose codes are as short as the machine allows, or longer."""
    rng = random.Random(f"{seed} {dependences}")
    cfg, profile = random_window(rng, dependences, **changes), rng.choice(list(PROFILES))
    sizes = rng.choice(([4], [1, 4], [3, 2, 1]))
    trace = stress_trace(seed, profile=profile, warps_per_cta=sizes, ctas=3, length=40)
    return watch(cfg, trace, rng.choice((None, seed)), model)


@pytest.mark.parametrize("dependences", ["control_codes", "scoreboard"])
@pytest.mark.parametrize("seed", range(8))
def test_a_random_program_keeps_every_invariant(seed: int, dependences: str) -> None:
    print(f"seed {seed}")
    assert random_run(seed, dependences).operands_checked

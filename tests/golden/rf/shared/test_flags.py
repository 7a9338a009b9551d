"""Whole machines under ``las``, seen from their probes (docs/schemes/larf.md, section 19)."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from tests.golden.machines import Lookahead
from tests.golden.rf.shared.scenario import random_case, run_shared, watch_shared
from tests.golden.rf.shared.test_reader import (
    Mistake,
    drops_nothing,
    probes_again,
    reads_into_a_probe,
    reads_what_is_pending,
)
from tests.golden.scenario import Run
from warpfile.spec.schemes.las import LasConfig

#: Few seeds in which flagged warps meet others, and each other.
SEEDS = (21, 26, 66, 69)
COUNTERS = {"las_reads", "las_probes", "las_hits", "las_issues"}


def changes(seed: int) -> dict[str, object]:
    """A scheduler, which lets some flagged warps go first."""
    return {
        "scheme": "larf+las",
        "scheduler": "las",
        "led": True,
        "flagged_by": ("perfect", "any")[seed % 2],
        "flag_limit": (1, 2, 64)[seed % 3],
    }


def first_from(warps: int, start: int) -> int:
    """Round robin."""
    return next(warp % 64 for warp in range(start, start + 128) if warps >> warp % 64 & 1)


def unlike(run: Run, limit: int) -> list[int]:
    """Cycles in which another warp issues than those that may, the flags and the issues before make the choice."""
    pointer = in_a_row = 0
    wrong = []
    for cycle, fields in enumerate(run.fields):
        eligible = fields["clear"] & ~fields["waiting"] & fields["room"]
        assert bool(eligible) == fields["issue"]
        if not eligible:
            continue
        flagged, others = eligible & fields["flagged"], eligible & ~fields["flagged"]
        group = others if others and in_a_row >= limit else flagged or others
        warp = fields["issue_warp"]
        wrong += [cycle] if first_from(group, pointer) != warp else []
        pointer = warp + 1
        in_a_row = in_a_row + 1 if fields["flagged"] >> warp & 1 else 0
    return wrong


def test_random_programs_keep_every_invariant_and_counters_are_those_of_the_probes() -> None:
    total: Counter[str] = Counter()
    for seed in SEEDS:
        total.update(watch_shared(*random_case(seed, **changes(seed)), model=Lookahead).counters)
    assert all(total[name] for name in COUNTERS)


@pytest.mark.parametrize("seed", SEEDS)
def test_flags_come_of_pulses_pulses_of_hits_and_the_choice_of_flags(seed: int) -> None:
    cfg, trace, _ = random_case(seed, **changes(seed))
    assert isinstance(cfg, LasConfig)
    run = run_shared(cfg, trace, Lookahead)
    for now, after in pairwise(run.fields):
        assert after["lookahead_hit"].bit_count() < 2
        assert bool(after["lookahead_hit"]) == bool(now["probe_hit"]) or (now["probe_hit"] and now["issue"])
        told = now["flagged"] | now["lookahead_hit"]
        assert not after["flagged"] & ~told
        assert told & ~after["flagged"] in (0, now["issue"] << now["issue_warp"]), "issues alone take flags here"
    assert not unlike(run, cfg.flag_limit)


def test_the_choice_is_found_to_be_wrong_for_another_limit_and_without_flags() -> None:
    cases = [random_case(seed, **changes(seed) | {"flag_limit": 64})[:2] for seed in SEEDS]
    runs = [run_shared(cfg, trace, Lookahead) for cfg, trace in cases]
    assert any(unlike(run, 1) for run in runs) and not any(unlike(run, 64) for run in runs)
    bare = [Run(run.model, [fields | {"flagged": 0} for fields in run.fields]) for run in runs]
    assert any(unlike(run, 64) for run in bare)


def test_a_file_without_lookahead_has_the_probes_and_the_cycles_of_before() -> None:
    cfg, trace, _ = random_case(0, scheduler="lrr", led=True)
    told = random_case(0, **changes(0) | {"scheduler": "lrr"})[0]
    plain, other = run_shared(cfg, trace), run_shared(told, trace, Lookahead)
    assert plain.fields == other.fields
    assert plain.fields[0].keys().isdisjoint({"reader_state", "probe_state", "probe_hit", "lookahead_hit", "flagged"})


@pytest.mark.plain
@pytest.mark.parametrize("mistake", [reads_what_is_pending, drops_nothing, probes_again, reads_into_a_probe])
def test_mistakes_of_the_reader_are_caught_on_random_programs(
    mistake: Mistake, monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake(monkeypatch)
    with pytest.raises(AssertionError):
        for seed in SEEDS:
            watch_shared(*random_case(seed, **changes(seed)), model=Lookahead)

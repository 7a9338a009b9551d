"""Passes of several parts over one trace."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.schemes import toy
from warpfile.schemes import SCHEMES, composed, find
from warpfile.spec.annotation import beat_counts
from warpfile.spec.config import Config
from warpfile.spec.stress import stress_trace

TRACE = stress_trace(5, profile="wide", length=40)


def bits(cfg: Config, hints: np.ndarray, name: str) -> np.ndarray:
    """One hint of all beats."""
    width = next(hint.bits for hint in cfg.hints() if hint.name == name)
    return hints.astype(np.uint64) >> np.uint64(cfg.hint_at(name)) & np.uint64((1 << width) - 1)


@pytest.mark.parametrize("loosened", [None, 3])
@pytest.mark.parametrize("name", ["bow_wr", "malekeh"])
def test_each_part_writes_its_own_bits(name: str, loosened: int | None) -> None:
    alone, both = SCHEMES[name], composed(SCHEMES[name], [toy.PAINTED])
    cfg, joint = alone.configuration("tiny"), both.configuration("tiny")
    one, two = alone.annotated(cfg, TRACE, loosened), both.annotated(joint, TRACE, loosened)
    assert len(one.hints) == len(two.hints) == beat_counts(TRACE, cfg.source_slots).sum()
    for hint in cfg.hints():
        assert (bits(cfg, one.hints, hint.name) == bits(joint, two.hints, hint.name)).all()
        assert bits(cfg, one.hints, hint.name).any()
    assert (bits(joint, two.hints, "paint") == 3).all()
    assert joint.hint_bits == cfg.hint_bits + 3 and not (two.hints >> np.uint64(joint.hint_bits)).any()


def test_the_label_joins_what_each_part_holds_for() -> None:
    both = composed(SCHEMES["bow_wr"], [toy.PAINTED])
    cfg = both.configuration("tiny", window=4)
    trace = both.annotated(cfg, TRACE)
    assert trace.annotation == "bow_wr+painted window=4 source_slots=2 paint=3"
    assert both.annotated(cfg, trace) is trace
    assert both.annotated(cfg.replace(paint=2), trace).annotation.endswith("paint=2")
    random = both.annotated(cfg, TRACE, 7)
    assert both.annotated(cfg, random) is random
    # A label that another one begins with is not that one.
    longer = dataclasses.replace(trace, annotation=trace.annotation + "1")
    assert both.annotated(cfg, longer).annotation == trace.annotation
    assert both.annotated(cfg, TRACE, 7).annotation.endswith("loosened=7")


def test_hints_of_another_annotation_are_replaced() -> None:
    wrong = SCHEMES["malekeh"].annotated(SCHEMES["malekeh"].configuration("tiny"), TRACE, 1)
    scheme = SCHEMES["rfc"]
    cfg = scheme.configuration("tiny")
    assert (scheme.annotated(cfg, wrong).hints == scheme.annotated(cfg, TRACE).hints).all()


def test_without_a_pass_that_is_needed_the_trace_stays() -> None:
    for name in ("baseline", "bow", "bow+two_level"):
        scheme = find(name)
        assert scheme.annotated(scheme.configuration("tiny"), TRACE) is TRACE


def test_loosened_near_bits_are_the_random_words_of_the_seed() -> None:
    scheme = SCHEMES["malekeh"]
    cfg = scheme.configuration("tiny")
    found = scheme.annotated(cfg, TRACE, 11).hints
    assert (found == np.random.default_rng(11).integers(0, 1 << cfg.hint_bits, len(found), dtype=np.uint32)).all()


def test_a_pass_that_inserts_runs_whatever_hints_there_are() -> None:
    always = dataclasses.replace(toy.PAINTED, hints=dataclasses.replace(toy.PAINTED.hints, writes=()))
    assert always.hints and always.hints.needed(Config())
    assert toy.PAINTED.hints and not toy.PAINTED.hints.needed(Config())

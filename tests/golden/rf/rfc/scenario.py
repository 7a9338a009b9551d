"""Traces with hints, and runs of the register cache over them."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.golden.machines import Rfc, layout_of
from tests.golden.scenario import Run, Step, hand_trace
from warpfile.compiler.passes.rfc.exact import exact_hints, random_hints
from warpfile.golden.run import observations
from warpfile.spec.annotation import beat_counts
from warpfile.spec.config import Config, index_bits
from warpfile.spec.environment import Environment
from warpfile.spec.presets import PRESETS
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.rfc import RfcConfig, cache_words
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare


def rfc_config(preset: str = "isca2011", **changes: Any) -> RfcConfig:
    """A preset with the register cache."""
    values = PRESETS[preset].config.to_json() | changes
    return RfcConfig(**RfcConfig.adapted(values | {"scheduler": "two_level"}))  # type: ignore[arg-type]


def rfc_layout(cfg: RfcConfig) -> ProbeLayout:
    """All probes of the scheme."""
    return layout_of("rfc", cfg)


NO_ALLOCATE, SUSPEND, DEAD = 0, 1, 2  #: bits of the hints


def hint(*, no_allocate: bool = False, suspend: bool = False, dead: int = 0, evict_first: int = 0) -> int:
    """Hints of one beat of three source slots; ``dead`` and ``evict_first`` are masks over them."""
    return no_allocate << NO_ALLOCATE | suspend << SUSPEND | dead << DEAD | evict_first << DEAD + 3


def lines(cfg: RfcConfig, f: dict[str, int]) -> dict[int, int]:
    """Register of every line that is held, by place * cache_entries + entry."""
    bits = cfg.register_bits
    held = range(f["held"].bit_length())
    return {line: f["line_register"] >> line * bits & (1 << bits) - 1 for line in held if f["held"] >> line & 1}


def queued(cfg: RfcConfig, f: dict[str, int]) -> list[int]:
    """Entries in the queue of every bank."""
    bits = index_bits(cfg.write_queue + 1)
    return [f["queued"] >> bank * bits & (1 << bits) - 1 for bank in range(cfg.banks)]


def hinted(trace: Trace, hints: Sequence[int] | np.ndarray) -> Trace:
    """The trace with these hints, one word per beat."""
    return dataclasses.replace(trace, annotation="test", hints=np.array(hints, dtype=np.uint32))


def randomly_hinted(cfg: RfcConfig, trace: Trace, seed: int) -> Trace:
    """The trace with random hints, but without dead bits: no value depends on the others."""
    rng = random.Random(seed)
    share, slots = rng.choice((0.2, 0.5, 0.9)), cfg.source_slots
    words = []
    for _ in range(int(beat_counts(trace, slots).sum())):
        bits = [rng.random() < share for _ in range(cfg.hint_bits)]
        bits[DEAD : DEAD + slots] = [False] * slots
        words.append(sum(bit << number for number, bit in enumerate(bits)))
    return hinted(trace, words)


def exactly_hinted(cfg: RfcConfig, trace: Trace, seed: int | None = None) -> Trace:
    """The trace with hints from what its warps do next; with a seed, weaker ones that are right as well."""
    hints = exact_hints(trace) if seed is None else random_hints(exact_hints(trace), seed)
    return hinted(trace, cache_words(trace, cfg, hints.suspend, hints.dead, hints.evict_first, hints.no_allocate))


def run_rfc(cfg: RfcConfig, trace: Trace, model: type[Rfc] = Rfc, limit: int = 100_000) -> Run:
    """Simulate a trace to its end."""
    layout = rfc_layout(cfg)
    result = Run(model(cfg, layout))
    environment = Environment(cfg, prepare(cfg, trace), layout)
    result.fields = [layout.unpack(word) for word in observations(result.model, environment, limit)]
    return result


def one_warp(cfg: Config, program: Sequence[Step], hints: dict[int, int] | None = None) -> Run:
    """Run one warp; hints are given by number of the instruction, each of which must be one beat."""
    assert isinstance(cfg, RfcConfig)
    words = [(hints or {}).get(number, 0) for number in range(len(program) + 1)]
    return run_rfc(cfg, hinted(hand_trace(program), words))

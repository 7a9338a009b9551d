"""Near bits as hints of a trace's beats."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from warpfile.compiler.model import Function
from warpfile.compiler.passes.malekeh.exact import distances, near_from_distances
from warpfile.compiler.passes.malekeh.static import near_hints
from warpfile.compiler.passes.trace_listing import listed_function
from warpfile.spec.annotation import beat_counts, hinted
from warpfile.spec.config import Config
from warpfile.spec.schemes.malekeh import NEAR_DESTS, MalekehConfig, near_words
from warpfile.spec.trace import Trace


def label(cfg: Config) -> str:
    """What near bits hold for."""
    assert isinstance(cfg, MalekehConfig)
    return f"{cfg.reuse_hints} threshold={cfg.reuse_threshold} source_slots={cfg.source_slots}"


def near(function: Function, cfg: Config) -> Mapping[int, tuple[int, int]]:
    """Near bits of the distinct sources and of the destinations of every instruction, by its offset."""

    assert isinstance(cfg, MalekehConfig)
    found = near_hints(function, threshold=cfg.reuse_threshold)
    return {offset: (hint.sources, hint.dests) for offset, hint in found.items()}


def annotate(cfg: Config, trace: Trace, loosened: int | None) -> Trace:
    """The trace with all near bits. Raises ``ValueError`` for static hints of a trace without a listing."""

    assert isinstance(cfg, MalekehConfig)
    if loosened is not None:
        return hinted(trace, _random(cfg, int(beat_counts(trace, cfg.source_slots).sum()), loosened))
    if cfg.reuse_hints == "exact":
        return hinted(trace, near_words(trace, cfg, *near_from_distances(distances(trace), cfg.reuse_threshold)))
    function = listed_function(trace)
    if function is None:
        raise ValueError(f"reuse_hints must be exact for {trace.kernel}, because its trace has no listing")
    found = near(function, cfg)
    bits = np.array([found.get(static.offset, (0, 0)) for static in trace.program], dtype=np.uint16)
    return hinted(trace, near_words(trace, cfg, *bits[trace.instruction].T))


def _random(cfg: MalekehConfig, beats: int, seed: int) -> np.ndarray:
    """Any near bits are right: destinations in the low bits of a random word, sources above them."""
    words = np.random.default_rng(seed).integers(0, 1 << NEAR_DESTS + cfg.source_slots, beats, dtype=np.uint32)
    near, dests = words.astype(np.uint64), np.uint64((1 << NEAR_DESTS) - 1)
    return (near & dests) << cfg.hint_at("near_dests") | near >> NEAR_DESTS << cfg.hint_at("near_sources")

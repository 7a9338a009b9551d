"""Near bits as hints of a trace's beats."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from warpfile.compiler.model import Function
from warpfile.compiler.passes.listed import listed_function
from warpfile.compiler.passes.malekeh.exact import distances, near_from_distances
from warpfile.compiler.passes.malekeh.static import near_hints
from warpfile.spec.annotation import on_last_beat
from warpfile.spec.config import Config
from warpfile.spec.schemes.malekeh import MalekehConfig, near_words
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


def annotate(cfg: Config, trace: Trace, loosened: int | None) -> np.ndarray:
    """Near bits of all beats. Raises ``ValueError`` for static hints of a trace without a listing."""

    assert isinstance(cfg, MalekehConfig)
    if loosened is not None:
        count = len(on_last_beat(trace, cfg.source_slots, np.zeros(trace.records)))
        return np.random.default_rng(loosened).integers(0, 1 << cfg.hint_bits, count, dtype=np.uint32)
    if cfg.reuse_hints == "exact":
        return near_words(trace, cfg, *near_from_distances(distances(trace), cfg.reuse_threshold))
    function = listed_function(trace)
    if function is None:
        raise ValueError(f"reuse_hints must be exact for {trace.kernel}, because its trace has no listing")
    found = near(function, cfg)
    bits = np.array([found.get(static.offset, (0, 0)) for static in trace.program], dtype=np.uint16)
    return near_words(trace, cfg, *bits[trace.instruction].T)

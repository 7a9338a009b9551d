"""The annotation passes of the schemes, from a trace to hints of its beats."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from warpfile.spec.annotation import on_every_beat, on_last_beat
from warpfile.spec.beat import source_groups
from warpfile.spec.config import Config
from warpfile.spec.schemes.bow import BowConfig
from warpfile.spec.schemes.malekeh import MalekehConfig, near_words
from warpfile.spec.schemes.rfc import RfcConfig, cache_words
from warpfile.spec.trace import Trace

if TYPE_CHECKING:
    from warpfile.compiler.model import Function


@cache
def _parsed(listing: str, kernel: str) -> Function:
    from warpfile.compiler import parse

    return parse(listing, kernel).function(kernel)


def listed_function(trace: Trace) -> Function | None:
    """The function that a trace was executed from; None if the trace does not show it."""
    return _parsed(trace.listing, trace.kernel) if trace.listing else None


def bow_label(cfg: Config) -> str:
    """What write classes hold for."""
    assert isinstance(cfg, BowConfig)
    return f"window={cfg.window} source_slots={cfg.source_slots}"


def bow_classes(function: Function, cfg: Config) -> Mapping[int, int]:
    """Write class of every result, by the instruction's offset."""
    from warpfile.compiler.passes.bow.static import write_classes

    assert isinstance(cfg, BowConfig)
    return write_classes(function, window=cfg.window, source_slots=cfg.source_slots)


def bow_annotate(cfg: Config, trace: Trace, loosened: int | None) -> np.ndarray:
    """Write classes of all beats: from the listing, or without one (or with a seed) from the stream itself."""
    from warpfile.compiler.passes.bow.exact import exact_classes, weakened

    assert isinstance(cfg, BowConfig)
    function = listed_function(trace)
    if function is None or loosened is not None:
        classes = exact_classes(trace, window=cfg.window, source_slots=cfg.source_slots)
        words = classes if loosened is None else weakened(classes, loosened)
        return on_last_beat(trace, cfg.source_slots, words)
    found = bow_classes(function, cfg)
    beats = [len(source_groups(static, cfg.source_slots)) for static in trace.program]
    words_of = zip(trace.program, beats, strict=True)
    return on_every_beat(trace, [(*(count - 1) * (0,), found.get(static.offset, 0)) for static, count in words_of])


def rfc_label(cfg: Config) -> str:
    """What the hints of the register cache hold for."""
    return f"source_slots={cfg.source_slots}"


def rfc_shown(function: Function, cfg: Config) -> Mapping[int, tuple[int, int, int, int]]:
    """By offset: suspend before it, dead sources, sources to evict first, result not to allocate."""
    from warpfile.compiler.passes.rfc.static import dead_sources, strand_hints
    from warpfile.compiler.passes.rfc.suspend import suspend_before

    suspends = suspend_before(function)
    dead, (no_allocate, evict_first) = dead_sources(function), strand_hints(function, suspends)
    offsets = sorted({*suspends, *dead, *no_allocate, *evict_first})
    return {
        at: (int(at in suspends), dead.get(at, 0), evict_first.get(at, 0), int(at in no_allocate)) for at in offsets
    }


def rfc_annotate(cfg: Config, trace: Trace, loosened: int | None) -> np.ndarray:
    """Hints of all beats: from the listing, or without one (or with a seed) from the stream itself."""
    from warpfile.compiler.passes.rfc.exact import exact_hints
    from warpfile.compiler.passes.rfc.exact import loosened as loosen

    assert isinstance(cfg, RfcConfig)
    function = listed_function(trace)
    if function is None or loosened is not None:
        found = exact_hints(trace)
        found = found if loosened is None else loosen(found, loosened)
        return cache_words(trace, cfg, found.suspend, found.dead, found.evict_first, found.no_allocate)
    shown = rfc_shown(function, cfg)
    table = np.array([shown.get(static.offset, (0, 0, 0, 0)) for static in trace.program], dtype=np.uint32)
    return cache_words(trace, cfg, *table[trace.instruction].T)


def malekeh_label(cfg: Config) -> str:
    """What near bits hold for."""
    assert isinstance(cfg, MalekehConfig)
    return f"{cfg.reuse_hints} threshold={cfg.reuse_threshold} source_slots={cfg.source_slots}"


def malekeh_near(function: Function, cfg: Config) -> Mapping[int, tuple[int, int]]:
    """Near bits of the distinct sources and of the destinations of every instruction, by its offset."""
    from warpfile.compiler.passes.malekeh.static import near_hints

    assert isinstance(cfg, MalekehConfig)
    found = near_hints(function, threshold=cfg.reuse_threshold)
    return {offset: (hint.sources, hint.dests) for offset, hint in found.items()}


def malekeh_annotate(cfg: Config, trace: Trace, loosened: int | None) -> np.ndarray:
    """Near bits of all beats. Raises ``ValueError`` for static hints of a trace without a listing."""
    from warpfile.compiler.passes.malekeh.exact import distances, near_from_distances

    assert isinstance(cfg, MalekehConfig)
    if loosened is not None:
        count = len(on_last_beat(trace, cfg.source_slots, np.zeros(trace.instructions)))
        return np.random.default_rng(loosened).integers(0, 1 << cfg.hint_bits, count, dtype=np.uint32)
    if cfg.reuse_hints == "exact":
        return near_words(trace, cfg, *near_from_distances(distances(trace), cfg.reuse_threshold))
    function = listed_function(trace)
    if function is None:
        raise ValueError(f"reuse_hints must be exact for {trace.kernel}, because its trace has no listing")
    found = malekeh_near(function, cfg)
    near = np.array([found.get(static.offset, (0, 0)) for static in trace.program], dtype=np.uint16)
    return near_words(trace, cfg, *near[trace.instruction].T)

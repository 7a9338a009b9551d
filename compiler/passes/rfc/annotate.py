"""Hints of the register cache on a trace's beats."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from warpfile.compiler.model import Function
from warpfile.compiler.passes.last_reads import dead_sources
from warpfile.compiler.passes.rfc.exact import exact_hints
from warpfile.compiler.passes.rfc.exact import random_hints as loosen
from warpfile.compiler.passes.rfc.static import strand_hints
from warpfile.compiler.passes.rfc.suspend import suspend_before
from warpfile.compiler.passes.trace_listing import listed_function
from warpfile.spec.annotation import hinted
from warpfile.spec.config import Config
from warpfile.spec.schemes.rfc import RfcConfig, cache_words
from warpfile.spec.trace import Trace


def label(cfg: Config) -> str:
    """What the hints of the register cache hold for."""
    return f"source_slots={cfg.source_slots}"


def shown(function: Function, cfg: Config) -> Mapping[int, tuple[int, int, int, int]]:
    """By offset: suspend before it, dead sources, sources to evict first, result not to allocate."""

    suspends = suspend_before(function)
    dead, (no_allocate, evict_first) = dead_sources(function), strand_hints(function, suspends)
    offsets = sorted({*suspends, *dead, *no_allocate, *evict_first})
    return {
        at: (int(at in suspends), dead.get(at, 0), evict_first.get(at, 0), int(at in no_allocate)) for at in offsets
    }


def annotate(cfg: Config, trace: Trace, loosened: int | None) -> Trace:
    """The trace with all hints: from the listing, or without one (or with a seed) from the stream itself."""

    assert isinstance(cfg, RfcConfig)
    function = listed_function(trace)
    if function is None or loosened is not None:
        found = exact_hints(trace)
        found = found if loosened is None else loosen(found, loosened)
        words = cache_words(trace, cfg, found.suspend, found.dead, found.evict_first, found.no_allocate)
        return hinted(trace, words)
    hints = shown(function, cfg)
    table = np.array([hints.get(static.offset, (0, 0, 0, 0)) for static in trace.program], dtype=np.uint32)
    return hinted(trace, cache_words(trace, cfg, *table[trace.instruction].T))

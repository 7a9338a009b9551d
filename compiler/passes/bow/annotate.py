"""Write classes as hints of a trace's beats."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from warpfile.compiler.model import Function
from warpfile.compiler.passes.bow.exact import exact_classes, weakened
from warpfile.compiler.passes.bow.static import write_classes
from warpfile.compiler.passes.trace_listing import listed_function
from warpfile.spec.annotation import hinted, on_every_beat, on_last_beat
from warpfile.spec.beat import source_groups
from warpfile.spec.config import Config
from warpfile.spec.schemes.bow import BowConfig
from warpfile.spec.trace import Trace


def label(cfg: Config) -> str:
    """What write classes hold for."""
    assert isinstance(cfg, BowConfig)
    return f"window={cfg.window} source_slots={cfg.source_slots}"


def classes(function: Function, cfg: Config) -> Mapping[int, int]:
    """Write class of every result, by the instruction's offset."""

    assert isinstance(cfg, BowConfig)
    return write_classes(function, window=cfg.window, source_slots=cfg.source_slots)


def annotate(cfg: Config, trace: Trace, loosened: int | None) -> Trace:
    """The trace with all write classes: from the listing, or without one (or with a seed) from the stream itself."""

    assert isinstance(cfg, BowConfig)
    at = cfg.hint_at("write_class")
    function = listed_function(trace)
    if function is None or loosened is not None:
        exact = exact_classes(trace, window=cfg.window, source_slots=cfg.source_slots)
        words = exact if loosened is None else weakened(exact, loosened)
        return hinted(trace, on_last_beat(trace, cfg.source_slots, words.astype(np.uint64) << at))
    found = classes(function, cfg)
    beats = [len(source_groups(static, cfg.source_slots)) for static in trace.program]
    classes_of = ((found.get(static.offset, 0), count) for static, count in zip(trace.program, beats, strict=True))
    return hinted(trace, on_every_beat(trace, [(*(count - 1) * (0,), one << at) for one, count in classes_of]))

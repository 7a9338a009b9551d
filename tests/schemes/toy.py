"""Parts that are as small as can be, for what the table does with any part."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from warpfile.schemes import Hints, Part
from warpfile.schemes.baseline import BANKED, UNITS
from warpfile.spec.annotation import beat_counts, hinted
from warpfile.spec.config import Config, number_field
from warpfile.spec.contract import Engine, Hint
from warpfile.spec.probe import Probe
from warpfile.spec.trace import Trace


@dataclass(frozen=True, kw_only=True)
class PaintConfig(Config):
    """A register file whose pass paints every beat."""

    paint: int = number_field(0, 7, "what is written on every beat", 5)

    def hints(self) -> tuple[Hint, ...]:
        return (*super().hints(), Hint("paint", 3, returns=True))


@dataclass(frozen=True, kw_only=True)
class OtherPaintConfig(Config):
    """Collectors with a field of the same name."""

    paint: int = number_field(0, 3, "something else", 1)


@dataclass(frozen=True, kw_only=True)
class EngineConfig(Config):
    """Collectors with a client at the banks, if wanted."""

    movers: int = number_field(0, 4, "clients", 0)

    @property
    def asks(self):
        asks = super().asks
        return replace(asks, engines=(Engine("movers", self.movers),)) if self.movers else asks


def label(cfg: Config) -> str:
    assert isinstance(cfg, PaintConfig)
    return f"paint={cfg.paint}"


def annotate(cfg: Config, trace: Trace, loosened: int | None) -> Trace:
    assert isinstance(cfg, PaintConfig)
    beats = int(beat_counts(trace, cfg.source_slots).sum())
    return hinted(trace, np.full(beats, cfg.paint << cfg.hint_at("paint"), dtype=np.uint64))


def loud(cfg: Config) -> tuple[Probe, ...]:
    """A probe that collector units have too."""
    return (Probe("request", 1, "something else"),)


PAINTED = replace(
    BANKED,
    name="painted",
    parameters=PaintConfig,
    hints=Hints(f"{__name__}:annotate", f"{__name__}:label", ("paint",)),
    settings={"": {"paint": 6}, "tiny": {"paint": 3}},
)
BARE = Part("bare", "rf", "offers nothing", golden="tests.nowhere:Bare", rtl="tests.nowhere:Bare")
LOUD = replace(BANKED, name="loud", probes=loud)
OTHER_PAINT = replace(UNITS, name="other_paint", parameters=OtherPaintConfig)
MOVING = replace(UNITS, name="moving", parameters=EngineConfig)
RENAMING_UNITS = replace(UNITS, name="renaming_units", owns=("the renaming of registers",))
RENAMED = replace(BANKED, name="renamed", owns=("the renaming of registers",))
CHOOSY = Part(
    "choosy", "scheduler", "has a field of its own", "tests.nowhere:Choosy", "tests.nowhere:Choosy", PaintConfig
)

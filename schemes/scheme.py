"""A scheme: three parts and what is said of them together."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warpfile.schemes.part import GoldenModel, Part, found
from warpfile.spec.config import Config, joined
from warpfile.spec.frame import frame_events, frame_probes
from warpfile.spec.presets import PRESETS
from warpfile.spec.probe import Fields, Probe, ProbeLayout
from warpfile.spec.structure import FRAME, Structure
from warpfile.spec.trace import Trace

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component

#: Name of the top module of everything that is generated.
TOP = "warpfile"


def schedulers() -> dict[str, Part]:
    """All known schedulers by name."""
    from warpfile.schemes.registry import PARTS

    return {part.name: part for part in PARTS.values() if part.slot == "scheduler"}


@dataclass(frozen=True)
class Scheme:
    """One register-file architecture: collectors over a register file, under the scheduler of the configuration.

    ``settings`` goes over the parts' own. ``accesses`` names what the
    register file's parts are asked for (kinds of published prices, and others that nobody has priced), each with the
    counters whose sum says how often. ``prices`` is the set of prices from the scheme's own paper; without one the set
    of the node nearest to ``node_nm`` is taken, that of the chip which the scheme's preset describes.
    """

    name: str
    summary: str
    preset: str
    collectors: Part
    rf: Part
    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    reached: tuple[str, ...] = ()
    accesses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    prices: str = ""
    node_nm: int = 0

    @property
    def parameters(self) -> type[Config]:
        """The configuration's class."""
        return joined((self.collectors.parameters, self.rf.parameters))

    def parts(self, cfg: Config) -> tuple[Part, Part, Part]:
        """Scheduler, collectors and register file of a configuration."""
        return schedulers()[cfg.scheduler], self.collectors, self.rf

    @property
    def stored(self) -> tuple[Structure, ...]:
        """Everything that a machine of the scheme stores; a bit belongs to the first structure that it fits."""
        return (*self.collectors.structures, *self.rf.structures, *FRAME)

    def probes(self, cfg: Config) -> tuple[Probe, ...]:
        """Observation of the frame, then of scheduler, collectors and register file."""
        return (*frame_probes(cfg), *(probe for part in self.parts(cfg) for probe in part.probes(cfg)))

    def events(self, cfg: Config, fields: Fields) -> dict[str, int]:
        """Counters of the frame and of the parts."""
        sums = frame_events(fields)
        for part in self.parts(cfg):
            sums |= part.events(fields)
        return sums

    def golden(self, cfg: Config, layout: ProbeLayout) -> GoldenModel:
        """The cycle model."""
        return found("warpfile.golden.machine:Machine")(cfg, layout, *(found(part.golden) for part in self.parts(cfg)))

    def rtl(self, cfg: Config, observed: bool) -> Component:
        """The machine as hardware, with a probe port or without."""
        probes = self.probes(cfg) if observed else ()
        return found("warpfile.hdl.machine:Machine")(cfg, *(found(part.rtl) for part in self.parts(cfg)), probes)

    def configuration(self, preset: str, **changes: object) -> Config:
        """The scheme at a preset, with single fields changed. Raises ``ValueError`` for an impossible value."""
        values: dict[str, object] = PRESETS[preset].config.to_json()
        for settings in (self.collectors.settings, self.rf.settings, self.settings):
            values |= {**settings.get("", {}), **settings.get(preset, {})}
        values |= changes
        cfg = self.parameters(**self.parameters.adapted(values) | changes)  # type: ignore[arg-type]
        if cfg.scheduler not in schedulers():
            raise ValueError(f"scheduler must be one of {', '.join(schedulers())}, not {cfg.scheduler}")
        return cfg

    def annotated(self, cfg: Config, trace: Trace, loosened: int | None = None) -> Trace:
        """The trace with the hints that the configuration needs; ``loosened`` is the seed for random other ones."""
        hints = self.collectors.hints or self.rf.hints
        if hints is None or not cfg.hint_bits:
            return trace
        label = f"{self.name} {hints.label(cfg)}" + ("" if loosened is None else f" loosened={loosened}")
        if trace.annotation.startswith(label):
            return trace
        return dataclasses.replace(trace, annotation=label, hints=hints.annotate(cfg, trace, loosened))

    def harness(self, cfg: Config, layout: ProbeLayout) -> str:
        """Verilog that checks more in the test harness."""
        return "".join(found(part.harness)(cfg, layout) for part in self.parts(cfg) if part.harness)

    def verilog(self, cfg: Config, *, probes: bool, progress: Callable[[str], None] = str) -> str:
        """Verilog of the whole machine, top module ``TOP``; ``progress`` is told every module's name."""
        from warpfile.hdl.stamp import convert

        return convert(lambda: self.rtl(cfg, probes), TOP, progress)

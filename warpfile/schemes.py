"""The scheme table: the one place where the parts of a scheme meet."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from warpfile.hints import (
    bow_annotate,
    bow_classes,
    bow_label,
    malekeh_annotate,
    malekeh_label,
    malekeh_near,
    rfc_annotate,
    rfc_label,
    rfc_shown,
)
from warpfile.spec.baseline import baseline_events, baseline_probes, frame_probes
from warpfile.spec.config import Config
from warpfile.spec.environment import Stimulus
from warpfile.spec.presets import PRESETS
from warpfile.spec.probe import Fields, Probe, ProbeLayout
from warpfile.spec.schemes.bow import STRUCTURES as BOW_STRUCTURES
from warpfile.spec.schemes.bow import BowConfig, window_events, window_probes
from warpfile.spec.schemes.malekeh import COUNTERS as MALEKEH_COUNTERS
from warpfile.spec.schemes.malekeh import STRUCTURES as MALEKEH_STRUCTURES
from warpfile.spec.schemes.malekeh import MalekehConfig, unit_events, unit_probes
from warpfile.spec.schemes.rfc import COUNTERS as RFC_COUNTERS
from warpfile.spec.schemes.rfc import STRUCTURES as RFC_STRUCTURES
from warpfile.spec.schemes.rfc import RfcConfig, cache_events, cache_probes
from warpfile.spec.structure import BASELINE as BASELINE_STRUCTURES
from warpfile.spec.structure import FRAME, Structure
from warpfile.spec.trace import Trace

if TYPE_CHECKING:
    import numpy as np
    from amaranth.lib.wiring import Component

    from warpfile.compiler.model import Function


#: Name of the top module of everything that is generated.
TOP = "warpfile"

#: Probes of a configuration.
Probes = Callable[[Config], tuple[Probe, ...]]


class GoldenModel(Protocol):
    """What the lockstep needs of a cycle model (docs/machine.md, section 8 and 10)."""

    counters: dict[str, int]
    operands_checked: int

    def step(self, stimulus: Stimulus) -> int:
        """Observation word of the cycle with these inputs; then the clock edge."""


@dataclass(frozen=True)
class Hints:
    """The annotation pass of a scheme.

    ``label`` says what hints of a configuration hold for. ``shown`` computes, by name, what ``warpfile analyze``
    shows of a function: hints by offset. ``annotate`` gives the hints of a trace's beats; with a seed some are
    replaced at random by others that are right too, so that tests meet all combinations.
    """

    label: Callable[[Config], str]
    shown: Mapping[str, Callable[[Function, Config], Mapping[int, object]]]
    annotate: Callable[[Config, Trace, int | None], np.ndarray]


@dataclass(frozen=True)
class Scheme:
    """One register-file architecture.

    ``parameters`` is the configuration's class, with the scheme's own fields. ``settings`` changes fields of presets,
    by the preset's name; "" stands for all presets and yields to the others. ``events`` sums the scheme's own
    counters from the probes, which the golden model sums from its own events. ``accesses`` names what the register
    file's parts are asked for (kinds of ``synth/energy.toml``, and others that nobody has priced), each with the
    counters whose sum says how often. ``prices`` is the set of prices from the scheme's own paper; without one the set
    of the node nearest to ``node_nm`` is taken, that of the chip which the scheme's preset describes.
    """

    name: str
    summary: str
    preset: str
    probes: Probes
    events: Callable[[Fields], Mapping[str, int]]
    golden: Callable[[Config, ProbeLayout], GoldenModel]
    rtl: Callable[[Config, bool], Component]  #: configuration, with probe port
    parameters: type[Config] = Config
    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    hints: Hints | None = None
    harness: Callable[[Config, ProbeLayout], str] | None = None  #: Verilog that checks more in the test harness
    reached: tuple[str, ...] = ()  #: counters that the regression must not leave at zero
    accesses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    prices: str = ""
    node_nm: int = 0
    structures: tuple[Structure, ...] = BASELINE_STRUCTURES  #: what it stores beside the frame

    @property
    def stored(self) -> tuple[Structure, ...]:
        """Everything that a machine of the scheme stores; a bit belongs to the first structure that it fits."""
        return (*self.structures, *FRAME)

    def configuration(self, preset: str, **changes: object) -> Config:
        """The scheme at a preset, with single fields changed. Raises ``ValueError`` for an impossible value."""
        values: dict[str, object] = PRESETS[preset].config.to_json()
        values |= {**self.settings.get("", {}), **self.settings.get(preset, {}), **changes}
        return self.parameters(**self.parameters.adapted(values) | changes)  # type: ignore[arg-type]

    def annotated(self, cfg: Config, trace: Trace, loosened: int | None = None) -> Trace:
        """The trace with the hints that the configuration needs; ``loosened`` is the seed for random other ones."""
        if self.hints is None or not cfg.hint_bits:
            return trace
        label = f"{self.name} {self.hints.label(cfg)}" + ("" if loosened is None else f" loosened={loosened}")
        if trace.annotation.startswith(label):
            return trace
        return dataclasses.replace(trace, annotation=label, hints=self.hints.annotate(cfg, trace, loosened))

    def verilog(self, cfg: Config, *, probes: bool, progress: Callable[[str], None] = str) -> str:
        """Verilog of the whole machine, top module ``TOP``; ``progress`` is told every module's name."""
        from warpfile.hdl.stamp import convert

        return convert(lambda: self.rtl(cfg, probes), TOP, progress)


def _found(place: str) -> Any:
    """What ``module:name`` names; models and RTL are imported when a scheme is first used."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def _golden(place: str) -> Callable[[Config, ProbeLayout], GoldenModel]:
    return lambda cfg, layout: _found(place)(cfg, layout)


def _machine(stage: str, probes: Probes) -> Callable[[Config, bool], Component]:
    def rtl(cfg: Config, observed: bool) -> Component:
        return _found("warpfile.hdl.machine:Machine")(cfg, _found(stage), probes(cfg) if observed else ())

    return rtl


def _beside_frame(probes: Callable[[Any], tuple[Probe, ...]]) -> Probes:
    """The frame's probes and an operand stage's own."""
    return lambda cfg: (*frame_probes(cfg), *probes(cfg))


_BOW_PROBES = _beside_frame(window_probes)
_MALEKEH_PROBES = _beside_frame(unit_probes)
_RFC_PROBES = _beside_frame(cache_probes)
_TURING_NM = 12  # NVIDIA Turing GPU Architecture whitepaper (2018): TSMC 12 nm FFN
_BANK_ACCESSES = {
    "bank_read": ("bank_reads",),
    "bank_write": ("bank_writes",),
    "crossbar": ("bank_reads", "bank_writes"),
}
_BASELINE_ACCESSES = {**_BANK_ACCESSES, "collector_write": ("bank_reads",), "collector_read": ("bank_reads",)}
_COMMON_REACHED = ("write_waits", "issue_barrier", "issue_hazard", "issue_idle", "dispatch_waits", "bank_conflicts")


_BOW_HINTS = Hints(bow_label, {"write_class": bow_classes}, bow_annotate)
_BOW_TINY = {"window_entries": 4}
_BOW_REACHED = (
    *_COMMON_REACHED,
    *("bypassed_reads", "late_results", "refusals", "victims", "stall_slot"),
    *("stall_entry", "stall_write_after_read"),
)
_BOW_WR_REACHED = (
    *(
        "bypassed_writes",
        "saved_writes",
        "evictions",
        "discards",
        "victims_transient",
        "dropped_results",
        "late_bank_writes",
        "stall_evict",
    ),
    *("class_0", "class_1", "class_2", "class_3"),
)


_BOW_ACCESSES = {
    **_BANK_ACCESSES,
    "window_read": ("window_reads",),
    "window_write": ("window_writes",),
    "window_tag": ("bypassed_reads", "bank_reads", "results"),
}


_MALEKEH_ACCESSES = {
    **_BANK_ACCESSES,
    "unit_write": ("bank_reads", "cached_results"),
    "unit_read": ("sources",),
    "unit_tag": ("sources", "bank_writes"),
}


_RFC_UNCACHED = ("bypasses_hint", "bypasses_partial", "bypasses_full", "long_results")
_RFC_ACCESSES = {
    **_BANK_ACCESSES,
    "cache_read": ("cache_hits", "evictions", "flushes"),
    "cache_write": ("cache_writes",),
    "cache_tag": ("cache_hits", "cache_misses", "cache_writes", *_RFC_UNCACHED),
    "queue_write": ("evictions", "flushes", *_RFC_UNCACHED),
    "queue_read": ("bank_writes",),
    "collector_write": ("cache_hits", "cache_misses"),
    "collector_read": ("cache_hits", "cache_misses"),
}

SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Scheme(
            name="baseline",
            summary="banked single-port register file with operand collector units, scoreboard, GTO or LRR",
            preset="turing",
            probes=baseline_probes,
            events=baseline_events,
            golden=_golden("warpfile.golden.collectors.units.stage:Baseline"),
            rtl=_machine("warpfile.hdl.collectors.units.stage:OperandStage", baseline_probes),
            reached=(*_COMMON_REACHED, "issue_room"),
            accesses=_BASELINE_ACCESSES,
            node_nm=_TURING_NM,
        ),
        Scheme(
            name="bow",
            summary="operand windows: one per warp, results forwarded and written through",
            preset="pascal",
            probes=_BOW_PROBES,
            events=window_events,
            golden=_golden("warpfile.golden.collectors.bow.stage:Bow"),
            rtl=_machine("warpfile.hdl.collectors.bow.stage:WindowStage", _BOW_PROBES),
            parameters=BowConfig,
            settings={"": {"window_writes": "through"}, "tiny": _BOW_TINY},
            hints=_BOW_HINTS,
            harness=lambda cfg, layout: _found("warpfile.sim.poison:window_poison")(cfg, layout),
            reached=_BOW_REACHED,
            accesses=_BOW_ACCESSES,
            structures=BOW_STRUCTURES,
            prices="bow",
        ),
        Scheme(
            name="bow_wr",
            summary="operand windows: results written back, or not, as the compiler says",
            preset="pascal",
            probes=_BOW_PROBES,
            events=window_events,
            golden=_golden("warpfile.golden.collectors.bow.stage:Bow"),
            rtl=_machine("warpfile.hdl.collectors.bow.stage:WindowStage", _BOW_PROBES),
            parameters=BowConfig,
            settings={"": {"window_writes": "hints"}, "tiny": _BOW_TINY},
            hints=_BOW_HINTS,
            harness=lambda cfg, layout: _found("warpfile.sim.poison:window_poison")(cfg, layout),
            reached=_BOW_REACHED + _BOW_WR_REACHED,
            accesses=_BOW_ACCESSES,
            structures=BOW_STRUCTURES,
            prices="bow",
        ),
        Scheme(
            name="malekeh",
            summary="caching collector units: owners first, near registers kept, bounded wait",
            preset="turing",
            probes=_MALEKEH_PROBES,
            events=unit_events,
            golden=_golden("warpfile.golden.collectors.malekeh.stage:Malekeh"),
            rtl=_machine("warpfile.hdl.collectors.malekeh.stage:CachingStage", _MALEKEH_PROBES),
            parameters=MalekehConfig,
            settings={"tiny": {"unit_entries": 4, "interval": 64}},
            hints=Hints(malekeh_label, {"near (sources, dests)": malekeh_near}, malekeh_annotate),
            reached=(*_COMMON_REACHED, *MALEKEH_COUNTERS),
            accesses=_MALEKEH_ACCESSES,
            structures=MALEKEH_STRUCTURES,
            node_nm=_TURING_NM,
        ),
        Scheme(
            name="rfc",
            summary="register file cache per active warp, two-level scheduler, dead bits",
            preset="isca2011",
            probes=_RFC_PROBES,
            events=cache_events,
            golden=_golden("warpfile.golden.rf.rfc.stage:Rfc"),
            rtl=_machine("warpfile.hdl.rf.rfc.stage:CacheStage", _RFC_PROBES),
            parameters=RfcConfig,
            settings={"tiny": {"active_warps": 2, "cache_entries": 2, "write_queue": 2}},
            hints=Hints(rfc_label, {"suspend, dead, evict first, no allocate": rfc_shown}, rfc_annotate),
            reached=(*_COMMON_REACHED, *RFC_COUNTERS),
            accesses=_RFC_ACCESSES,
            structures=RFC_STRUCTURES,
            prices="rfc",
        ),
    )
}

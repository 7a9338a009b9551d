"""The scheme table: the one place where the parts of a scheme meet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from spec.baseline import baseline_probes
from spec.config import Config
from spec.environment import Stimulus
from spec.probe import Probe, ProbeLayout

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component

    from compiler.model import Function


#: Name of the top module of everything that is generated.
TOP = "warpfile"


class GoldenModel(Protocol):
    """What the lockstep needs of a cycle model (docs/machine.md, section 8 and 10)."""

    counters: dict[str, int]
    operands_checked: int

    def step(self, stimulus: Stimulus) -> int:
        """Observation word of the cycle with these inputs; then the clock edge."""


@dataclass(frozen=True)
class Scheme:
    """One register-file architecture. ``passes`` maps the name of each hint to the pass that computes it."""

    name: str
    summary: str
    preset: str
    probes: Callable[[Config], tuple[Probe, ...]]
    golden: Callable[[Config, ProbeLayout], GoldenModel]
    rtl: Callable[[Config, bool], Component]  #: configuration, with probe port
    passes: dict[str, Callable[[Function], object]] = field(default_factory=dict)

    def verilog(self, cfg: Config, *, probes: bool, progress: Callable[[str], None] = str) -> str:
        """Verilog of the whole machine, top module ``TOP``; ``progress`` is told every module's name."""
        from hdl.stamp import convert

        return convert(lambda: self.rtl(cfg, probes), TOP, progress)


def _baseline_golden(cfg: Config, layout: ProbeLayout) -> GoldenModel:
    from golden.baseline import Baseline

    return Baseline(cfg, layout)


def _baseline_rtl(cfg: Config, probes: bool) -> Component:
    from hdl.machine import Baseline

    return Baseline(cfg, probes=probes)


SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Scheme(
            name="baseline",
            summary="banked single-port register file with operand collector units, scoreboard, GTO or LRR",
            preset="turing",
            probes=baseline_probes,
            golden=_baseline_golden,
            rtl=_baseline_rtl,
        ),
    )
}

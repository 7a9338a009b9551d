"""A scheme: three parts and what is said of them together."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warpfile.schemes import fit
from warpfile.schemes.part import GoldenModel, Hits, Part, RamCounters, load_object
from warpfile.schemes.registry import PARTS
from warpfile.schemes.row import Claim, Row, Setup
from warpfile.spec.config import Config, joined
from warpfile.spec.frame import count, frame_probes
from warpfile.spec.presets import PRESETS
from warpfile.spec.probe import Fields, Probe, ProbeLayout
from warpfile.spec.rewrite import original
from warpfile.spec.structure import FRAME, Structure

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component

    from warpfile.spec.trace import Trace

#: Name of the top module of everything that is generated.
TOP = "warpfile"
#: Counters that no regression of any scheme must leave at zero.
REACHED = ("write_waits", "issue_barrier", "issue_hazard", "issue_idle", "dispatch_waits", "bank_conflicts")


def schedulers() -> dict[str, Part]:
    """All known schedulers by name."""
    return {part.name: part for part in PARTS.values() if part.slot == "scheduler"}


@dataclass(frozen=True)
class Scheme(Row):
    """One register-file architecture: collectors over a register file, under a scheduler.

    ``scheduler`` is None where the preset chooses it. ``settings`` goes over the parts' own. ``reached`` are counters
    that the regression must not leave at zero, beside the parts' own. ``node_nm`` is the node of the chip that the
    scheme's preset describes: without prices of a part's own paper those of the nearest node are taken. ``point`` are
    the fields of the design that its paper costs, and ``claims`` are about, where it is not the scheme's own. ``study``
    names the module of its evidence page, ``survivors`` a file (``package:path``) with the mutants that no trace shows.
    ``variant_of`` is another scheme of which it is the same parts in other settings: the table has it by its name, but
    what goes over all schemes goes over that one.
    """

    summary: str
    preset: str
    collectors: Part
    rf: Part
    scheduler: Part | None = None
    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    reached: tuple[str, ...] = ()
    node_nm: int = 0
    point: Mapping[str, object] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    setups: tuple[Setup, ...] = ()
    study: str = ""
    survivors: str = ""

    @property
    def chosen(self) -> tuple[Part, ...]:
        """The parts that are chosen for every preset: scheduler if it is, collectors, register file."""
        return (*((self.scheduler,) if self.scheduler else ()), self.collectors, self.rf)

    @property
    def parameters(self) -> type[Config]:
        """The configuration's class. Raises ``ValueError`` for parts that cannot have one together."""
        try:
            return joined(tuple(part.parameters for part in self.chosen))
        except TypeError as error:
            raise ValueError(f"{self.name}: parts must fit: {error}") from None

    def parts(self, cfg: Config) -> tuple[Part, Part, Part]:
        """Scheduler, collectors and register file of a configuration."""
        fixed = self.scheduler and self.scheduler.name == cfg.scheduler
        return self.scheduler if fixed and self.scheduler else schedulers()[cfg.scheduler], self.collectors, self.rf

    @property
    def stored(self) -> tuple[Structure, ...]:
        """Everything that a machine of the scheme stores; a bit belongs to the first structure that it fits."""
        return (*(one for part in self.chosen for one in part.structures), *FRAME)

    @property
    def accesses(self) -> dict[str, tuple[str, ...]]:
        """What the parts are asked for, with the counters; the register file knows best how its copies are read.

        A scheduler for whose sake more is read adds its own counters.
        """
        kinds = {**self.rf.accesses, **self.collectors.accesses, **self.rf.accesses}
        more = self.scheduler.accesses if self.scheduler else {}
        return {kind: (*names, *more.get(kind, ())) for kind, names in kinds.items()}

    @property
    def rams(self) -> dict[str, RamCounters]:
        """Counters of the reads and of the writes of every SRAM; those of the scheduler on top."""
        more = self.scheduler.rams if self.scheduler else {}
        rams = {**self.collectors.rams, **self.rf.rams}
        pairs = {ram: more.get(ram, ((), ())) for ram in rams}
        return {ram: ((*reads, *pairs[ram][0]), (*writes, *pairs[ram][1])) for ram, (reads, writes) in rams.items()}

    @property
    def prices(self) -> str:
        """Set of prices from the paper of a part; empty if no part has one."""
        return self.rf.prices or self.collectors.prices

    @property
    def hits(self) -> Hits | None:
        """Of the part nearest to the execution units that keeps something near."""
        return self.collectors.hits or self.rf.hits

    @property
    def defines(self) -> frozenset[str]:
        """Fields of every configuration that are the scheme itself."""
        return frozenset(name for part in self.chosen for name in part.defines)

    @property
    def must_reach(self) -> tuple[str, ...]:
        """Counters that the regression must not leave at zero."""
        return (*REACHED, *(name for part in self.chosen for name in part.reached), *self.reached)

    @property
    def regression(self) -> tuple[Setup, ...]:
        """Setups of the regression: the row's, or its preset and the small one."""
        return self.setups or tuple(Setup(preset) for preset in dict.fromkeys((self.preset, "tiny")))

    def probes(self, cfg: Config) -> tuple[Probe, ...]:
        """Observation of the frame, then of scheduler, collectors and register file.

        Raises ``ValueError`` where two of them declare one name.
        """
        declared = ((part.name, part.probes(cfg)) for part in self.parts(cfg))
        return fit.unique(self.name, (("the frame", frame_probes(cfg)), *declared))

    def events(self, cfg: Config, fields: Fields) -> dict[str, int]:
        """Counters of the frame and of the parts."""
        return count(fields, [part.events for part in self.parts(cfg)])

    def golden(self, cfg: Config, layout: ProbeLayout) -> GoldenModel:
        """The cycle model."""
        parts = (load_object(part.golden) for part in self.parts(cfg))
        model: GoldenModel = load_object("warpfile.golden.machine:Machine")(cfg, layout, *parts)
        return model

    def rtl(self, cfg: Config, probes: tuple[Probe, ...] = ()) -> Component:
        """The machine as hardware, with a port for ``probes`` of its own, if any are named.

        Raises ``ValueError`` for what is no hardware.
        """
        cfg.must_be_hardware()
        parts = (load_object(part.rtl) for part in self.parts(cfg))
        machine: Component = load_object("warpfile.hdl.machine:Machine")(cfg, *parts, probes)
        return machine

    def configuration(self, preset: str, **changes: object) -> Config:
        """The scheme at a preset, with single fields changed.

        Raises ``ValueError`` for an impossible value, and for parts that do not fit.
        """
        fit.check(self.name, self.chosen)
        kind = self.parameters
        values: dict[str, object] = PRESETS[preset].config.to_json()
        fixed = {"scheduler": self.scheduler.name} if self.scheduler else {}
        values |= fixed
        for settings in (*(part.settings for part in self.chosen), self.settings):
            values |= {**settings.get("", {}), **settings.get(preset, {})}
        cfg = kind(**kind.adapted(values | changes) | fixed | changes)  # type: ignore[arg-type]
        if cfg.scheduler not in schedulers() and cfg.scheduler != fixed.get("scheduler"):
            raise ValueError(f"scheduler must be one of {', '.join(schedulers())}, not {cfg.scheduler}")
        fit.check(self.name, self.parts(cfg), cfg)
        self.probes(cfg)
        return cfg

    def annotated(self, cfg: Config, trace: Trace, loosened: int | None = None) -> Trace:
        """The trace with the hints that the configuration needs; ``loosened`` is the seed for random other ones.

        The passes of the parts run over the original trace, one after the other, each over what the one before has
        made: first those that insert or rename, then those that write hints on what is there then.
        """
        passes = [part.hints for part in self.parts(cfg) if part.hints and part.hints.needed(cfg)]
        if not passes:
            # Parts that take pseudo-instructions or a descriptor, but have no pass, get them as the trace has them.
            own = cfg.operand_bits or cfg.descriptor
            return original(trace) if trace.before and not own else trace
        passes.sort(key=lambda one: bool(one.writes))
        label = " ".join((self.name, *(one.holds_for(cfg) for one in passes)))
        other = " loosened="
        label += "" if loosened is None else f"{other}{loosened}"
        if trace.annotation == label or trace.annotation.startswith(label + other):
            return trace
        trace = original(trace)
        for one in passes:
            trace = one.applied(cfg, trace, loosened)
        return dataclasses.replace(trace, annotation=label)

    def checks(self, cfg: Config, top: str = TOP) -> str:
        """Verilog of the checker that stands beside the machine ``top``, module ``<top>_checks``."""
        text: str = load_object("warpfile.hdl.checks:checks_verilog")(cfg, top)
        return text

    def harness(self, cfg: Config, layout: ProbeLayout) -> str:
        """Verilog that checks more in the test harness."""
        checking, _ = self._checking(cfg)
        return "".join(load_object(part.harness)(cfg, layout) for part in checking)

    def unchecked(self, cfg: Config) -> tuple[str, ...]:
        """What the test harness would check over another register file and leaves out here, a line each."""
        _, left_out = self._checking(cfg)
        return tuple(
            f"{self.name}: {part.harness_checks}, which takes {', '.join(part.harness_wants)}" for part in left_out
        )

    def _checking(self, cfg: Config) -> tuple[list[Part], list[Part]]:
        """Parts that check more in the harness, and those that would if others offered what they want for it."""
        parts = [part for part in self.parts(cfg) if part.harness]
        offered = {offer for part in self.parts(cfg) for offer in part.offers}
        able = [part for part in parts if offered.issuperset(part.harness_wants)]
        return able, [part for part in parts if part not in able]

    def verilog(
        self, cfg: Config, *, probes: bool, progress: Callable[[str], object] = str, apart: bool = False
    ) -> str:
        """Verilog of the whole machine, top module ``TOP``; ``progress`` is told every module's name. ``apart``: every
        part has the ports that it declares.
        """
        observed = self.probes(cfg) if probes else ()
        text: str = load_object("warpfile.hdl.stamp:convert")(
            lambda: self.rtl(cfg, observed), TOP, progress, apart=apart
        )
        return text


def without_initial_values(verilog: str) -> str:
    """A machine with no initial value of any register: what reset does not set is unknown until it is written."""
    text: str = load_object("warpfile.hdl.power_up:without_initial_values")(verilog)
    return text


def readable(verilog: str) -> str:
    """A machine that was generated ``apart``, with a plain name for every wire, register and module but the top."""
    text: str = load_object("warpfile.hdl.readable:readable")(verilog, lambda module: module.replace(".", "__"))
    return text

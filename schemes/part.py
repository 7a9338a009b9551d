"""A part: one choice for one slot of the machine, with everything that is declared of it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from warpfile.spec.config import Config
from warpfile.spec.probe import Fields, Probe
from warpfile.spec.structure import Structure

if TYPE_CHECKING:
    from warpfile.compiler.model import Function
    from warpfile.spec.stimulus import Stimulus
    from warpfile.spec.trace import Trace

SLOTS = ("scheduler", "collectors", "rf")

# What parts offer each other and want of each other, and what only one part of a machine can own.
PLACES = "a scheduler with places"  #: it gives the warp in every place, and asks the register file to let go of one
OWNERS_FIRST = "a scheduler that takes preferred warps in the order of their age or of their places"
AT_ONCE = "places in the cycle of the offer"
LOOKED_UP_LATER = "collectors that look sources up after their beat was taken"
NEAR = "collectors that read beside the banks what the offered beat calls near"
LOOK_UPS = "look-ups of further registers"
RESULT_BANKS = "to know to which bank a result goes"
ENGINES = "bank ports for engines of the collectors"
STAYING = "banks behind a plain file, in which a register keeps its place while its warp is resident"
RESIDENCY = "which warps have their registers near"
RENAMING = "the renaming of registers"
RENAMED = "registers that are where a renaming table says"
EVICTIONS = "registers that are given back by name"
LOOKAHEAD = "to know whose next load is in the register file"
RANKS = "to know which warps own the registers that two share"
LOOKED_UP_ONE_BY_ONE = "collectors that have sources looked up one by one, and unpack them"


#: Counters of the reads and of the writes of an SRAM.
RamCounters = tuple[tuple[str, ...], tuple[str, ...]]


class GoldenModel(Protocol):
    """What the lockstep needs of a cycle model (docs/machine.md, section 8 and 10)."""

    operands_checked: int

    @property
    def counters(self) -> dict[str, int]:
        """Sums since the beginning."""
        ...

    @property
    def trail(self) -> Sequence[tuple[int, ...]]:
        """What the model decided interval after interval, if it does."""
        ...

    def step(self, stimulus: Stimulus) -> int:
        """Observation word of the cycle with these inputs; then the clock edge."""
        ...


def load_object(place: str) -> Any:
    """What ``module:name`` names; models, RTL and passes are imported when a part is first used."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


@dataclass(frozen=True)
class Hints:
    """The annotation pass of a part. ``label``, ``annotate`` and the values of ``shown`` are places (``module:name``).

    ``annotate(cfg, trace, loosened)`` returns a new trace with the hints called ``writes`` on its beats; it leaves all
    other bits alone. With a seed some hints are replaced at random by others that are right too, so that tests meet all
    combinations. ``label(cfg)`` names what they hold for. ``shown`` gives, by name, functions of a listing's function
    and a configuration to hints by offset, for ``warpfile analyze``; ``checks`` is the place of one that gives a line
    for everything in the listing that the configuration does not bear, ``remarks`` of one that returns what is to be
    known of code for a GPU (90 for sm_90) at a configuration, or None. The pass runs where the configuration has one of
    the hints; one without ``writes``, which inserts or renames, always runs.
    """

    annotate: str
    label: str
    writes: tuple[str, ...] = ()
    shown: Mapping[str, str] = field(default_factory=dict)
    checks: str = ""
    remarks: str = ""

    def needed(self, cfg: Config) -> bool:
        """Whether the pass has something to do for a configuration."""
        return not self.writes or any(hint.name in self.writes for hint in cfg.hints())

    def holds_for(self, cfg: Config) -> str:
        """What the hints of a configuration hold for."""
        return str(load_object(self.label)(cfg))

    def applied(self, cfg: Config, trace: Trace, loosened: int | None) -> Trace:
        """The trace with the hints of this pass as well."""
        result: Trace = load_object(self.annotate)(cfg, trace, loosened)
        return result

    def of_listing(self, function: Function, cfg: Config) -> dict[str, dict[int, object]]:
        """Hints of a listing's function, by the name that they are shown under and by offset."""
        return {name: dict(load_object(place)(function, cfg)) for name, place in self.shown.items()}

    def of_checks(self, function: Function, cfg: Config) -> list[str]:
        """What is wrong with a listing's function, a line each."""
        return list(load_object(self.checks)(function, cfg)) if self.checks else []

    def of_gpu(self, architecture: int | None, cfg: Config) -> str | None:
        """What is to be known of a listing for a GPU; None if nothing is, or the listing does not tell."""
        remark: str | None = load_object(self.remarks)(architecture, cfg) if self.remarks else None
        return remark


@dataclass(frozen=True)
class Hits:
    """What a part keeps near, and how often it helps: counters of ``hits``, and of all that was ``looked_up``."""

    what: str
    hits: tuple[str, ...]
    looked_up: tuple[str, ...]

    def ratio(self, counters: Mapping[str, int]) -> float | None:
        """Hits per look-up; None where nothing was looked up, or nothing is kept near: the machine counts no hits."""
        if not counters.keys() >= {*self.hits}:
            return None
        asked = sum(counters[name] for name in self.looked_up)
        return sum(counters[name] for name in self.hits) / asked if asked else None


def _no_probes(cfg: Any) -> tuple[Probe, ...]:
    return ()


def _no_events(fields: Fields) -> dict[str, int]:
    return {}


@dataclass(frozen=True)
class Part:
    """One choice for a slot.

    ``golden`` and ``rtl`` name the classes (``module:name``); docs/architecture.md, section 4 says how they are made
    and what they offer. ``parameters`` is the configuration's class, with the part's own fields. ``settings`` changes
    fields of presets, by the preset's name; "" stands for all presets and yields to the others. ``events`` sums the
    part's own counters from its probes, which the golden model sums from its own events. ``offers``, ``wants``, of
    ``wants_one`` any one, and ``owns`` say which parts it fits (``schemes.fit``). ``accesses`` names what the part, or
    the bank that it asks, is asked for (kinds of published prices, and others without a price), each with the
    counters whose sum says how often; ``prices`` is the set of prices from its own paper: one of ``synth/prices``, or a
    file of the part's own package (``package:path``), whose name without its ending is that of the set. ``rams`` names,
    for each SRAM of its configuration, the counters whose sums are its reads and writes; one named twice counts twice.
    ``hits``: how often what the part keeps near serves an operand or a load. ``defines`` are fields of every
    configuration that are the part itself, so that a matched baseline keeps its own value (``schemes.matching``).
    """

    name: str
    slot: str
    summary: str
    golden: str
    rtl: str
    parameters: type[Config] = Config
    probes: Callable[[Any], tuple[Probe, ...]] = _no_probes
    events: Callable[[Fields], Mapping[str, int]] = _no_events
    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    structures: tuple[Structure, ...] = ()  #: what it stores
    hints: Hints | None = None
    harness: str = ""  #: place of a function that gives Verilog for the test harness, to check more
    harness_wants: tuple[str, ...] = ()  #: what other parts must offer for that; where they do not, it is left out
    harness_checks: str = ""  #: what is not checked then, for those who read of the run
    reached: tuple[str, ...] = ()  #: counters that the regression must not leave at zero
    accesses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    prices: str = ""
    rams: Mapping[str, RamCounters] = field(default_factory=dict)
    hits: Hits | None = None
    offers: tuple[str, ...] = ()
    wants: tuple[str, ...] = ()
    wants_one: tuple[str, ...] = ()
    owns: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    proofs: tuple[str, ...] = ()  #: places of tuples of proofs, for the formal runner of the tests

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"name must be an identifier, not {self.name!r}")
        if self.slot not in SLOTS:
            raise ValueError(f"slot must be one of {', '.join(SLOTS)}, not {self.slot!r}")

    @property
    def modules(self) -> tuple[str, ...]:
        """Modules that the part names: everything that decides about it is in their packages."""
        places = (self.golden, self.rtl, self.harness, self.hints.annotate if self.hints else "")
        named = [place.partition(":")[0] for place in places if place]
        return (*named, self.parameters.__module__, self.probes.__module__, self.events.__module__)

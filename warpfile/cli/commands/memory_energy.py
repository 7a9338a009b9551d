"""``warpfile energy --prices cacti``: what the memories of runs cost at one set of prices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpfile.cli.commands.logic_energy import show_logic
from warpfile.output.display import say, say_notes, show_table
from warpfile.results.designs import BASELINE, Design
from warpfile.results.run import GoldenRun
from warpfile.spec.config import Config
from warpfile.synth.arrays import ArrayPrices, MemoryEnergy, RunEnergy, run_energy

if TYPE_CHECKING:
    from warpfile.results.logic import LogicEnergy

_PJ_PER_NJ = 1000.0


@dataclass(frozen=True)
class MemoryBill:
    """The memories of one scheme's run, and of the baseline's in the same configuration, at one set of prices."""

    design: Design
    run: GoldenRun
    energy: RunEnergy
    baseline: RunEnergy
    logic: LogicEnergy | None = None
    baseline_logic: LogicEnergy | None = None

    @classmethod
    def of(
        cls, design: Design, run: GoldenRun, baseline: GoldenRun, prices: ArrayPrices, gigahertz: float
    ) -> MemoryBill:
        """What both runs cost. Raises as :func:`warpfile.synth.arrays.run_energy`."""
        ours, base = (
            run_energy(it.scheme, it.config, one.counters, one.cycles, prices, gigahertz)
            for it, one in ((design, run), (design.baseline, baseline))
        )
        return cls(design, run, ours, base)

    def with_logic(self, found: Mapping[tuple[str, Config], LogicEnergy]) -> MemoryBill:
        """The same with the logic of scheme and baseline, where it was looked at."""
        ours, base = (found.get((it.scheme.name, it.config)) for it in (self.design, self.design.baseline))
        return replace(self, logic=ours, baseline_logic=base)

    @property
    def slow(self) -> tuple[MemoryEnergy, ...]:
        """Memories that cannot have an access in every cycle of the clock."""
        return tuple(one for one in self.energy.memories if one.cycle_ns * self.energy.gigahertz > 1)

    def to_json(self) -> dict[str, object]:
        """The scheme's facts of ``--json``."""
        prices = self.energy.prices
        return {
            "kernel": self.run.kernel,
            "preset": self.design.preset,
            "domain": self.design.config.domain,
            "lanes": self.design.config.lanes,
            "prices": {
                name: getattr(prices, name) for name in ("name", "source", "node_nm", "volts", "kelvin", "cells")
            },
            **self.energy.to_json(),
            "baseline": self.baseline.to_json(),
            "over_baseline": self.energy.over(self.baseline),
            "logic": self.logic and self.logic.to_json(),
            "baseline_logic": self.baseline_logic and self.baseline_logic.to_json(),
        }


def show_memory_bills(bills: Sequence[MemoryBill]) -> None:
    """A table of the totals, one of each scheme's memories, and what is not in them."""
    prices, gigahertz = bills[0].energy.prices, bills[0].energy.gigahertz
    columns = ("scheme", "kernel", "preset", "lanes", "cycles", "nJ accesses", "nJ leaked", "nJ", "nJ baseline")
    show_table((*columns, "over the baseline", "mm2"), map(_row, bills))
    say(f"{prices.name}: {prices.source}: {prices.node_nm} nm, {prices.volts:g} V, {prices.kelvin} K, {prices.cells};")
    say(f"leakage at {gigahertz:g} GHz; {prices.remark}.")
    for one in bills:
        _show_memories(one)
    if any(one.logic for one in bills):
        show_logic(bills)
    say_notes((one.design.scheme.name, one.run.notes) for one in bills)


def _row(one: MemoryBill) -> tuple[object, ...]:
    ours, ratio = one.energy, one.energy.over(one.baseline)
    totals = (ours.dynamic, ours.leakage, ours.picojoules, one.baseline.picojoules)
    facts = (one.run.kernel, one.design.preset, one.design.config.lanes, ours.cycles)
    growth = "-" if ratio is None else f"{ratio - 1:+.1%}"
    return (one.design.scheme.name, *facts, *(total / _PJ_PER_NJ for total in totals), growth, ours.area_mm2)


def _show_memories(one: MemoryBill) -> None:
    name = one.design.scheme.name
    columns = (f"memories of {name}", "arrays", "each", "reads", "writes", "pJ read", "pJ write", "mW leaked", "mm2")
    show_table(columns, map(_memory_row, one.energy.memories))
    say(f"Flip-flops and wires of {name} are not in it; they are asked for: {_counts(one.energy)}.")
    if name != BASELINE:
        say(f"Those of the baseline: {_counts(one.baseline)}.")
    for memory in one.slow:
        say(f"note ({name}): {memory.ram} needs {memory.cycle_ns:g} ns from access to access, more than a cycle.")


def _memory_row(one: MemoryEnergy) -> tuple[object, ...]:
    costs = (one.read_pj, one.write_pj, one.leakage_mw, one.area_mm2)
    return (one.ram, one.arrays, str(one.array), one.reads, one.writes, *costs)


def _counts(found: RunEnergy) -> str:
    counts = (f"{kind.replace('_', ' ')} {count:,}" for kind, count in found.unpriced.items())
    return ", ".join(counts) or "nothing"

"""Where the operands are that a bank has to bring: ``python -m tests.golden.collectors.sticky.elsewhere``.

Large launches of some kernels at the preset ``turing``, shares of all sources, means over the kernels.
"""

from __future__ import annotations

from collections import Counter

from tests.golden.machines import Sticky, layout_of
from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.sticky.collectors import StickyUnits
from warpfile.golden.entry import Entry
from warpfile.golden.run import observations
from warpfile.results.points import trace_of
from warpfile.schemes import find
from warpfile.spec.environment import Environment
from warpfile.spec.workload import prepare

KERNELS = ("bfs_step", "conv2d", "fdtd", "histogram", "hotspot", "black_scholes", "scan", "srad_update")


class Looking(StickyUnits):
    """Units that look for every source of a beat in all near slots before they take it."""

    found: Counter[str]

    def accept(self, warp: int, entry: Entry) -> bool:
        """Count where the sources are, then go on."""
        if entry.needs_unit:
            unit, hits = self.kept.choose(self._free, warp, entry)
            holders: dict[int, set[int]] = {}
            for slot in indices(self.kept.kept):
                if self.kept.owners[slot] == warp:
                    holders.setdefault(self.kept.names[slot], set()).add(slot // self._near)
            for slot, register in enumerate(entry.beat.sources):
                self.found[self._place(unit, hits >> slot & 1, warp, register, holders)] += 1
        return super().accept(warp, entry)

    def _place(self, unit: int, hit: int, warp: int, register: int, holders: dict[int, set[int]]) -> str:
        if hit:
            return "hit"
        if self.results.registers[warp] >> register & 1:
            return "coming"
        if register not in holders:
            return "nowhere"
        return "other slot" if unit in holders[register] else "other unit"


class LookingMachine(Sticky):
    """The machine with these units."""

    kind = Looking


def shares(kernel: str, units: int) -> dict[str, float]:
    """Of the sources of a kernel."""
    cfg = find("sticky").configuration("turing", collectors=units)
    layout = layout_of("sticky", cfg)
    machine = LookingMachine(cfg, layout)
    machine.collectors.found = found = Counter()  # type: ignore[attr-defined]
    for _ in observations(machine, Environment(cfg, prepare(cfg, trace_of(kernel, "large")), layout)):
        pass
    return {place: count / found.total() for place, count in found.items()}


def main() -> None:
    """Print a line per number of units."""
    for units in (2, 4, 8):
        means: Counter[str] = Counter()
        for kernel in KERNELS:
            for place, share in shares(kernel, units).items():
                means[place] += share / len(KERNELS)  # type: ignore[assignment]
        print(units, *(f"{place} {share:.1%}" for place, share in means.most_common()), sep="  ")


if __name__ == "__main__":
    main()

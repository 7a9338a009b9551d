"""Where all accesses take equally long, the partitioned file is one of plain banks with other places."""

from __future__ import annotations

import random

import pytest

from tests.golden.machines import Baseline, layout_of
from tests.golden.rf.pilot.invariants import swapped
from tests.golden.rf.pilot.scenario import drawn, run_pilot
from tests.golden.rf.pilot.test_random import random_pilot
from warpfile.golden.rf.plain import PlainFile
from warpfile.golden.run import observations
from warpfile.golden.scheduler.places import Places
from warpfile.spec.contract import Gives
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.pilot import PilotConfig
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare


class PlainConfig(PilotConfig):
    """The same places for as many warps, and a file that knows of no kernel."""

    @property
    def gives(self) -> Gives:
        """What plain banks give."""
        return Gives(cycles=self.bank_cycles)


class Partitions:
    """Places by the formulas of the scheme; ``homes`` are those of the registers that do not live at home."""

    def __init__(self, cfg: PilotConfig, homes: dict[int, int]) -> None:
        self._banks, self._hot, self._homes = cfg.banks, cfg.fast_registers, homes
        self._fast = -(-cfg.warps * cfg.fast_registers // cfg.banks)
        self._base = [0] * cfg.warps

    def launched(self, warp: int, base: int) -> None:
        """Its slow registers begin there."""
        self._base[warp] = base

    def place(self, warp: int, register: int) -> tuple[int, int]:
        """Bank and row."""
        home = self._homes.get(register, register)
        if home < self._hot:
            return (warp * self._hot + home) % self._banks, (warp * self._hot + home) // self._banks
        at = self._base[warp] + home - self._hot
        return at % self._banks, self._fast + at // self._banks


def run_plain(cfg: PilotConfig, trace: Trace) -> list[dict[str, int]]:
    """Every cycle of the baseline with the places of the partitions."""
    plain = PlainConfig(**(cfg.to_json() | {"profile": "none"}))  # type: ignore[arg-type]
    homes = swapped(cfg.fast_registers, list(trace.descriptor.values()), cfg.marker)

    class PartedFile(PlainFile):
        def __init__(self, cfg: PilotConfig, layout: ProbeLayout, places: Places | None) -> None:
            super().__init__(cfg, Partitions(cfg, homes))

    class Parted(Baseline):
        file_kind = PartedFile

    layout = layout_of("baseline", plain)
    environment = Environment(plain, prepare(plain, trace), layout)
    return [layout.unpack(word) for word in observations(Parted(plain, layout), environment)]


@pytest.mark.parametrize("seed", range(10))
def test_from_the_end_of_load_every_cycle_is_that_of_plain_banks(seed: int) -> None:
    rng = random.Random(seed)
    cfg = random_pilot(rng)
    profile = "none" if seed % 2 else "compiler"
    cfg = cfg.replace(profile=profile, low_cycles=cfg.bank_cycles, slow_cycles=cfg.bank_cycles)
    sizes, registers = rng.choice(([4], [1, 4], [3, 2, 1])), rng.choice((4, 8, 24))
    kind = rng.choice(list(PROFILES))
    trace = drawn(cfg, stress_trace(seed, profile=kind, warps_per_cta=sizes, length=25, registers=registers), rng)
    plain, found = run_plain(cfg, trace), run_pilot(cfg, trace).fields
    shared = [name for name in plain[0] if name in found[0]]
    begins, ends = 1 + cfg.fast_registers, -1  # it is seen to be quiet in one cycle more
    assert [[f[name] for name in shared] for f in found[begins:ends]] == [[f[name] for name in shared] for f in plain]
    assert {"issue", "clear", "grant", "write", "write_wait", "dispatch"} <= set(shared)


def test_a_longer_access_is_another_machine() -> None:
    """The comparison sees a difference where there is one."""
    cfg = random_pilot(random.Random(1)).replace(profile="none", low_cycles=1, bank_cycles=1, slow_cycles=2)
    trace = stress_trace(1, registers=24)
    assert len(run_pilot(cfg, trace).fields) != 2 + cfg.fast_registers + len(run_plain(cfg, trace))

"""One kernel after the other: whatever the first one left behind is gone, in every state that it may end in."""

from __future__ import annotations

import pytest

from tests.golden.machines import Pilot
from tests.golden.rf.pilot.scenario import listed, pilot_config, pilot_layout
from tests.golden.scenario import NOP, hand_trace, op
from warpfile.golden.run import simulate
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.pilot import PilotConfig, State
from warpfile.spec.stimulus import Stimulus
from warpfile.spec.workload import Kernel, prepare

CFG = pilot_config("tiny", epoch=4, pilot_map="always")
LAYOUT = pilot_layout(CFG)


def kernel(cfg: PilotConfig, *hot: int, registers: int = 8) -> Kernel:
    """A kernel with this hot list."""
    return Kernel(registers, {f"hot{k}": register for k, register in enumerate(hot)})


def stepped(machine: Pilot, layout: ProbeLayout, offer: Kernel | None = None) -> dict[str, int]:
    """One cycle in which nothing else comes."""
    stimulus = Stimulus(results=[None] * CFG.write_ports, kernel=offer)
    return layout.unpack(machine.step(stimulus))


def ended(cycles: int, cfg: PilotConfig = CFG) -> Pilot:
    """A machine whose pilot accessed R6 most and ended so many cycles ago, as its only warp."""
    layout = pilot_layout(cfg)
    machine = Pilot(cfg, layout)
    trace = listed(cfg, hand_trace([op((6,)), op((6,)), op((5,), 7)]), (4, 5))
    environment = Environment(cfg, prepare(cfg, trace), layout)
    simulate(machine, environment)
    while machine.file.phases.state == State.PROFILE:
        stepped(machine, layout)
    for _ in range(cycles):
        stepped(machine, layout)
    return machine


def test_a_kernel_begins_while_no_register_moves() -> None:
    """Eight registers are sorted, then one cycle of DRAIN, and one of MOVE for every slot."""
    cfg = CFG.replace(remap="migrate")
    layout = pilot_layout(cfg)
    for cycles, state, warp in ((7, State.DRAIN, 0), (8, State.MOVE, 0), (10, State.MOVE, 2)):
        machine = ended(cycles, cfg)
        f = stepped(machine, layout, kernel(cfg, 7, 1))
        assert (f["pilot_state"], f["kernel"], f["move_warp"]) == (state, 1, warp)
        f = stepped(machine, layout)
        assert (f["pilot_state"], f["swap_table"], f["move_warp"]) == (State.LOAD, 0, 0)


@pytest.mark.parametrize(
    ("cycles", "state"), [(0, State.SORT), (6, State.SORT), (7, State.REMAP), (8, State.REMAP), (9, State.RUN)]
)
def test_a_kernel_begins_afresh(cycles: int, state: State) -> None:
    machine = ended(cycles)
    f = stepped(machine, LAYOUT, kernel(CFG, 7, 1))
    assert (f["pilot_state"], f["kernel"], f["epoch_end"]) == (state, 1, 0)
    f = stepped(machine, LAYOUT, kernel(CFG, 3, 2))
    assert (f["pilot_state"], f["kernel"]) == (State.LOAD, 0)
    for probe in ("swap_table", "sorted", "current_version", "epoch_cycle", "epoch_issued", "scanned", "counted"):
        assert not f[probe], probe
    assert f["high_mode"] == 1
    assert stepped(machine, LAYOUT)["pilot_state"] == State.LOAD
    f = stepped(machine, LAYOUT)
    assert (f["pilot_state"], f["epoch_cycle"]) == (State.PROFILE, 0)
    assert machine.file.homes.tables[0].pairs == [(0, 7)]
    assert machine.file.phases.counts.of == [0] * CFG.marker


def test_no_epoch_ends_in_the_cycle_in_which_a_kernel_is_taken() -> None:
    machine = Pilot(CFG, LAYOUT)
    for cycle in range(12):
        f = stepped(machine, LAYOUT, kernel(CFG, 1, 2) if cycle in (0, 6) else None)
        assert f["kernel"] == (cycle in (0, 6))
    assert machine.counters["epochs_high"] + machine.counters["epochs_low"] == 0
    for _ in range(7):
        stepped(machine, LAYOUT)
    assert (machine.counters["epochs_high"], machine.counters["epochs_low"]) == (1, 1)


def test_a_kernel_waits_until_no_warp_is_resident() -> None:
    machine = Pilot(CFG, LAYOUT)
    trace = listed(CFG, hand_trace([op((6,), 5), NOP], [op((5,), 6)]), (4, 5))
    environment = Environment(CFG, prepare(CFG, trace), LAYOUT)
    fields: list[dict[str, int]] = []
    while not environment.done:
        stimulus = environment.stimulus()
        if fields and fields[-1]["launch"] | fields[-1]["resident"]:
            stimulus.kernel = kernel(CFG, 3, 4)
        word = machine.step(stimulus)
        fields.append(LAYOUT.unpack(word))
        environment.observe(word)
    again = [cycle for cycle, f in enumerate(fields) if f["kernel"]][1:]
    assert again == [1 + max(cycle for cycle, f in enumerate(fields) if f["resident"])]

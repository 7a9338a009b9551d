"""Probes of the read window (section 12)."""

from amaranth import Cat, Module, Mux, Value
from amaranth.lib import wiring

from warpfile.hdl.collectors.read_window.guards import Guards
from warpfile.hdl.collectors.read_window.stages import Stages
from warpfile.hdl.count import count_ones
from warpfile.spec.schemes.modern import ReadWindowConfig


def observe(m: Module, cfg: ReadWindowConfig, collectors: wiring.Component, stages: Stages, guards: Guards) -> None:
    """Drive an output per probe, except for those that the contract has anyway, and those of pending results."""
    seen = {**_warps(cfg, guards), **_window(cfg, collectors, stages), **_queues(stages)}
    if stages.tags is not None:
        tags = stages.tags
        seen |= {"kept": _leaving(stages, stages.allocate.out.reuse), "entries": tags.valid, "killed": tags.killed}
        seen |= {"tags": tags.tags.as_value(), "timers": tags.timers.as_value()}
    m.d.comb += [getattr(collectors, name).eq(value) for name, value in seen.items()]


def _warps(cfg: ReadWindowConfig, guards: Guards) -> dict[str, Value]:
    collectors = guards.collectors
    seen = {
        "in_flight": Cat(one.flying for one in guards.warps),
        "under_way": collectors.collecting,
    }
    if cfg.codes:
        seen |= {name: Cat(getattr(one, name) for one in guards.warps) for name in ("stalled", "resting", "counting")}
        seen["awaits"] = Cat(one.awaits for one in guards.warps) & collectors.buffered
    return seen


def _window(cfg: ReadWindowConfig, collectors: wiring.Component, stages: Stages) -> dict[str, Value]:
    control, allocate, schedule, window = stages.control, stages.allocate, stages.schedule, stages.window
    ports, beat = cfg.read_ports, window.out
    planned = [
        count_ones(list(bank.word_select(cycle, ports)))
        for bank in schedule.reserved
        for cycle in range(cfg.read_window)
    ]
    cached = Cat(~place.any() for place in beat.places) & beat.source_valid
    return {
        "freeze": ~stages.tick,
        "control": control.valid,
        "control_warp": Mux(control.valid, control.out.warp, 0),
        "allocating": allocate.valid,
        "allocating_warp": Mux(allocate.valid, allocate.out.warp, 0),
        "need": Mux(allocate.valid, allocate.need.as_value(), 0),
        "sources": _leaving(stages, allocate.sources),
        "hit": _leaving(stages, stages.tags.hit) if stages.tags is not None else 0,
        "reserved": Cat(Cat(count, 0)[:2] for count in planned),
        "window": window.valid,
        "from_cache": Mux(window.valid[-1], cached, 0),
        "forward": stages.history.forward,
    }


def _leaving(stages: Stages, value: Value) -> Value:
    return Mux(stages.allocate.leaves, value, 0)


def _queues(stages: Stages) -> dict[str, Value]:
    queues = stages.queues
    return {
        "lsu_beats": count_ones(list(queues.lsu_valid)),
        "sfu_beats": count_ones(list(queues.sfu_valid)),
        "fetch": queues.fetch,
        "fetch_wait": queues.fetch_wait,
    }

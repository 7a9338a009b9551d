"""The stages that a beat passes, and the ways between them."""

from __future__ import annotations

from dataclasses import dataclass

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring

from warpfile.hdl.collectors.read_window.allocate import AllocateStage
from warpfile.hdl.collectors.read_window.beats import hint_of, passed
from warpfile.hdl.collectors.read_window.control import ControlStage
from warpfile.hdl.collectors.read_window.queues import VariableQueues
from warpfile.hdl.collectors.read_window.schedule import PortSchedule
from warpfile.hdl.collectors.read_window.tags import ReuseTags
from warpfile.hdl.collectors.read_window.window import HistoryNames, WindowStages
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import places_layout
from warpfile.hdl.rf.location import settle
from warpfile.hdl.stamp import stamp
from warpfile.spec.beat import dispatch_fields
from warpfile.spec.schemes.modern import ReadWindowConfig
from warpfile.spec.schemes.ported import BANKS

FIXED = 0  #: the execution port of beats of fixed latency


@dataclass(frozen=True)
class Stages:
    """Ports of every stage; ``tags`` only with a reuse cache. ``tick``: time goes on for all that counts it."""

    control: wiring.PureInterface
    allocate: wiring.PureInterface
    schedule: wiring.PureInterface
    window: wiring.PureInterface
    history: wiring.PureInterface
    queues: wiring.PureInterface
    tags: wiring.PureInterface | None

    @property
    def tick(self) -> Value:
        """No freeze."""
        return self.allocate.tick

    @property
    def leaving_control(self) -> Value:
        """A beat leaves Control."""
        return self.control.valid & self.tick

    @property
    def queued(self) -> tuple[tuple[Value, data.View], ...]:
        """Whether each entry of a queue is valid, and its beat."""
        queues = self.queues
        return (
            *zip(queues.lsu_valid, queues.lsu_beats, strict=True),
            *zip(queues.sfu_valid, queues.sfu_beats, strict=True),
        )

    @property
    def heads(self) -> tuple[data.View, data.View]:
        """Heads of the queues."""
        return self.queues.lsu_beats[0], self.queues.sfu_beats[0]


def make_stages(m: Module, cfg: ReadWindowConfig) -> Stages:
    """All stages, not joined."""
    return Stages(
        control=stamp(m, "control", "control_stage", lambda: ControlStage(cfg)),
        allocate=stamp(m, "allocate", "allocate_stage", lambda: AllocateStage(cfg)),
        schedule=stamp(m, "schedule", "port_schedule", lambda: PortSchedule(cfg)),
        window=stamp(m, "window", "window_stages", lambda: WindowStages(cfg)),
        history=stamp(m, "history", "history_names", lambda: HistoryNames(cfg)),
        queues=stamp(m, "queues", "variable_queue", lambda: VariableQueues(cfg)),
        tags=stamp(m, "reuse", "reuse_tags", lambda: ReuseTags(cfg)) if cfg.reuses else None,
    )


def issue(m: Module, cfg: ReadWindowConfig, collectors: wiring.Component, stages: Stages, goes: Value) -> None:
    """The offered beat goes into Control, if it ``goes`` further at all; it is refused in a freeze."""
    offer, control = collectors.offer, stages.control
    beat, places = control.beat, Signal(places_layout(cfg, cfg.source_slots), name="offered_places")
    for source, place in zip(collectors.source_places, places, strict=True):
        settle(m, source, place)
    m.d.comb += [
        collectors.accept.eq(stages.tick),
        control.tick.eq(stages.tick),
        control.comes.eq(goes),
        control.fixed.eq(offer.port == FIXED),
        control.fma.eq(hint_of(cfg, "fma", offer.hints)),
        control.returns.eq(offer.dest_count.any() | offer.token_writes.any()),
        *(beat[name].eq(offer[name]) for name, _ in dispatch_fields(cfg)),
        beat.source_valid.eq(offer.source_valid),
        beat.registers.eq(offer.sources),
        beat.rows.eq(Cat(place.row for place in places)),
        beat.port.eq(offer.port),
    ]
    names = ("positions", *(("reuse",) if cfg.reuses else ()), *(("read_barrier",) if cfg.codes else ()))
    m.d.comb += [Value.cast(beat[name]).eq(hint_of(cfg, name, offer.hints)) for name in names]


def advance(m: Module, cfg: ReadWindowConfig, stages: Stages) -> None:
    """From Control to Allocate or a queue, from Allocate into the window."""
    control, allocate, schedule, queues = stages.control, stages.allocate, stages.schedule, stages.queues
    out = control.out
    m.d.comb += [
        allocate.comes.eq(control.valid & (out.port == FIXED)),
        *passed(allocate.beat, out),
        queues.push.eq(Cat(stages.leaving_control & (out.port == port) for port in cfg.queue_ports)),
        *passed(queues.beat, out),
        schedule.plan.eq(allocate.leaves),
        schedule.places.eq(allocate.reads.places),
        schedule.banks.eq(allocate.banks),
        schedule.rows.eq(allocate.out.rows),
        allocate.free.eq(schedule.free),
        stages.window.comes.eq(allocate.leaves),
        stages.window.beat.eq(allocate.reads),
    ]


def tag(m: Module, collectors: wiring.Component, stages: Stages, exits: Value) -> None:
    """What the reuse cache has to know; ``exits``: a warp ends. Without a cache every operand misses."""
    tags, allocate = stages.tags, stages.allocate
    if tags is None:
        return
    results = list(collectors.result)
    m.d.comb += [
        tags.offered.eq(Cat(result.valid & result.payload.writes for result in results)),
        tags.results.eq(Cat(result.payload.register for result in results)),
        tags.owners.eq(Cat(result.payload.warp for result in results)),
        tags.warp.eq(allocate.out.warp),
        tags.sources.eq(allocate.sources),
        tags.registers.eq(allocate.registers),
        tags.leaves.eq(allocate.leaves),
        tags.marks.eq(allocate.out.reuse),
        tags.exits.eq(exits),
        tags.ended.eq(collectors.offer.warp),
        allocate.hit.eq(tags.hit),
    ]


def read(m: Module, cfg: ReadWindowConfig, collectors: wiring.Component, stages: Stages) -> None:
    """Every read that is planned for this cycle, and on the ports that are left those of the queues."""
    schedule, queues, ports = stages.schedule, stages.queues, cfg.read_ports
    m.d.comb += queues.busy.eq(schedule.now)
    m.d.comb += collectors.requests.eq(Cat(schedule.now) | Cat(queues.serve))
    for bank in range(BANKS):
        for port in range(ports):
            place = collectors.request_places[bank * ports + port]
            planned = named(m, f"planned{bank}_{port}", schedule.now[bank][port])
            row = Mux(planned, schedule.now_rows[bank * ports + port], queues.rows[bank])
            m.d.comb += [place.bank.eq(bank), place.row.eq(row)]


def dispatch(m: Module, cfg: ReadWindowConfig, collectors: wiring.Component, stages: Stages) -> None:
    """X and the heads of the queues on their ports."""
    ports = {FIXED: (stages.window.valid[-1], stages.window.out)}
    ports |= {port: (stages.queues.read[q], stages.heads[q]) for q, port in enumerate(cfg.queue_ports)}
    for port, (valid, beat) in ports.items():
        out = collectors.dispatch[port]
        m.d.comb += [
            out.valid.eq(valid),
            *passed(out.payload, beat),
            out.payload.payload.eq(beat.payload & valid.replicate(cfg.payload_bits)),
        ]
    m.d.comb += stages.queues.ready.eq(Cat(collectors.dispatch[port].ready for port in cfg.queue_ports))


def remember(m: Module, collectors: wiring.Component, stages: Stages) -> None:
    """Results of fixed latency, for the beat in X."""
    result, history, beat = collectors.result[0].payload, stages.history, stages.window.out
    m.d.comb += [
        history.comes.eq(collectors.result[0].valid & result.writes),
        history.warp.eq(result.warp),
        history.register.eq(result.register),
        history.mask.eq(result.mask),
        history.valid.eq(beat.source_valid & stages.window.valid[-1].replicate(len(beat.source_valid))),
        history.reader.eq(beat.warp),
        history.registers.eq(beat.registers),
    ]

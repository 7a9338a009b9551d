"""One scheduling domain: the frame and a scheme's operand stage."""

from collections.abc import Callable

from amaranth import Cat, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import encode
from warpfile.hdl.beat import beat_layout, launch_layout
from warpfile.hdl.collectors.contract import execution_members, stage_members
from warpfile.hdl.frame import Frame
from warpfile.hdl.probe import drive, probe_layout
from warpfile.hdl.scheduler.two_level.scheduler import observed_places
from warpfile.spec.config import Config
from warpfile.spec.frame import frame_probes
from warpfile.spec.probe import Probe


class Machine(wiring.Component):
    """The frame of docs/machine.md around the operand stage that ``stage`` makes (:func:`stage_members`).

    Members
    -------
    launch : In(stream of launch_layout)
    decode_valid : In(1), decode : In(beat_layout(cfg))
    dispatch, operands, result, result_data      See :func:`execution_members`.
    probe : Out(probe_layout)                    Only if there are ``probes``; those of the frame are among them.
    """

    def __init__(self, cfg: Config, stage: Callable[[Config], wiring.Component], probes: tuple[Probe, ...]) -> None:
        self._cfg = cfg
        self._stage = stage
        self._probes = probes
        members = {
            "launch": In(stream.Signature(launch_layout(cfg))),
            "decode_valid": In(1),
            "decode": In(beat_layout(cfg)),
            **execution_members(cfg),
        }
        if probes:
            members["probe"] = Out(probe_layout(probes))
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """Frame and operand stage, joined."""
        m = Module()
        m.submodules.frame = frame = Frame(self._cfg)
        m.submodules.operands = stage = self._stage(self._cfg)
        self._join(m, frame, stage)
        self._ports(m, frame, stage)
        if self._probes:
            self._observe(m, frame, stage)
        return m

    def _join(self, m: Module, frame: Frame, stage: wiring.Component) -> None:
        """Outputs of the one with the name of inputs of the other; launch and ports are joined by :meth:`_ports`."""
        apart = {"launch_valid", "launch", *execution_members(self._cfg)}
        for name, member in stage_members(self._cfg).items():
            if name in apart or name == "chosen":
                continue
            inner, outer = getattr(stage, name), getattr(frame, name)
            m.d.comb += inner.eq(outer) if member.flow is In else outer.eq(inner)

    def _ports(self, m: Module, frame: Frame, stage: wiring.Component) -> None:
        wiring.connect(m, wiring.flipped(self.launch), frame.launch)
        m.d.comb += [
            frame.launch_ready.eq(1),
            stage.launch_valid.eq(frame.launch.valid & frame.launch.ready),
            stage.launch.eq(frame.launch.payload),
            frame.decode_valid.eq(self.decode_valid),
            frame.decode.eq(self.decode),
        ]
        for port in range(self._cfg.ports):
            wiring.connect(m, stage.dispatch[port], wiring.flipped(self.dispatch[port]))
            wiring.connect(m, wiring.flipped(self.result[port]), stage.result[port])
            m.d.comb += [
                self.operands[port].eq(stage.operands[port]),
                stage.result_data[port].eq(self.result_data[port]),
            ]

    def _observe(self, m: Module, frame: Frame, stage: wiring.Component) -> None:
        ports, common = range(self._cfg.ports), {probe.name for probe in frame_probes(self._cfg)}
        if self._cfg.scheduler == "two_level":
            self._observe_places(m, frame)
        drive(
            m,
            self.probe,
            launch=frame.launch.valid & frame.launch.ready,
            **{name: getattr(frame, name) for name in ("resident", "buffered", "clear", "waiting", "room")},
            **{name: getattr(frame, name) for name in ("issue", "issue_warp", "exit")},
            write=Cat(stage.result[port].valid & stage.result[port].ready for port in ports),
            write_wait=Cat(stage.result[port].valid & ~stage.result[port].ready for port in ports),
            offer=Cat(stage.dispatch[port].valid for port in ports),
            dispatch=Cat(stage.dispatch[port].valid & stage.dispatch[port].ready for port in ports),
            **{f"dispatch_unit{port}": encode(stage.chosen[port], self._cfg.unit_bits) for port in ports},
            **{f"dispatch_payload{port}": stage.dispatch[port].payload.payload for port in ports},
            **{probe.name: getattr(stage, probe.name) for probe in self._probes if probe.name not in common},
        )

    def _observe_places(self, m: Module, frame: Frame) -> None:
        drive(
            m,
            self.probe,
            **{name: getattr(frame, name) for name in observed_places(self._cfg)},
            place_warp=Cat(encode(place, self._cfg.warp_bits) for place in frame.places),
            released=frame.release & frame.released,
        )

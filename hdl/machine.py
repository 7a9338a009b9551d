"""One scheduling domain: the frame and a scheme's operand stage."""

from amaranth import Cat, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hdl.arbiter import encode
from hdl.beat import beat_layout, launch_layout
from hdl.collectors.operand_stage import OperandStage, execution_members
from hdl.frame import Frame
from hdl.probe import drive, probe_layout
from spec.baseline import baseline_probes
from spec.config import Config

TOP = "warpfile"


class Baseline(wiring.Component):
    """The baseline machine of docs/machine.md.

    Members
    -------
    launch : In(stream of launch_layout)
    decode_valid : In(1), decode : In(beat_layout(cfg))
    dispatch, operands, result, result_data      See :func:`execution_members`.
    probe : Out(probe_layout)                    Only with ``probes``.
    """

    def __init__(self, cfg: Config, *, probes: bool) -> None:
        self._cfg = cfg
        self._probes = probes
        members = {
            "launch": In(stream.Signature(launch_layout(cfg))),
            "decode_valid": In(1),
            "decode": In(beat_layout(cfg)),
            **execution_members(cfg),
        }
        if probes:
            members["probe"] = Out(probe_layout(baseline_probes(cfg)))
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """Frame and operand stage, joined."""
        m = Module()
        m.submodules.frame = frame = Frame(self._cfg)
        m.submodules.operands = stage = OperandStage(self._cfg)
        self._join(m, frame, stage)
        self._ports(m, frame, stage)
        if self._probes:
            self._observe(m, frame, stage)
        return m

    def _join(self, m: Module, frame: Frame, stage: OperandStage) -> None:
        to_frame = ("room", "hold", "prefer", "collecting", "mine", "blocks_write", "registers", "accept")
        to_stage = ("heads", "buffered", "offer_valid", "offer", "offer_warp")
        m.d.comb += [getattr(frame, name).eq(getattr(stage, name)) for name in (*to_frame, "completed", "completion")]
        m.d.comb += [getattr(stage, name).eq(getattr(frame, name)) for name in to_stage]

    def _ports(self, m: Module, frame: Frame, stage: OperandStage) -> None:
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

    def _observe(self, m: Module, frame: Frame, stage: OperandStage) -> None:
        ports = range(self._cfg.ports)
        drive(
            m,
            self.probe,
            launch=frame.launch.valid & frame.launch.ready,
            **{name: getattr(frame, name) for name in ("resident", "buffered", "clear", "waiting", "room")},
            **{name: getattr(frame, name) for name in ("issue", "issue_warp", "exit")},
            **{name: getattr(stage, name) for name in ("occupied", "allocate", "request", "grant")},
            write=Cat(stage.result[port].valid & stage.result[port].ready for port in ports),
            write_wait=Cat(stage.result[port].valid & ~stage.result[port].ready for port in ports),
            offer=Cat(stage.dispatch[port].valid for port in ports),
            dispatch=Cat(stage.dispatch[port].valid & stage.dispatch[port].ready for port in ports),
            **{f"dispatch_unit{port}": encode(stage.chosen[port], self._cfg.unit_bits) for port in ports},
            **{f"dispatch_payload{port}": stage.dispatch[port].payload.payload for port in ports},
        )

"""One scheduling domain: the frame, collectors and a register file."""

from collections.abc import Callable, Iterator

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import encode
from warpfile.hdl.beat import beat_layout, kernel_layout, launch_layout, missed_layout
from warpfile.hdl.collectors.contract import collector_members, execution_members
from warpfile.hdl.frame import Frame
from warpfile.hdl.probe import drive, probe_layout
from warpfile.hdl.rf.contract import file_members
from warpfile.spec.config import Config
from warpfile.spec.probe import Probe

Maker = Callable[[Config], wiring.Component]


class Machine(wiring.Component):
    """The frame of docs/machine.md with one part in each slot (docs/slots).

    Members
    -------
    started : Out(1)                             The start after reset is over (docs/machine.md, section 1).
    launch : In(stream of launch_layout)
    kernel : In(stream of kernel_layout)         Before the first launch; only with ``cfg.gives.kernel``.
    decode_valid : In(1), decode : In(beat_layout(cfg))   A beat for a warp whose bit of ``decode_ready`` is set.
    decode_ready : Out(warps)                    Warps for which a beat may be sent in this cycle.
    resident, waiting : Out(warps)               Slots that hold a warp; those of them that wait at a barrier.
    issue, exit : Out(1), issue_warp : Out(warp_bits)   A beat leaves its buffer; it ends its warp.
    retired : Out(warps)                         Slots and places that are free from the next cycle.
    quiet : Out(1)                               Nothing is under way in the file; only with ``cfg.gives.kernel``.
    operand_valid : In(1), operand : In(operand_bits)   Of a pseudo-instruction; only with ``cfg.operand_bits``.
    missed_valid : In(1), missed : In(missed_layout(cfg))   A load that misses; only with ``cfg.sees_misses``.
    dispatch, operands, result, result_data      See :func:`execution_members`.
    probe : Out(probe_layout)                    Only if there are ``probes``; those of the frame are among them.
    """

    def __init__(self, cfg: Config, scheduler: Maker, collectors: Maker, rf: Maker, probes: tuple[Probe, ...]) -> None:
        self._cfg, self._scheduler, self._collectors, self._rf = cfg, scheduler, collectors, rf
        self._probes = probes
        members = {
            "started": Out(1),
            "launch": In(stream.Signature(launch_layout(cfg))),
            "decode_valid": In(1),
            "decode": In(beat_layout(cfg)),
            **{name: Out(cfg.warps) for name in ("decode_ready", "resident", "waiting", "retired")},
            "issue": Out(1),
            "issue_warp": Out(cfg.warp_bits),
            "exit": Out(1),
            **execution_members(cfg),
        }
        if cfg.gives.kernel:
            members |= {"kernel": In(stream.Signature(kernel_layout(cfg))), "quiet": Out(1)}
        if cfg.operand_bits:
            members |= {"operand_valid": In(1), "operand": In(cfg.operand_bits)}
        if cfg.sees_misses:
            members |= {"missed_valid": In(1), "missed": In(missed_layout(cfg))}
        if probes:
            members["probe"] = Out(probe_layout(probes))
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """Frame, collectors and register file, joined."""
        m = Module()
        m.submodules.frame = frame = Frame(self._cfg, self._scheduler)
        m.submodules.collectors = collectors = self._collectors(self._cfg)
        m.submodules.register_file = file = self._rf(self._cfg)
        self._join(m, frame, collectors, file)
        self._ports(m, frame, file)
        self._execution(m, collectors, file)
        if self._probes:
            drive(m, self.probe, **dict(self._observed(frame, collectors, file)))
        return m

    def _join(self, m: Module, frame: Frame, collectors: wiring.Component, file: wiring.Component) -> None:
        """Every input of one of the three gets the output of that name of another."""
        parts = (
            (frame, frame.signature.members),
            (collectors, collector_members(self._cfg)),
            (file, file_members(self._cfg)),
        )
        given = {
            name: getattr(part, name)
            for part, members in parts
            for name, member in members.items()
            if member.flow is Out
        }
        for part, members in parts:
            for name in sorted(given.keys() & {name for name, member in members.items() if member.flow is In}):
                m.d.comb += getattr(part, name).eq(given[name])

    def _ports(self, m: Module, frame: Frame, file: wiring.Component) -> None:
        """Launches, beats, what becomes of them, and what comes with pseudo-instructions."""
        wiring.connect(m, wiring.flipped(self.launch), frame.launch)
        shown = ("decode_ready", "resident", "waiting", "issue", "issue_warp", "exit")
        m.d.comb += [getattr(self, name).eq(getattr(frame, name)) for name in shown]
        m.d.comb += [
            file.launch_valid.eq(frame.launch.valid & frame.launch.ready),
            file.launch.eq(frame.launch.payload),
            file.exits.eq(frame.exits),
            self.started.eq(file.started if self._cfg.gives.starts else 1),
            self.retired.eq(file.retired if self._cfg.gives.sweeps else file.exits),
            frame.decode_valid.eq(self.decode_valid),
            frame.decode.eq(self.decode),
        ]
        if self._cfg.gives.kernel:
            m.d.comb += [
                file.kernel_valid.eq(self.kernel.valid),
                file.kernel.eq(self.kernel.payload),
                self.kernel.ready.eq(file.kernel_ready),
                self.quiet.eq(file.quiet),
            ]
        if self._cfg.operand_bits:
            m.d.comb += [file.operand_valid.eq(self.operand_valid), file.operand.eq(self.operand)]
        if self._cfg.sees_misses:
            m.d.comb += [frame.missed_valid.eq(self.missed_valid), frame.missed.eq(self.missed)]

    def _execution(self, m: Module, collectors: wiring.Component, file: wiring.Component) -> None:
        through = self._cfg.ports - 1 if self._cfg.gives.absorbs else -1
        for port in range(self._cfg.ports):
            if port == through:
                self._through_file(m, collectors, file, port)
                continue
            wiring.connect(m, collectors.dispatch[port], wiring.flipped(self.dispatch[port]))
            m.d.comb += self.operands[port].eq(collectors.operands[port])
        for port in range(self._cfg.write_ports):
            wiring.connect(m, wiring.flipped(self.result[port]), collectors.result[port])
            m.d.comb += [
                collectors.result_data[port].eq(self.result_data[port]),
                file.result_data[port].eq(self.result_data[port]),
                file.results[port].eq(self.result[port].payload),
            ]

    def _through_file(self, m: Module, collectors: wiring.Component, file: wiring.Component, port: int) -> None:
        """Beats of this port go into the file, and come out of it."""
        wiring.connect(m, collectors.dispatch[port], file.access)
        wiring.connect(m, file.sent, wiring.flipped(self.dispatch[port]))
        m.d.comb += [
            file.access_operands.eq(collectors.operands[port]),
            file.access_unit.eq(collectors.chosen[port]),
            self.operands[port].eq(file.sent_operands),
        ]

    def _observed(
        self, frame: Frame, collectors: wiring.Component, file: wiring.Component
    ) -> Iterator[tuple[str, Value]]:
        """Every probe: what is made of several signals, or else the output of that name."""
        outputs = {
            name: getattr(part, name)
            for part in (frame, file, collectors)
            for name, member in part.signature.members.items()
            if member.flow is Out
        }
        outputs |= self._at_ports(frame, collectors, file)
        if self._cfg.gives.kernel:
            outputs["kernel"] = file.kernel_valid & file.kernel_ready
        if "releasing" in outputs:
            outputs["place_warp"] = Cat(encode(place, self._cfg.warp_bits) for place in frame.places)
            outputs["released"] = frame.release & frame.released
        return ((probe.name, outputs[probe.name]) for probe in self._probes)

    def _at_ports(self, frame: Frame, collectors: wiring.Component, file: wiring.Component) -> dict[str, Value]:
        """What is observed of launches, of the execution ports and of the write-back ports."""
        results, leaving, chosen = list(collectors.result), list(collectors.dispatch), list(collectors.chosen)
        if self._cfg.gives.absorbs:  # what leaves the file has left its unit before, and stays there when it has gone
            leaving[-1], chosen[-1] = file.sent, Const(0, 1)
        streams, payloads = list(enumerate(leaving)), [stream.payload.payload for stream in leaving]
        if self._cfg.gives.absorbs:
            payloads[-1] = Mux(file.sent.valid, payloads[-1], 0)
        return {
            "started": self.started,
            "launch": frame.launch.valid & frame.launch.ready,
            "write": Cat(result.valid & result.ready for result in results),
            "write_wait": Cat(result.valid & ~result.ready for result in results),
            "offer": Cat(stream.valid for _, stream in streams),
            "dispatch": Cat(stream.valid & stream.ready for _, stream in streams),
            **{f"dispatch_unit{port}": encode(chosen[port], self._cfg.unit_bits) for port, _ in streams},
            **{f"dispatch_payload{port}": payload for port, payload in enumerate(payloads)},
        }

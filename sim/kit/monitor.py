"""Holds a machine against its golden model, and what is around it to the rules of the pins."""

from __future__ import annotations

from collections.abc import Iterator

from cocotb.triggers import FallingEdge

from warpfile.sim.kit.beats import dispatch_record
from warpfile.sim.kit.pins import Cycle, Dispatch, Pins
from warpfile.sim.kit.registers import Difference, Registers, name
from warpfile.sim.records import Quiet
from warpfile.spec.beat import dispatch_fields, unpack_fields
from warpfile.spec.pins import RULES
from warpfile.spec.probe import ProbeLayout


class Monitor:
    """Checks one machine in every cycle, with any driver; it only looks.

    * Every output is that of the golden model that sees the same inputs.
    * What leaves is the beat that was sent, with the values of its source registers.
    * Who drives the machine keeps to the rules of the pins (``spec.pins``), returns the results that beats wait for and
      no others, and, if the workload is known, sends its beats and returns its values.

    Raises :class:`Difference` in the first cycle in which one of them does not hold, and when warps are resident and
    nothing has happened for ``hang_cycles``.
    """

    def __init__(self, pins: Pins, *, hang_cycles: int = 1000) -> None:
        self._pins = pins
        self._cfg = pins.design.config
        self._layout = ProbeLayout(pins.design.scheme.probes(self._cfg))
        self._dispatch = dispatch_fields(self._cfg)
        self._hang_cycles = hang_cycles
        self._begin()

    def _begin(self) -> None:
        """Nothing is known but that there was a reset."""
        self._first = self._pins.cycles
        self._model = self._pins.design.scheme.golden(self._cfg, self._layout)
        self.registers = Registers(self._cfg, self._pins.workload)
        self._held: dict[str, int] = {}
        self._free = (1 << self._cfg.warps) - 1
        self._begun: set[int] = set()
        self._ctas = dict.fromkeys(range(self._cfg.warps), -1)
        self._resident = 0
        self._quiet = Quiet(self._layout, self._hang_cycles)

    async def run(self) -> None:
        """Check from the first cycle without reset to the end of the simulation; after another reset anew."""
        falling = FallingEdge(self._pins.handle.clk)
        while True:
            await falling
            if not self._pins.read("rst"):
                self.check(self._pins.cycle())
            elif self._pins.cycles > self._first:
                self._pins.begin()
                self._begin()

    def finish(self) -> None:
        """Raise :class:`Difference` unless everything that began has ended, and at least one operand was compared."""
        left = self._under_way() + ["the launch of a warp"] * self._pins.beats.left + ["a warp"] * bool(self._resident)
        if left:
            raise Difference(f"nothing must be under way at the end, but {len(left)} things are: first {left[0]}")
        if not self.registers.operands:
            raise Difference("at least one operand must have been compared")

    def check(self, cycle: Cycle) -> None:
        """Check one cycle. Cycles come in order, without a gap."""
        wrong = next(self._wrong(cycle), None)
        if wrong:
            raise Difference(f"cycle {self._pins.cycles - 1}: {wrong}")

    def _wrong(self, cycle: Cycle) -> Iterator[str]:
        """What does not hold, the cause before its consequences."""
        try:
            yield from (RULES[rule] for rule in self._broken(cycle))
            if cycle.decoded is not None:
                yield from _differing("decode", cycle.decoded.planned, cycle.decoded.fields)
            word = self._model.step(cycle.stimulus)
            yield from self._outputs(cycle, self._layout.unpack(word))
            for left in cycle.dispatched:
                yield from self._left(left)
            self._values(cycle)
            if self._quiet.hangs(self._pins.cycles - self._first, word) and self._resident:
                yield f"something must happen; what is waited for: {', '.join(self._under_way()) or 'beats'}"
        except AssertionError as error:
            yield str(error)

    def _under_way(self) -> list[str]:
        flights = self._pins.beats.under_way
        return self.registers.owed + [f"the dispatch of {name(flight)}" for flight in flights]

    def _broken(self, cycle: Cycle) -> Iterator[str]:
        sent, launch = cycle.decoded, cycle.stimulus.launch
        if sent is not None and not cycle.levels["decode_ready"] >> sent.warp & 1:
            yield "decode_room"
        if sent is not None and not cycle.levels["resident"] >> sent.warp & 1:
            yield "decode_slot"
        if launch is not None and not self._free >> launch.warp & 1:
            yield "launch_slot"
        if launch is not None and launch.cta in {self._ctas[warp] for warp in self._begun}:
            yield "launch_cta"
        for handshake, payload in self._held.items():
            if cycle.payload.get(handshake) != payload:
                yield f"{handshake.partition('__')[0]}_held"
        driven = (one for one in self._pins.handshakes if not one.startswith("dispatch"))
        self._held = {one: cycle.payload[one] for one in driven if cycle.valid[one] and not cycle.ready[one]}
        levels = cycle.levels
        self._free |= levels["retired"]
        self._begun = {warp for warp in self._begun if not levels["retired"] >> warp & 1}
        if sent is not None and not self._free >> sent.warp & 1:
            self._begun.add(sent.warp)
        self._resident = levels["resident"] & ~(levels["exit"] << levels["issue_warp"])
        if launch is not None and cycle.ready["launch"]:
            self._free &= ~(1 << launch.warp)
            self._ctas[launch.warp] = launch.cta

    def _outputs(self, cycle: Cycle, said: dict[str, int]) -> Iterator[str]:
        """Pins that differ from the golden model; ``ready`` counts where something is offered."""
        if not self._cfg.gives.sweeps:
            said["retired"] = said["exit"] << said["issue_warp"]
        wanted, found = {one: said[one] for one in cycle.levels}, dict(cycle.levels)
        for handshake in self._pins.handshakes:
            stream, _, port = handshake.partition("__")
            probe = {"result": "write", "dispatch": "offer"}.get(stream, stream)
            pin = f"{handshake}__valid" if stream == "dispatch" else f"{handshake}__ready"
            wanted[pin] = said[probe] >> int(port or 0) & 1
            found[pin] = int(cycle.valid[handshake] if stream == "dispatch" else cycle.taken(handshake))
        yield from _differing("", wanted, found)

    def _left(self, left: Dispatch) -> Iterator[str]:
        if left.flight is None:
            yield f"a beat of warp {left.fields['warp']} leaves at port {left.port}, but none was sent for it"
        else:
            wanted = unpack_fields(self._dispatch, dispatch_record(self._cfg, left.flight, self._dispatch))
            yield from _differing(f"dispatch__{left.port}", wanted, left.fields)

    def _values(self, cycle: Cycle) -> None:
        registers, launch = self.registers, cycle.stimulus.launch
        for left in cycle.dispatched:
            registers.dispatched(left)
        if cycle.issued is not None:
            registers.issued(cycle.issued)
        for result in cycle.returned:
            registers.returned(result)
        if launch is not None and cycle.ready["launch"]:
            registers.launched(launch.warp)


def _differing(where: str, wanted: dict[str, int], found: dict[str, int]) -> Iterator[str]:
    for field, value in wanted.items():
        if found[field] != value:
            place = f"{field} of {where}" if where else field
            yield f"{place} must be {value:#x}, not {found[field]:#x}"

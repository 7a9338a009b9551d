"""What crosses the pins of a machine in a cycle."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from cocotb.utils import get_sim_time

from warpfile.sim.kit.beats import Beats, Flight
from warpfile.sim.kit.design import Design
from warpfile.spec.beat import (
    NO_VALUE,
    Beat,
    dispatch_fields,
    kernel_fields,
    launch_fields,
    missed_fields,
    result_fields,
    unpack_fields,
)
from warpfile.spec.config import Config
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.stimulus import Missed, Result, Stimulus
from warpfile.spec.workload import Kernel, Workload


class PinError(AssertionError):
    """A pin that has no value where it must have one."""


@dataclass(frozen=True)
class Data:
    """Lanes of one or more values: their bits, and those of them that are neither 0 nor 1, which are 0 in ``value``."""

    value: int = 0
    undefined: int = 0

    def at(self, low: int, bits: int) -> Data:
        """Some of the bits."""
        every = (1 << bits) - 1
        return Data(self.value >> low & every, self.undefined >> low & every)


@dataclass(frozen=True)
class Dispatch:
    """A beat that leaves: ``fields`` and ``operands`` are those of the pins, ``flight`` what was sent, if any was."""

    port: int
    fields: dict[str, int]
    operands: Data
    flight: Flight | None


@dataclass(frozen=True)
class Return:
    """A result that is taken: fields of its record, and its data."""

    port: int
    fields: dict[str, int]
    data: Data


@dataclass
class Cycle:
    """One cycle: ``stimulus`` is what went in, as golden models take it, all else what happened.

    ``levels`` are the pins that are no handshakes; ``valid``, ``ready`` and ``payload`` are those of the handshakes, by
    name (``launch``, ``dispatch__0``).
    """

    stimulus: Stimulus
    levels: dict[str, int]
    valid: dict[str, bool]
    ready: dict[str, bool]
    payload: dict[str, int]
    decoded: Flight | None = None
    issued: Flight | None = None
    dispatched: list[Dispatch] = field(default_factory=list)
    returned: list[Return] = field(default_factory=list)

    def taken(self, name: str) -> bool:
        """Whether a handshake is complete."""
        return self.valid[name] and self.ready[name]


class Pins:
    """The pins of one machine in a simulation. ``handle`` is cocotb's of the instance, or of anything that has pins of
    the same names; ``workload`` is what the warps that are launched run, if that is known.

    :meth:`cycle` is asked in the middle of every cycle (at the falling edge) in which the machine is not reset.
    """

    def __init__(self, handle, design: Design, workload: Workload | None = None) -> None:
        self.handle, self.design, self.workload = handle, design, workload
        self.cycles = 0
        cfg = design.config
        kernel = ["kernel"] if cfg.gives.kernel else []
        self.levels = ["started", "decode_ready", "resident", "waiting", "issue", "issue_warp", "exit", "retired"]
        self.levels += ["quiet"] if kernel else []
        self.handshakes = ["launch", *kernel, *(f"result__{port}" for port in range(cfg.write_ports))]
        self.handshakes += [f"dispatch__{port}" for port in range(cfg.ports)]
        self.beats = Beats(cfg, workload)
        self._seen: tuple[float, Cycle] | None = None

    def begin(self) -> None:
        """Forget what was sent before a reset; the workload begins anew."""
        self.beats = Beats(self.design.config, self.workload)

    def read(self, name: str) -> int:
        """Value of a pin. Raises :class:`PinError` if a bit of it is neither 0 nor 1."""
        value = getattr(self.handle, name).value
        try:
            return int(value)
        except ValueError:
            raise PinError(f"{name} must be 0 or 1 in every bit, not {value}") from None

    def data(self, name: str) -> Data:
        """Value of a pin that need not be defined in every bit: a register holds nothing before it is written."""
        value = getattr(self.handle, name).value
        if value.is_resolvable:
            return Data(int(value))
        ones, undefined = re.sub("[^1]", "0", str(value)), re.sub("[^01]", "x", str(value)).replace("1", "0")
        return Data(int(ones, 2), int(undefined.replace("x", "1"), 2))

    def write(self, name: str, value: int) -> None:
        """Set an input."""
        getattr(self.handle, name).value = value

    def cycle(self) -> Cycle:
        """What crosses the pins now. All callers in one cycle get the same object."""
        now = get_sim_time()
        if self._seen is None or self._seen[0] != now:
            self._seen = now, self._follow(self._look())
            self.cycles += 1
        return self._seen[1]

    def _look(self) -> Cycle:
        read, names = self.read, self.handshakes
        valid = {name: bool(read(f"{name}__valid")) for name in names}
        # The ready of a result is asked only where there is one: what decides it may be undriven before.
        ready = {name: bool(read(f"{name}__ready")) for name in names if valid[name] or name.startswith("dispatch")}
        payload = {name: read(f"{name}__payload") for name in names if valid[name]}
        return Cycle(Stimulus(), {name: read(name) for name in self.levels}, valid, ready, payload)

    def _follow(self, cycle: Cycle) -> Cycle:
        cfg, stimulus = self.design.config, cycle.stimulus
        self._follow_out(cfg, cycle)
        stimulus.results = [self._result(cfg, cycle, port) for port in range(cfg.write_ports)]
        if self.read("decode_valid"):
            cycle.decoded = self.beats.decoded(self.read("decode"))
            stimulus.beat, stimulus.beat_warp = _as_sent(cycle.decoded), cycle.decoded.warp
        if cycle.valid.get("kernel"):
            values = unpack_fields(kernel_fields(cfg), cycle.payload["kernel"])
            stimulus.kernel = Kernel(values.pop("registers"), values)
        if cfg.operand_bits and self.read("operand_valid"):
            stimulus.operand = self.read("operand")
        if cfg.sees_misses and self.read("missed_valid"):
            stimulus.missed = Missed(**unpack_fields(missed_fields(cfg), self.read("missed")))
        if cycle.valid["launch"]:
            stimulus.launch = Launch(**unpack_fields(launch_fields(cfg), cycle.payload["launch"]), stream=0)
            if cycle.ready["launch"]:
                self.beats.launched(stimulus.launch.warp)
        return cycle

    def _follow_out(self, cfg: Config, cycle: Cycle) -> None:
        """Beats leave before others come: what is sent in a cycle issues in the next one at the earliest."""
        for port in range(cfg.ports):
            name = f"dispatch__{port}"
            cycle.stimulus.ready |= cycle.ready[name] << port
            if cycle.taken(name):
                fields = unpack_fields(dispatch_fields(cfg), cycle.payload[name])
                flight = self.beats.dispatched(port, fields["warp"])
                cycle.dispatched.append(Dispatch(port, fields, self.data(f"operands__{port}"), flight))
        if cycle.levels["issue"]:
            cycle.issued = self.beats.issued(cycle.levels["issue_warp"])

    def _result(self, cfg: Config, cycle: Cycle, port: int) -> Result | None:
        name = f"result__{port}"
        if not cycle.valid[name]:
            return None
        fields = unpack_fields(result_fields(cfg), cycle.payload[name])
        data = self.data(f"result_data__{port}") if fields["writes"] else Data()
        if cycle.ready[name]:
            cycle.returned.append(Return(port, fields, data))
        writes, register, tokens = bool(fields["writes"]), fields["register"], fields["tokens"]
        result = Result(0, fields["warp"], writes, register, tokens, fields["mask"], NO_VALUE)
        result.full, result.hints = bool(fields.get("full", True)), fields.get("hints", 0)
        result.component, result.origin = fields.get("component", 0), fields.get("origin", 0)
        result.data = data.value if cfg.values else None
        return result


def _as_sent(flight: Flight) -> Beat:
    """The beat with the payload that the pins have. Values are compared by the registers' monitor."""
    beat = flight.beat
    return replace(beat, payload=flight.fields["payload"], expected=(NO_VALUE,) * len(beat.sources))

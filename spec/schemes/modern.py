"""Declared once of ``read_window``: parameters, hints, probes, counters, storage (docs/schemes/modern.md)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from warpfile.spec.config import choice_field, index_bits, number_field
from warpfile.spec.contract import Asks, Hint
from warpfile.spec.probe import Fields, Probe
from warpfile.spec.schemes.ported import BANKS, PortedConfig
from warpfile.spec.structure import Structure
from warpfile.spec.trace import Port

POSITIONS = 3  #: operand positions of a beat; the reuse cache has an entry for each of them in every bank
ENTRIES = POSITIONS * BANKS
NOWHERE = 3  #: in the hint ``positions``: no source at this position
BARRIERS = 6  #: dependence counters of a warp
NO_BARRIER = 7
BARRIER_BITS = 6
MOST_COUNTED = 60  #: a beat that counts a dependence counter up waits while that is this high
MOST_IN_FLIGHT = 248  #: a beat waits while so many results of its warp are under way
LSU, SFU = 0, 1  #: the two queues
_ALU_PORT, _SFU_PORT, _LSU_PORT = 0, 1, 2
_PORT_OF_QUEUE = {LSU: _LSU_PORT, SFU: _SFU_PORT}
_VARIABLE = ("sfu", "double", "tensor", "shared", "hit", "texture")


@dataclass(frozen=True, kw_only=True)
class ReadWindowConfig(PortedConfig):
    """Collectors without units: a window of cycles in which a beat reads, and codes that say when it may issue."""

    result_flags: ClassVar[tuple[str, ...]] = ("component",)

    dependences: str = choice_field(
        ("control_codes", "scoreboard"),
        "what keeps a beat from issuing: the codes of the compiler, or pending bits",
        "control_codes",
    )
    reuse_cache: str = choice_field(("on", "off"), "whether operands that the compiler marks are kept", "on")
    read_window: int = number_field(1, 6, "cycles in which a beat of fixed latency reads its operands", 3)
    variable_delay: int = number_field(4, 12, "cycles from issue to the first read of a beat of variable latency", 5)
    lsu_queue: int = number_field(1, 8, "beats for the LSU that are issued and not dispatched", 5)
    sfu_queue: int = number_field(1, 8, "beats for the SFU that are issued and not dispatched", 3)
    unit_interval: int = number_field(1, 2, "ticks between two beats of one unit of fixed latency", 1)
    codes_for: int = number_field(0, 999, "GPU whose latencies these are, 86 for sm_86; 0: none in particular", 0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.must_have(
            {
                "ports": (3, "fixed latencies have one port, SFU and LSU one each"),
                "write_back_ports": (3, "results of fixed latency never wait for others"),
                "source_slots": (POSITIONS, "a beat has three operand positions"),
                "alu_interval": (1, "unit_interval says how often a unit of fixed latency starts"),
                "fma_interval": (1, "unit_interval says how often a unit of fixed latency starts"),
                "fma_latency": (self.alu_latency, "all fixed latencies are alu_latency"),
            }
        )
        if self.alu_latency < 2:
            raise ValueError(
                f"alu_latency must be at least 2, not {self.alu_latency}: one of two results comes earlier"
            )
        if self.result_queue < 2:
            raise ValueError(f"result_queue must be at least 2, not {self.result_queue}: port ALU must be ready always")
        if self.read_ports * self.read_window < POSITIONS:
            raise ValueError(
                f"read_window must be at least {-(-POSITIONS // self.read_ports)}, not {self.read_window}, with"
                f" {self.read_ports} read ports: three operands may be in one bank"
            )
        self._check_latencies()

    def _check_latencies(self) -> None:
        if self.variable_distance < 1:
            most = self.read_window + self.alu_latency + 3
            raise ValueError(f"variable_delay must be at most {most}, not {self.variable_delay}")
        least = self.read_window + self.alu_latency + 3 - self.variable_delay
        for name in _VARIABLE:
            latency = getattr(self, f"{name}_latency")
            if latency < least:
                raise ValueError(
                    f"{name}_latency must be at least {least}, not {latency}: its result must not come before an"
                    " earlier one of fixed latency"
                )
        if self.codes and self.fixed_distance > 4:
            raise ValueError(
                f"alu_latency must be at most 3, not {self.alu_latency}: control codes assume that 4 cycles suffice"
            )
        if self.codes and self.variable_distance > 5:
            raise ValueError(
                f"variable_delay must be at least {self.read_window + self.alu_latency - 1}, not"
                f" {self.variable_delay}: control codes assume that 5 cycles suffice after variable latency"
            )

    @classmethod
    def adapted(cls, values: dict[str, object]) -> dict[str, object]:
        """A preset's values with three ports, three positions and one fixed latency."""
        needed = {"ports": 3, "write_back_ports": 3, "source_slots": POSITIONS, "alu_interval": 1, "fma_interval": 1}
        needed |= {"port_queue": 0}  # its own queues hold the beats that wait
        return super().adapted(values | needed | {"fma_latency": values["alu_latency"]})

    @property
    def stands_for(self) -> Mapping[str, object]:
        """``unit_interval`` is that of every unit of fixed latency, though they share a port."""
        return {**super().stands_for, "alu_interval": self.unit_interval, "fma_interval": self.unit_interval}

    @property
    def codes(self) -> bool:
        """Whether the compiler's codes decide when a beat may issue."""
        return self.dependences == "control_codes"

    @property
    def reuses(self) -> bool:
        """Whether there is a reuse cache."""
        return self.reuse_cache == "on"

    @property
    def fixed_distance(self) -> int:
        """Ticks from the issue of a producer of fixed latency to that of a reader of fixed latency."""
        return self.alu_latency + 1

    @property
    def variable_distance(self) -> int:
        """The same to a reader of variable latency."""
        return self.read_window + self.alu_latency + 4 - self.variable_delay

    @property
    def port_of(self) -> tuple[int, ...]:
        """All units of variable latency but the LSU have the port of the SFU."""
        moved = {Port.DOUBLE: _SFU_PORT, Port.TENSOR: _SFU_PORT}
        return tuple(moved.get(Port(unit), port) for unit, port in enumerate(super().port_of))

    @property
    def token_port(self) -> int:
        """Not that of the ALU, whose results must not wait."""
        return _SFU_PORT

    @property
    def early_port(self) -> int:
        """That of the ALU: the second of two results is there after the latency (section 7.7)."""
        return _ALU_PORT

    def passes(self, hints: int) -> bool:
        """With a dependence counter, which counts whatever its guard says."""
        return any(hints >> at & 7 != NO_BARRIER for at in self._barriers_at)

    def answers(self, hints: int) -> bool:
        """With a counter that counts down at a result."""
        return any(hints >> at & 7 != NO_BARRIER for at in self._barriers_at[:1])

    @cached_property
    def _barriers_at(self) -> tuple[int, ...]:
        """Lowest bits of the two counters that a beat names, that of its results first."""
        return (self.hint_at("write_barrier"), self.hint_at("read_barrier")) if self.codes else ()

    @property
    def queue_depths(self) -> tuple[int, int]:
        """Beats of the two queues, LSU first."""
        return self.lsu_queue, self.sfu_queue

    @property
    def queue_ports(self) -> tuple[int, int]:
        """Their execution ports."""
        return _PORT_OF_QUEUE[LSU], _PORT_OF_QUEUE[SFU]

    @property
    def asks(self) -> Asks:
        """A unit per bank with a request per port, and the say over every head beat."""
        return dataclasses.replace(super().asks, units=BANKS, slots=self.read_ports, guards=True)

    def hints(self) -> tuple[Hint, ...]:
        """Positions of the sources, marks of the reuse cache, kind of the unit, and the codes."""
        own = [
            Hint("positions", 2 * POSITIONS, False, "source slot at each operand position", "two bits each, 3: none"),
            Hint("fma", 1, False, "it executes in the multiply-add unit, if its latency is fixed", "1: yes"),
        ]
        if self.reuses:
            own.append(Hint("reuse", POSITIONS, False, "positions whose operand is kept", "bit p: position p"))
        if self.codes:
            own += [
                Hint("write_barrier", 3, True, "dependence counter until its last result", "0 to 5; 7: none"),
                Hint("registers", 2, True, "registers that it writes, minus one", "0 to 3"),
                Hint("read_barrier", 3, False, "dependence counter until its sources are read", "0 to 5; 7: none"),
                Hint("stall", 4, False, "ticks to the next issue of its warp; 0 is as 1", "0 to 15"),
                Hint("yields", 1, False, "its warp does not issue in the next tick", "1: yes"),
                Hint("wait_mask", BARRIERS, False, "dependence counters that must be 0", "bit b: counter b"),
            ]
        return (*super().hints(), *own)


def window_probes(cfg: ReadWindowConfig) -> tuple[Probe, ...]:
    """Observation of the dependence unit, of Allocate, the window, the reuse cache and the queues."""
    return (
        *_dependence_probes(cfg),
        *_window_probes(cfg),
        *(_cache_probes(cfg) if cfg.reuses else ()),
        *_queue_probes(cfg),
    )


def _dependence_probes(cfg: ReadWindowConfig) -> tuple[Probe, ...]:
    warps = cfg.warps
    coded = (
        Probe("stalled", warps, "warps whose stall count is not 0"),
        Probe("resting", warps, "warps that yield in this tick"),
        Probe("counting", warps * BARRIERS, "dependence counters that are not 0, bit warp * 6 + counter"),
        Probe("awaits", warps, "warps with a head beat that waits for a dependence counter"),
    )
    return (
        *(coded if cfg.codes else ()),
        Probe("in_flight", warps, "warps with results under way"),
        Probe("under_way", warps, "warps with a beat that is issued and not dispatched"),
        Probe("unit_wait", warps, "warps whose head beat waits for a unit of fixed latency or for its result port"),
        Probe("queue_wait", warps, "warps whose head beat waits for a place in a queue"),
    )


def _window_probes(cfg: ReadWindowConfig) -> tuple[Probe, ...]:
    ages = cfg.read_window
    return (
        Probe("freeze", 1, "the beat in Allocate does not fit: no warp issues, and no tick passes"),
        Probe("control", 1, "Control holds a beat"),
        Probe("control_warp", cfg.warp_bits, "warp of the beat in Control, zero without one"),
        Probe("allocating", 1, "Allocate holds a beat"),
        Probe("allocating_warp", cfg.warp_bits, "warp of the beat in Allocate, zero without one"),
        Probe("need", BANKS * 2, "registers that the beat in Allocate must read from each bank"),
        Probe("sources", POSITIONS, "positions with a source of the beat that leaves Allocate"),
        Probe("hit", POSITIONS, "source positions of the beat that leaves Allocate that are in the reuse cache"),
        Probe("reserved", BANKS * ages * 2, "reads planned for this cycle and the next ones, bank by bank"),
        Probe("window", ages + 1, "stages of the window that hold a beat, the last one dispatches"),
        Probe("from_cache", POSITIONS, "source slots of the dispatched beat that come from the reuse cache"),
        Probe("forward", POSITIONS * ages, "source slots that take lanes of a result, bit slot * ages + age - 1"),
    )


def _cache_probes(cfg: ReadWindowConfig) -> tuple[Probe, ...]:
    tag = cfg.warp_bits + cfg.register_bits
    timer = index_bits(cfg.read_window + 1)
    return (
        Probe(
            "kept", POSITIONS, "positions of the beat that leaves Allocate whose operand is put into the reuse cache"
        ),
        Probe("entries", ENTRIES, "valid entries of the reuse cache, bit position * 2 + bank"),
        Probe("tags", ENTRIES * tag, "warp and above it register of every valid entry, zero of the others"),
        Probe(
            "timers", ENTRIES * timer, "cycles until the operand of a valid entry is available, zero for other entries"
        ),
        Probe("killed", ENTRIES, "entries that end because a result for their register is offered"),
    )


def _queue_probes(cfg: ReadWindowConfig) -> tuple[Probe, ...]:
    return (
        Probe("lsu_beats", index_bits(cfg.lsu_queue + 1), "beats in the queue of the LSU"),
        Probe("sfu_beats", index_bits(cfg.sfu_queue + 1), "beats in the queue of the SFU"),
        Probe("fetch", 2 * BANKS, "reads of queue heads, bit queue * 2 + bank, LSU first"),
        Probe("fetch_wait", 2 * BANKS, "banks that a queue head requests and does not get"),
    )


def window_events(fields: Fields) -> dict[str, int]:
    """Counters of the part's own probes."""
    leaves = fields["allocating"][:, 0] & ~fields["freeze"][:, 0]
    needed = fields["need"][leaves]
    planned = int(needed[:, 0::2].sum()) + 2 * int(needed[:, 1::2].sum())
    sums = {
        "freezes": fields["freeze"].sum(),
        "fixed_sources": fields["sources"].sum(),
        "fixed_reads": planned,
        "variable_reads": fields["fetch"].sum(),
        "bank_reads": planned + fields["fetch"].sum(),
        "bank_conflicts": fields["fetch_wait"].sum(),
        "rfc_hits": fields["hit"].sum(),
        "duplicates": fields["sources"].sum() - fields["hit"].sum() - planned,
        "forwards": fields["forward"].sum(),
        "unit_waits": fields["unit_wait"].sum(),
        "queue_waits": fields["queue_wait"].sum(),
    }
    counted = {"stall_cycles": "stalled", "barrier_waits": "awaits", "rfc_allocations": "kept", "rfc_kills": "killed"}
    sums |= {name: fields[probe].sum() for name, probe in counted.items() if probe in fields}
    return {name: int(value) for name, value in sums.items()}


def _buffer_bits(cfg: ReadWindowConfig) -> int:
    return 2 * POSITIONS * cfg.data_bits


def _schedule_bits(cfg: ReadWindowConfig) -> int:
    return BANKS * cfg.read_ports * cfg.read_window * (1 + cfg.row_bits)


def _state_bits(cfg: ReadWindowConfig) -> int:
    """Stall, yield and six counters of every warp (Huerta et al., section 7.5: 41 bits)."""
    return cfg.warps * (4 + 1 + BARRIERS * BARRIER_BITS) if cfg.codes else 0


def _cache_bits(cfg: ReadWindowConfig) -> int:
    return ENTRIES * cfg.data_bits if cfg.reuses else 0


#: Storage, by the modules that the RTL has (docs/schemes/modern.md, section 12).
STRUCTURES = (
    Structure("results under way", "flip-flops", r"warp_dependences\.in_flight", lambda cfg: 8 * cfg.warps),
    Structure("stall, yield, dependence counters", "flip-flops", r"warp_dependences\.", _state_bits),
    Structure("pending registers and tokens", "flip-flops", r"warp_pending\.|issued_distances\."),
    Structure("control, allocate, window", "flip-flops", r"(control_stage|allocate_stage|window_stages)\."),
    Structure("port schedule", "flip-flops", r"port_schedule\.", _schedule_bits),
    Structure(
        "operands in flight",
        "flip-flops",
        r"window_lane\.read",
        lambda cfg: BANKS * cfg.read_ports * (cfg.read_window - 1) * cfg.data_bits,
    ),
    Structure("forward history", "flip-flops", r"window_lane\.history", lambda cfg: cfg.read_window * cfg.data_bits),
    Structure("names of forwarded results", "flip-flops", r"history_names\."),
    Structure("reuse cache", "flip-flops", r"window_lane\.reuse", _cache_bits),
    Structure("reuse tags", "cam", r"reuse_tags\."),
    Structure("operand buffers of the queues", "flip-flops", r"queue_lane\.", _buffer_bits),
    Structure("queues", "flip-flops", r"variable_queue\."),
)

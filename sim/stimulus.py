"""The harness's two words of a cycle: what the environment drives, and what has to leave the dispatch pins.

Both consist of parts that are there in some cycles only (:class:`Section`).
"""

from __future__ import annotations

from dataclasses import dataclass

from warpfile.spec.beat import (
    BeatPacker,
    decode_fields,
    dispatch_fields,
    field_bits,
    kernel_fields,
    launch_fields,
    missed_fields,
    pack_fields,
    result_fields,
)
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stimulus import Result, Stimulus
from warpfile.spec.trace import TOKENS

ROW_BITS = 32
#: Input word under reset.
RESET = 1


@dataclass(frozen=True)
class Section:
    """A field of ``word`` (``next`` or ``due``) with its valid bit, which is bit ``low``; ``width`` without it."""

    word: str
    low: int
    width: int

    @property
    def size(self) -> int:
        """Bytes that hold its value."""
        return -(-self.width // 8)


def stimulus_fields(cfg: Config) -> tuple[tuple[str, int], ...]:
    """Whole input word. ``value`` is the row of the trace's values plus one, zero for unknown data.

    Kernel, operand and missed are there only for machines that take them.
    """
    fields = [("reset", 1), ("launch_valid", 1), ("launch", field_bits(launch_fields(cfg)))]
    fields += [("decode_valid", 1), ("decode", field_bits(decode_fields(cfg))), ("ready", cfg.ports)]
    for port in range(cfg.write_ports):
        fields += [
            (f"result_valid{port}", 1),
            (f"result{port}", field_bits(result_fields(cfg))),
            (f"value{port}", ROW_BITS),
        ]
    if cfg.gives.kernel:
        fields += [("kernel_valid", 1), ("kernel", field_bits(kernel_fields(cfg)))]
    if cfg.operand_bits:
        fields += [("operand_valid", 1), ("operand", cfg.operand_bits)]
    if cfg.sees_misses:
        fields += [("missed_valid", 1), ("missed", field_bits(missed_fields(cfg)))]
    return tuple(fields)


def due_fields(cfg: Config) -> tuple[tuple[str, int], ...]:
    """What has to leave at the dispatch pins, port by port: the record, then for every source slot the row of the
    trace's values plus one that its operand must equal, zero for one that is not checked.
    """
    record, rows = field_bits(dispatch_fields(cfg)), cfg.source_slots * ROW_BITS
    ports = [((f"due_valid{port}", 1), (f"record{port}", record), (f"rows{port}", rows)) for port in range(cfg.ports)]
    return tuple(field for fields in ports for field in fields)


def positions(fields: tuple[tuple[str, int], ...]) -> dict[str, tuple[int, int]]:
    """Offset and width of every field of a word."""
    found, offset = {}, 0
    for name, width in fields:
        found[name] = (offset, width)
        offset += width
    return found


def sections(cfg: Config) -> dict[str, Section]:
    """Sections of both words by name, those of the inputs first."""
    found: dict[str, Section] = {}
    for word, fields in (("next", stimulus_fields(cfg)), ("due", due_fields(cfg))):
        name = ""
        for field, (low, width) in positions(fields).items():
            if "_valid" in field:
                name = field.replace("_valid", "")
                found[name] = Section(word, low, 0)
            elif field == "ready":
                name = ""
            elif name:
                found[name] = Section(word, found[name].low, found[name].width + width)
    return found


class StimulusPacker:
    """Packs stimuli of one configuration: :meth:`parts` as numbers and values of sections, :meth:`pack` as a word."""

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        names = list(sections(cfg))
        self._low = [section.low for section in sections(cfg).values()]
        self._number = {name: names.index(name) for name in names}
        self._first_result = self._number["result0"]
        self._beat = BeatPacker(cfg)
        self._kernel, self._operand, self._missed = (self._number.get(name) for name in ("kernel", "operand", "missed"))
        self._missed_dest, self._missed_count = (
            positions(missed_fields(cfg))[name][0] for name in ("dest", "dest_count")
        )
        self.width = field_bits(stimulus_fields(cfg))
        self._ready = positions(stimulus_fields(cfg))["ready"][0]
        self._held: list[tuple[Result | None, int]] = [(None, 0)] * cfg.write_ports
        self._value = field_bits(result_fields(cfg))
        self._lanes = (1 << cfg.lanes) - 1
        self._warp_at = 1
        self._register_at = self._warp_at + cfg.warp_bits
        self._tokens_at = self._register_at + cfg.register_bits
        self._mask_at = self._tokens_at + TOKENS
        # What lies above the mask is a short number by itself. Negative for a flag that is not there.
        self._high_at = self._mask_at + cfg.lanes
        at = {name: low - self._high_at for name, (low, _) in positions(result_fields(cfg)).items()}
        self._full_at, self._component_at, self._origin_at = (
            at.get(name, -1) for name in ("full", "component", "origin")
        )
        self._hints_at, self._value_at = at.get("hints", 0), self._value - self._high_at

    def pack(self, stimulus: Stimulus) -> int:
        """Input word of one cycle."""
        word, low = stimulus.ready << self._ready, self._low
        for number, value in self.parts(stimulus):
            word |= (value << 1 | 1) << low[number]
        return word

    def parts(self, stimulus: Stimulus) -> list[tuple[int, int]]:
        """Sections of one cycle that are there, ascending: number and value without the valid bit."""
        parts: list[tuple[int, int]] = []
        launch = stimulus.launch
        if launch is not None:
            cfg = self._cfg
            record = launch.warp | launch.base << cfg.warp_bits | launch.cta << (cfg.warp_bits + cfg.place_bits)
            parts.append((0, record))
        if stimulus.beat is not None:
            parts.append((1, self._beat.pack(stimulus.beat, stimulus.beat_warp)))
        for port, result in enumerate(stimulus.results):
            if result is not None:
                held, record = self._held[port]
                if held is not result:  # a result is packed once, however long it waits
                    record = self._result(result)
                    self._held[port] = result, record
                parts.append((self._first_result + port, record))
        if self._kernel is not None and stimulus.kernel is not None:
            values = {"registers": stimulus.kernel.registers} | stimulus.kernel.descriptor
            parts.append((self._kernel, pack_fields(kernel_fields(self._cfg), values)))
        if self._operand is not None and stimulus.operand is not None:
            parts.append((self._operand, stimulus.operand))
        missed = stimulus.missed
        if self._missed is not None and missed is not None:
            record = missed.warp | missed.dest << self._missed_dest | missed.dest_count << self._missed_count
            parts.append((self._missed, record))
        return parts

    def _result(self, result: Result) -> int:
        record = (
            result.writes
            | result.warp << self._warp_at
            | result.register << self._register_at
            | result.tokens << self._tokens_at
            | (result.mask & self._lanes) << self._mask_at
        )
        high = result.row + 1 << self._value_at
        if self._full_at >= 0:
            high |= result.full << self._full_at
        if self._component_at >= 0:
            high |= result.component << self._component_at
        if self._origin_at >= 0:
            high |= result.origin << self._origin_at
        if result.hints:
            high |= result.hints << self._hints_at
        return record | high << self._high_at


class DuePacker:
    """Packs what has to leave with the beats that an observation says are dispatched: those bits are ``dispatches``."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        self._cfg, self._fields = cfg, dispatch_fields(cfg)
        at = {name: low for name, (low, _) in positions(self._fields).items()}
        self._at_dest, self._at_count, self._at_payload = at["dest"], at["dest_count"], at["payload"]
        self._at_mask, self._at_hints = at["mask"], at.get("hints", 0)
        assert {*cfg.result_flags} & {*cfg.beat_flags} <= {"full"}, "a beat leaves with no other flag"
        self._at_full = at["full"] - at["payload"] if "full" in at else 0  # zero: it is not there
        self._hints = (1 << cfg.result_hint_bits) - 1
        self._lanes, self._record = (1 << cfg.lanes) - 1, field_bits(self._fields)
        offset = layout.offset
        self.dispatches = layout.mask("dispatch") << offset["dispatch"]
        self._at_dispatch, self._ports = offset["dispatch"], (1 << cfg.ports) - 1
        self._at_beat = [offset[f"dispatch_payload{port}"] for port in range(cfg.ports)]
        self._payload = (1 << cfg.payload_bits) - 1
        self._low = [section.low for section in sections(cfg).values()]
        self._first = list(sections(cfg)).index("due0")

    def pack(self, word: int, environment: Environment) -> int:
        """The harness's word ``due`` of one cycle."""
        due = 0
        for number, value in self.parts(word, environment):
            due |= (value << 1 | 1) << self._low[number]
        return due

    def parts(self, word: int, environment: Environment) -> list[tuple[int, int]]:
        """Sections of a cycle's observation, before the environment knows of it: number and value."""
        parts: list[tuple[int, int]] = []
        ports = word >> self._at_dispatch & self._ports
        for port, at in enumerate(self._at_beat):
            if ports >> port & 1:
                parts.append((self._first + port, self._due(environment, word >> at & self._payload)))
        return parts

    def _due(self, environment: Environment, payload: int) -> int:
        beat, warp = environment.workload.beats[payload], environment.owner(payload)
        assert warp is not None, f"beat {payload} is dispatched, but no warp has issued it"
        # Two short numbers, and of the rows only those that there are: sums of long numbers are what takes the time.
        record = warp | beat.dest << self._at_dest | beat.dest_count << self._at_count
        record |= (beat.mask & self._lanes) << self._at_mask
        high = payload
        if self._at_full and beat.full:
            high |= 1 << self._at_full
        if self._hints:
            high |= (beat.hints & self._hints) << self._at_hints - self._at_payload
        rows = 0
        for row in reversed(beat.expected):
            rows = rows << ROW_BITS | row + 1
        return record | high << self._at_payload | rows << self._record

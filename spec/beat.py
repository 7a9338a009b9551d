"""The decode record: instructions cut into beats, the unit that is issued, collected and dispatched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from warpfile.spec.config import Config
from warpfile.spec.trace import TOKENS, Kind, Port, Space, StaticInstruction

NO_VALUE = -1
#: Kind of a pseudo-instruction in the decode record; branches are nothing special there.
SCHEME_PINS = 1
_PIN_KINDS = {int(Kind.BRANCH): int(Kind.NORMAL), int(Kind.SCHEME): SCHEME_PINS}
# Plain numbers: comparing with a member of an IntEnum costs a lookup for every beat.
_SCHEME: Final = int(Kind.SCHEME)
_NO_PORT: Final = int(Port.NONE)
_GLOBAL: Final = int(Space.GLOBAL)
_LOCAL: Final = int(Space.LOCAL)
_TEXTURE: Final = int(Space.TEXTURE)


@dataclass(slots=True, eq=False)
class Beat:
    """One beat of one executed instruction (docs/machine.md, section 2).

    ``expected`` names, per source, the row of the trace's values that the operand must equal (``NO_VALUE``: not
    checked) and ``result_row`` the row of the first result. ``mask`` always has 32 lanes. ``sectors`` are those
    of a global or local access, ascending, by number; ``transfers`` are those of an access to any memory.
    ``record`` is the trace's dynamic record. ``full``: the execution mask, ``converged``: the mask before the guard has
    every lane that has not exited. ``hints`` are the scheme's, laid out as its configuration says. ``drain`` and
    ``operand`` belong to pseudo-instructions; a pass may have ``inserted`` the instruction. ``result_words``: built
    lanes of the first result, lane 0 lowest, where the file may absorb the beat (``Gives.absorbs``) and they are known.
    One that ``passes`` goes through its unit though no lane executes it; what is ``answered`` and has neither register
    nor token comes back as a result without either.
    """

    payload: int
    record: int
    offset: int
    port: int
    kind: int
    sources: tuple[int, ...]
    dest: int
    dest_count: int
    token_reads: int
    token_writes: int
    mask: int
    first: bool
    last: bool
    expected: tuple[int, ...] = ()
    result_row: int = NO_VALUE
    space: int = 0
    is_load: bool = False
    is_atomic: bool = False
    sectors: tuple[int, ...] = ()
    transfers: int = 1
    full: bool = True
    converged: bool = True
    hints: int = 0
    drain: int = 0
    operand: int = 0
    inserted: bool = False
    result_words: int | None = None
    passes: bool = False
    answered: bool = False

    @property
    def counts(self) -> bool:
        """Whether an instruction of the original stream ends here."""
        return self.last and not self.inserted

    @property
    def pseudo(self) -> bool:
        """Whether it is a pseudo-instruction of a scheme."""
        return self.kind == _SCHEME

    @property
    def executes(self) -> bool:
        """Whether any lane executes it, or it passes."""
        return self.mask != 0 or self.passes

    @property
    def long(self) -> bool:
        """Whether its result comes from global or local memory or from a texture unit."""
        return self.is_load and self.dest_count > 0 and self.space in (_GLOBAL, _LOCAL, _TEXTURE)

    @property
    def needs_unit(self) -> bool:
        """Whether a collector unit has to take it."""
        return (self.mask != 0 or self.passes) and self.port != _NO_PORT

    @property
    def results(self) -> int:
        """How many results it gets from its unit."""
        return self.dest_count or int(self.token_writes != 0 or self.answered)


def distinct_sources(sources: Iterable[int]) -> tuple[int, ...]:
    """Source registers in order of first occurrence, each once."""
    return tuple(dict.fromkeys(sources))


def source_groups(instruction: StaticInstruction, source_slots: int) -> tuple[tuple[int, ...], ...]:
    """Sources of each beat of an instruction; one empty group where it has none. A pass may have cut it already."""
    if instruction.groups:
        return instruction.groups
    sources = distinct_sources(instruction.sources)
    cuts = range(0, max(1, len(sources)), source_slots)
    return tuple(sources[start : start + source_slots] for start in cuts)


def decode_fields(cfg: Config) -> tuple[tuple[str, int], ...]:
    """Names and widths of the decode port's record, least significant first. ``sources``: one register per slot."""
    return (
        ("warp", cfg.warp_bits),
        ("port", cfg.port_bits),
        ("kind", 2),
        *_present("drain", 2 if cfg.operand_bits else 0),
        ("executes", 1),
        ("source_valid", cfg.source_slots),
        ("sources", cfg.source_slots * cfg.register_bits),
        ("dest", cfg.register_bits),
        ("dest_count", 3),
        ("token_reads", TOKENS),
        ("token_writes", TOKENS),
        ("mask", cfg.lanes),
        ("payload", cfg.payload_bits),
        *((flag, 1) for flag in cfg.decode_flags),
        *_present("hints", cfg.hint_bits),
    )


def dispatch_fields(cfg: Config) -> tuple[tuple[str, int], ...]:
    """Names and widths of a beat as it leaves the operand stage, without its operands, least significant first."""
    return (
        ("warp", cfg.warp_bits),
        ("dest", cfg.register_bits),
        ("dest_count", 3),
        ("mask", cfg.lanes),
        ("payload", cfg.payload_bits),
        *((flag, 1) for flag in cfg.result_flags if flag in cfg.beat_flags),
        *_present("hints", cfg.result_hint_bits),
    )


def result_fields(cfg: Config) -> tuple[tuple[str, int], ...]:
    """Names and widths of one request of a write-back port without its data, least significant first.

    ``writes``: it has a register; ``component`` numbers the registers of one instruction, ``origin`` is one of
    ``spec.stimulus.Origin``.
    """
    widths = {"full": 1, "component": 2, "origin": 2}
    return (
        ("writes", 1),
        ("warp", cfg.warp_bits),
        ("register", cfg.register_bits),
        ("tokens", TOKENS),
        ("mask", cfg.lanes),
        *((flag, widths[flag]) for flag in cfg.result_flags),
        *_present("hints", cfg.result_hint_bits),
    )


def launch_fields(cfg: Config) -> tuple[tuple[str, int], ...]:
    """Names and widths of a warp launch: slot, the warp's first place, CTA slot; least significant first."""
    return (("warp", cfg.warp_bits), ("base", cfg.place_bits), ("cta", cfg.cta_bits))


def missed_fields(cfg: Config) -> tuple[tuple[str, int], ...]:
    """Names and widths of the notice that a load misses: its warp slot and destinations; least significant first."""
    return (("warp", cfg.warp_bits), ("dest", cfg.register_bits), ("dest_count", 3))


def kernel_fields(cfg: Config) -> tuple[tuple[str, int], ...]:
    """Names and widths of a kernel's start: registers per thread, then the descriptor; least significant first."""
    return (("registers", cfg.register_names.bit_length()), *cfg.descriptor)


def _present(name: str, width: int) -> tuple[tuple[str, int], ...]:
    return ((name, width),) if width else ()


def field_bits(fields: Iterable[tuple[str, int]]) -> int:
    """Width of a whole record."""
    return sum(width for _, width in fields)


def pack_fields(fields: Iterable[tuple[str, int]], values: dict[str, int]) -> int:
    """Concatenate named values, first field least significant. Raises ``ValueError`` where a value does not fit."""
    word = offset = 0
    for name, width in fields:
        value = values[name]
        if not 0 <= value < 1 << width:
            raise ValueError(f"{name} must fit {width} bits, not {value}")
        word |= value << offset
        offset += width
    return word


def unpack_fields(fields: Iterable[tuple[str, int]], word: int) -> dict[str, int]:
    """Inverse of :func:`pack_fields`."""
    values: dict[str, int] = {}
    for name, width in fields:
        values[name] = word & (1 << width) - 1
        word >>= width
    return values


def pack_beat(cfg: Config, beat: Beat, warp: int) -> int:
    """The decode port's record of a beat that warp slot ``warp`` executes."""
    registers = 0
    for slot, register in enumerate(beat.sources):
        registers |= register << (slot * cfg.register_bits)
    values = {
        "warp": warp,
        "port": cfg.port_of[beat.port],
        "kind": _PIN_KINDS.get(beat.kind, beat.kind),
        "drain": beat.drain,
        "executes": int(beat.executes),
        "source_valid": (1 << len(beat.sources)) - 1,
        "sources": registers,
        "dest": beat.dest,
        "dest_count": beat.dest_count,
        "token_reads": beat.token_reads,
        "token_writes": beat.token_writes,
        "mask": beat.mask & ((1 << cfg.lanes) - 1),
        "payload": beat.payload,
        "full": int(beat.full),
        "converged": int(beat.converged),
        "long": int(beat.long),
        "hints": beat.hints,
    }
    return pack_fields(decode_fields(cfg), values)


class BeatPacker:
    """:func:`pack_beat` for one configuration, with the places of all fields looked up once.

    Whether values fit is checked for the first beat of each instruction.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        at, low = {}, 0
        for name, width in decode_fields(cfg):
            at[name] = low
            low += width
        self._at_port, self._at_kind, self._at_drain = at["port"], at["kind"], at.get("drain", -1)
        self._at_executes, self._at_valid, self._at_sources = at["executes"], at["source_valid"], at["sources"]
        # From the destination on, and from the mask on: numbers that are short by themselves.
        self._at_dest, self._at_mask = at["dest"], at["mask"]
        self._at_count, self._at_reads = at["dest_count"] - at["dest"], at["token_reads"] - at["dest"]
        self._at_writes = at["token_writes"] - at["dest"]
        self._at_payload, self._at_hints = at["payload"] - at["mask"], at.get("hints", -1) - at["payload"]
        # Zero for a flag that is not there: it would lie above the payload.
        self._at_full, self._at_converged, self._at_long = (
            at[flag] - at["payload"] if flag in cfg.decode_flags else 0 for flag in ("full", "converged", "long")
        )
        self._lanes = (1 << cfg.lanes) - 1
        self._register_bits, self._port_of = cfg.register_bits, cfg.port_of
        self._checked: set[int] = set()

    def pack(self, beat: Beat, warp: int) -> int:
        """The decode port's record of a beat that warp slot ``warp`` executes."""
        if beat.offset not in self._checked:
            self._checked.add(beat.offset)
            return pack_beat(self._cfg, beat, warp)
        kind, port, size = beat.kind, beat.port, self._register_bits
        registers = 0
        for register in reversed(beat.sources):
            registers = registers << size | register
        low = (
            warp
            | self._port_of[port] << self._at_port
            | _PIN_KINDS.get(kind, kind) << self._at_kind
            | beat.executes << self._at_executes
            | (1 << len(beat.sources)) - 1 << self._at_valid
        )
        if beat.drain:
            low |= beat.drain << self._at_drain
        middle = (
            beat.dest
            | beat.dest_count << self._at_count
            | beat.token_reads << self._at_reads
            | beat.token_writes << self._at_writes
        )
        high = beat.payload
        if self._at_full and beat.full:
            high |= 1 << self._at_full
        if self._at_converged and beat.converged:
            high |= 1 << self._at_converged
        if self._at_long and beat.long:
            high |= 1 << self._at_long
        if beat.hints:
            high |= beat.hints << self._at_hints
        word = low | registers << self._at_sources | middle << self._at_dest
        return word | (beat.mask & self._lanes | high << self._at_payload) << self._at_mask

"""Configuration of one scheduling domain: checked once when constructed, trusted ever after."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any


def index_bits(count: int) -> int:
    """Width of an index into ``count`` places; at least one bit, so that no signal vanishes."""
    return max(1, (count - 1).bit_length())


def _number(low: int, high: int, doc: str, default: int) -> Any:
    return field(default=default, metadata={"low": low, "high": high, "doc": doc})


def _power(low: int, high: int, doc: str, default: int) -> Any:
    return field(default=default, metadata={"low": low, "high": high, "power": True, "doc": doc})


def _choice(choices: tuple[object, ...], doc: str, default: object) -> Any:
    return field(default=default, metadata={"choices": choices, "doc": doc})


@dataclass(frozen=True, kw_only=True)
class Config:
    """One scheduling domain with its execution units and memory. Impossible values cannot be constructed.

    Every field says its rule in its metadata, and ``docs/machine.md`` says what it does.
    Raises ``ValueError``: "<field> must be <rule>, not <value>".
    """

    lanes: int = _power(1, 32, "lanes of a warp that are built; control is the same for any number", 32)
    warps: int = _number(1, 64, "warp slots", 8)
    ctas: int = _number(1, 32, "CTAs that may be resident", 8)
    shared_bytes: int = _number(0, 1 << 20, "shared memory of the domain in bytes", 65536)
    buffer_depth: int = _number(1, 4, "instruction buffer entries per warp", 2)
    register_names: int = _power(8, 256, "vector registers that an instruction can name", 256)
    banks: int = _power(1, 32, "register banks", 2)
    rows: int = _power(2, 1024, "warp registers per bank", 256)
    bank_ports: str = _choice(("1RW", "1R1W"), "ports of a bank", "1RW")
    bank_cycles: int = _number(1, 8, "cycles a bank is busy per access; read data leave it so many cycles later", 1)
    bank_skew: str = _choice(("none", "warp", "row"), "what is added to a register's number to find its bank", "warp")
    collectors: int = _number(1, 32, "collector units", 4)
    source_slots: int = _number(1, 8, "source registers that a beat can carry and a collector unit can hold", 3)
    collect: str = _choice(("lowest", "one", "all"), "requests and fills of a collector unit per cycle", "lowest")
    bank_arbitration: str = _choice(("round_robin", "oldest"), "which collector unit a bank serves", "round_robin")
    dispatch_arbitration: str = _choice(("round_robin", "oldest"), "which collector unit a port takes", "round_robin")
    scheduler: str = _choice(("gto", "lrr"), "which eligible warp issues", "gto")
    ports: int = _choice((1, 3), "execution ports, each with a write-back port; with one, all classes share it", 3)
    payload_bits: int = _number(16, 128, "bits that travel from decode to dispatch untouched", 32)
    branch_delay: int = _number(0, 32, "cycles from a branch's dispatch to the decode of the warp's next beat", 4)
    alu_latency: int = _number(1, 1024, "cycles from dispatch to the first write-back request", 4)
    alu_interval: int = _number(1, 1024, "cycles between two dispatches", 1)
    sfu_latency: int = _number(1, 1024, "as alu_latency", 20)
    sfu_interval: int = _number(1, 1024, "as alu_interval", 4)
    shared_latency: int = _number(1, 1024, "shared memory and constant bank, as alu_latency", 24)
    hit_latency: int = _number(1, 4096, "global and local memory, all lines in the cache", 32)
    miss_latency: int = _number(1, 4096, "global and local memory, some line not in the cache", 400)
    miss_interval: int = _number(1, 1024, "cycles between two lines from beyond the cache", 4)
    cache_lines: int = _number(0, 4096, "128-byte lines of the cache, 4 ways; 0: every line misses", 256)
    uniform_latency: int = _number(1, 1024, "cycles from issue to token release beside the operand stage", 6)
    result_queue: int = _number(1, 64, "results waiting at a write-back port from which on its unit stalls", 2)

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            check_field(spec, getattr(self, spec.name))
        if self.cache_lines % 4:
            raise ValueError(f"cache_lines must be a multiple of 4, not {self.cache_lines}")
        if self.lanes < 1:
            raise ValueError("lanes must be positive")

    @property
    def warp_bits(self) -> int:
        """Width of a warp slot number."""
        return index_bits(self.warps)

    @property
    def cta_bits(self) -> int:
        """Width of a CTA slot number."""
        return index_bits(self.ctas)

    @property
    def register_bits(self) -> int:
        """Width of a register name."""
        return index_bits(self.register_names)

    @property
    def bank_bits(self) -> int:
        """Width of a bank number."""
        return index_bits(self.banks)

    @property
    def row_bits(self) -> int:
        """Width of a row number."""
        return index_bits(self.rows)

    @property
    def unit_bits(self) -> int:
        """Width of a collector unit number."""
        return index_bits(self.collectors)

    @property
    def data_bits(self) -> int:
        """Bits of one warp register as built: lanes x 32."""
        return self.lanes * 32

    @property
    def place_bits(self) -> int:
        """Width of a place number: bank and row of a warp register in one."""
        return index_bits(self.banks * self.rows)

    def places_per_warp(self, registers: int) -> int:
        """Places that a warp of a kernel with so many registers takes: whole rows if the skew depends on the warp."""
        size = self.banks if self.bank_skew == "warp" else 1
        return max(1, -(-registers // size)) * size

    def resident_warps(self, registers: int) -> int:
        """Warp slots that such a kernel can use: limited by slots and by places."""
        return min(self.warps, self.banks * self.rows // self.places_per_warp(registers))

    def replace(self, **changes: object) -> Config:
        """A copy with some fields changed, checked again."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    def to_json(self) -> dict[str, object]:
        """All fields by name, for manifests and for the simulator's process."""
        return dataclasses.asdict(self)


def check_field(spec: dataclasses.Field[Any], value: object) -> None:
    """Raise ``ValueError`` where a value breaks its field's rule."""
    rule = spec.metadata
    if "choices" in rule:
        if value not in rule["choices"]:
            raise ValueError(f"{spec.name} must be one of {', '.join(map(str, rule['choices']))}, not {value}")
        return
    if not isinstance(value, int) or isinstance(value, bool) or not rule["low"] <= value <= rule["high"]:
        raise ValueError(f"{spec.name} must be a number from {rule['low']} to {rule['high']}, not {value}")
    if rule.get("power") and value & (value - 1):
        raise ValueError(f"{spec.name} must be a power of two, not {value}")


def parse_field(name: str, text: str) -> object:
    """Value of a field from its text (``--set FIELD=VALUE``). Raises ``ValueError`` that names the field."""
    for spec in dataclasses.fields(Config):
        if spec.name == name:
            numeric = isinstance(spec.default, int)
            try:
                value: object = int(text, 0) if numeric else text
            except ValueError:
                raise ValueError(f"{name} must be a whole number, not {text!r}") from None
            check_field(spec, value)
            return value
    known = ", ".join(spec.name for spec in dataclasses.fields(Config))
    raise ValueError(f"{name!r} is no configuration field; known are {known}")

"""Configuration of one scheduling domain: checked once when constructed, trusted ever after."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from warpfile.spec.config.derived import Derived, index_bits
from warpfile.spec.config.fields import check_field
from warpfile.spec.contract import Asks, Gives, Hint
from warpfile.spec.structure import BANK_RAM, OperandArray, Ram, all_rams

_NOTHING: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Config(Derived):
    """One scheduling domain with its execution units and memory. Impossible values cannot be constructed.

    Every field has its rule in its metadata, and its meaning in ``docs/machine.md``. A part with parameters, hints
    or flags of its own has a subclass; :func:`joined` makes the configuration of a machine from those of its parts, so
    every method that a subclass overrides goes on to the next one with ``super()``.
    Raises ``ValueError``: "<field> must be <rule>, not <value>".
    """

    #: What a beat carries beside the fields that all schemes need, of "full" and "converged" (``spec.beat.Beat``).
    beat_flags: ClassVar[tuple[str, ...]] = ()
    #: What a result carries in addition: of "full", "component" and "origin" (``spec.beat.result_fields``).
    result_flags: ClassVar[tuple[str, ...]] = ()
    #: Whether some part decides by the values of results, so that the golden model needs them.
    values: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            check_field(spec, getattr(self, spec.name))
        if self.cache_lines % self.cache_ways:
            raise ValueError(f"cache_lines must be a multiple of cache_ways, {self.cache_ways}, not {self.cache_lines}")
        if self.domain >= self.domains:
            raise ValueError(f"domain must be below the number of domains, {self.domains}, not {self.domain}")
        if self.has_places and self.suspend == "never" and self.active_warps < self.warps:
            raise ValueError(
                f"active_warps must be at least warps, {self.warps}, not {self.active_warps}, if suspend is never:"
                " a warp at a barrier keeps its place"
            )
        if self.has_places:
            self._suspensions()
        if self.pending_entries and (self.has_places or self.asks.guards or self.shows_pending):
            raise ValueError(
                f"pending_entries must be 0, not {self.pending_entries}, where a scheduler has places, collectors guard"
                " or the file gates or looks ahead: these need pending registers by name, or have no scoreboard"
            )
        if self.has_places and self.asks.guards:
            raise ValueError(
                f"scheduler must be one without places, not {self.scheduler}: there is no scoreboard that tells which"
                " registers a warp waits for"
            )

    def _suspensions(self) -> None:
        """What would suspend a warp again at once, or for nothing that ends, or too late."""
        if self.sees_misses and self.notice_latency > min(self.hit_latency, self.texture_latency):
            raise ValueError(
                f"notice_latency must be at most hit_latency, {self.hit_latency}, and texture_latency,"
                f" {self.texture_latency}, not {self.notice_latency}, if long_from is miss"
            )
        if self.suspend in ("outstanding", "strands") and self.resume != "all":
            raise ValueError(
                f"resume must be all, not {self.resume}, if suspend is {self.suspend}:"
                " a warp that comes back to a place while a load is out would suspend at once"
            )
        if self.suspend == "always" and self.suspend_load == "needed":
            raise ValueError(
                "suspend_load must be always, not needed, if suspend is always:"
                " a warp that keeps its place would wait for nothing"
            )

    @classmethod
    def adapted(cls, values: dict[str, object]) -> dict[str, object]:
        """A preset's values as this kind of configuration needs them."""
        return values

    @property
    def stands_for(self) -> Mapping[str, object]:
        """Values of fields of every configuration, where this one has a field of its own in their place."""
        return _NOTHING

    def must_have(self, required: Mapping[str, tuple[object, str]]) -> None:
        """Refuse other values of these fields; with each stands why. A part calls this when it is constructed."""
        for name, (value, why) in required.items():
            if getattr(self, name) != value:
                raise ValueError(f"{name} must be {value}, not {getattr(self, name)}: {why}")

    def must_be_power(self, name: str, why: str) -> None:
        """Refuse a field that is no power of two, and say which are the nearest. A part calls this likewise."""
        value = getattr(self, name)
        if value & (value - 1):
            less = 1 << value.bit_length() - 1
            raise ValueError(f"{name} must be a power of two, {less} or {2 * less}, not {value}: {why}")

    def must_be_hardware(self) -> None:
        """Raises ``ValueError`` for what only the golden model has."""

    @property
    def lookahead(self) -> bool:
        """Whether the scheduler wants to know whose next load is in the register file."""
        return False

    @property
    def shows_pending(self) -> bool:
        """Whether the register file sees the pending registers of every warp."""
        return self.gives.gates or self.gives.lookahead

    @property
    def places_at_once(self) -> bool:
        """Whether the register file knows the places of sources in the cycle of the offer."""
        return not (self.gives.later or self.gives.renamed)

    @property
    def joins_planes(self) -> bool:
        """Whether one access may bring two sources of one bank whose slices do not meet."""
        return self.asks.joins == "planes"

    @property
    def decode_flags(self) -> tuple[str, ...]:
        """All one-bit fields that the decode record has for scheme and scheduler."""
        return (*self.beat_flags, *(("long",) if self.has_places else ()))

    @property
    def asks(self) -> Asks:
        """What the collectors ask of the register file."""
        return Asks(units=self.collectors, slots=self.source_slots)

    @property
    def gives(self) -> Gives:
        """What the register file gives."""
        return Gives(cycles=self.bank_cycles)

    @property
    def operand_bits(self) -> int:
        """Width of the operand of a pseudo-instruction; 0: the machine has none."""
        return 0

    @property
    def descriptor(self) -> tuple[tuple[str, int], ...]:
        """Fields of the kernel descriptor with their widths, beside the register count."""
        return ()

    def hints(self) -> tuple[Hint, ...]:
        """What the annotation passes of the parts put on every beat. A part adds its own to those of ``super()``."""
        return ()

    def hint_at(self, name: str) -> int:
        """Lowest bit of a hint in a beat's hints, and in a result's if it returns: those that return come first."""
        at = 0
        for hint in sorted(self.hints(), key=lambda one: not one.returns):
            if hint.name == name:
                return at
            at += hint.bits
        raise KeyError(name)

    @property
    def suspend_hint(self) -> int | None:
        """Bit of a beat's hints that marks it for the two-level scheduler; None: every beat is marked."""
        return self.hint_at("suspend") if any(hint.name == "suspend" for hint in self.hints()) else None

    @property
    def token_port(self) -> int:
        """Write-back port by which the tokens of beats without a unit are released."""
        return 0

    @property
    def decides_by_values(self) -> bool:
        """Whether it matters what results are, so that a trace must know."""
        return self.values

    @property
    def early_port(self) -> int:
        """Execution port on which the first of several results of a beat comes a cycle before its latency; -1: none."""
        return -1

    def passes(self, hints: int) -> bool:
        """Whether a beat with these hints goes through its unit also where no lane executes it."""
        return False

    def answers(self, hints: int) -> bool:
        """Whether a beat with these hints gets an answer where it has neither register nor token."""
        return False

    @property
    def hint_bits(self) -> int:
        """Bits that the annotation passes put on every beat."""
        return sum(hint.bits for hint in self.hints())

    @property
    def result_hint_bits(self) -> int:
        """How many of them, the lowest, leave at dispatch and come back with each result."""
        return sum(hint.bits for hint in self.hints() if hint.returns)

    @property
    def read_banks(self) -> int:
        """Banks that the collectors read."""
        return self.banks

    @property
    def read_rows(self) -> int:
        """Rows of each of them."""
        return self.rows

    @property
    def unit_bits(self) -> int:
        """Width of the number of a unit that holds beats."""
        return index_bits(self.asks.units)

    @property
    def operand_arrays(self) -> tuple[OperandArray, ...]:
        """Where operands stand in arrays beside the banks; the form of these is ``storage``."""
        return ()

    @property
    def clock_gates(self) -> bool:
        """Whether the machine has clock gates, and with them a pin for their test enable."""
        return self.clock_gating != "none" or (self.storage == "latches" and bool(self.operand_arrays))

    @property
    def rams(self) -> dict[str, Ram]:
        """The machine's SRAMs by their Verilog modules."""
        arrays = all_rams(self.operand_arrays, self.storage)
        return {BANK_RAM: Ram(self.rows, self.data_bits, self.bank_ports, self.banks), **arrays}

    def places_per_warp(self, registers: int, descriptor: Mapping[str, int] = _NOTHING) -> int:
        """Places that a warp of a kernel with so many registers takes: whole rows if the skew depends on the warp.

        A part whose warps take others overrides this, and may ask the kernel's descriptor.
        """
        size = self.banks if self.bank_skew == "warp" else 1
        return max(1, -(-self.allocated(registers) // size)) * size

    def resident_warps(self, registers: int, descriptor: Mapping[str, int] = _NOTHING) -> int:
        """Warp slots that such a kernel can use: limited by slots and by places. See :meth:`places_per_warp`."""
        return min(self.warps, self.banks * self.rows // self.places_per_warp(registers, descriptor))

    def base_place(self, slot: int, registers: int, descriptor: Mapping[str, int] = _NOTHING) -> int:
        """First place of the warp in a slot. See :meth:`places_per_warp`."""
        return slot * self.places_per_warp(registers, descriptor)

    def home_slots(self, cta: int, descriptor: Mapping[str, int] = _NOTHING) -> tuple[int, ...]:
        """Warp slots of the CTA in a CTA slot, in the order of its warps; none: they take the lowest free ones."""
        return ()

    def common(self) -> Config:
        """The fields that every scheme has, as the baseline's configuration."""
        return Config(**{spec.name: getattr(self, spec.name) for spec in dataclasses.fields(Config)})

    def replace(self, **changes: object) -> Config:
        """A copy with some fields changed, checked again."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    def to_json(self) -> dict[str, object]:
        """All fields by name, for manifests and for the simulator's process."""
        return {spec.name: getattr(self, spec.name) for spec in dataclasses.fields(self)}

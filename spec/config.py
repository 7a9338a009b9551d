"""Configuration of one scheduling domain: checked once when constructed, trusted ever after."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, ClassVar

from warpfile.spec.contract import Asks, Gives, Hint
from warpfile.spec.structure import BANK_RAM, FORMS, OperandArray, Ram, all_rams

LINE_BYTES = 128
_DIGITS = 40  #: of a number's text; what is longer is far above every limit
#: Execution port of every class of unit, by ``spec.trace.Port``, for each number of ports; NONE has none. Each line
#: divides what the line above has in one port.
_PORTS = {
    1: (0, 0, 0, -1, 0, 0, 0),
    3: (0, 1, 2, -1, 0, 0, 0),
    4: (0, 2, 3, -1, 1, 1, 1),
    6: (0, 4, 5, -1, 1, 2, 3),
}
_NOTHING: Mapping[str, int] = MappingProxyType({})


def index_bits(count: int) -> int:
    """Width of an index into ``count`` places; at least one bit, so that no signal vanishes."""
    return max(1, (count - 1).bit_length())


def number_field(low: int, high: int, doc: str, default: int) -> Any:
    """A configuration field that takes whole numbers from ``low`` to ``high``."""
    return field(default=default, metadata={"low": low, "high": high, "doc": doc})


def power_field(low: int, high: int, doc: str, default: int) -> Any:
    """A configuration field that takes powers of two from ``low`` to ``high``."""
    return field(default=default, metadata={"low": low, "high": high, "power": True, "doc": doc})


def choice_field(choices: tuple[object, ...], doc: str, default: object) -> Any:
    """A configuration field that takes one of some values."""
    return field(default=default, metadata={"choices": choices, "doc": doc})


def name_field(doc: str, default: str) -> Any:
    """A configuration field that takes the name of a part."""
    return field(default=default, metadata={"name": True, "doc": doc})


@dataclass(frozen=True, kw_only=True)
class Config:
    """One scheduling domain with its execution units and memory. Impossible values cannot be constructed.

    Every field says its rule in its metadata, and ``docs/machine.md`` says what it does. A part with parameters, hints
    or flags of its own has a subclass; :func:`joined` makes the configuration of a machine from those of its parts, so
    every method that a subclass overrides goes on to the next one with ``super()``.
    Raises ``ValueError``: "<field> must be <rule>, not <value>".
    """

    #: What a beat carries beside the fields that all schemes need, of "full" and "converged" (``spec.beat.Beat``).
    beat_flags: ClassVar[tuple[str, ...]] = ()
    #: What a result carries besides: of "full", "component" and "origin" (``spec.beat.result_fields``).
    result_flags: ClassVar[tuple[str, ...]] = ()
    #: Whether some part decides by the values of results, so that the golden model needs them.
    values: ClassVar[bool] = False

    lanes: int = power_field(1, 32, "lanes of a warp that are built; control is the same for any number", 32)
    domains: int = number_field(1, 8, "domains of the SM, to which the warps of every CTA are dealt in turn", 1)
    domain: int = number_field(0, 7, "which of them this is: it runs the warps w mod domains of every CTA", 0)
    warps: int = number_field(1, 64, "warp slots", 8)
    ctas: int = number_field(1, 32, "CTAs that may be resident in the SM", 8)
    shared_bytes: int = number_field(0, 1 << 20, "shared memory of the SM in bytes", 65536)
    buffer_depth: int = number_field(1, 4, "instruction buffer entries per warp", 2)
    pending_entries: int = number_field(
        0, 32, "entries of a warp's scoreboard, each with the registers of one beat; 0: a bit per register name", 0
    )
    register_names: int = power_field(8, 256, "vector registers that an instruction can name", 256)
    register_unit: int = number_field(1, 16, "registers of a thread that are allocated at a time", 1)
    banks: int = number_field(1, 128, "register banks", 2)
    rows: int = power_field(2, 1024, "warp registers per bank", 256)
    bank_ports: str = choice_field(("1RW", "1R1W"), "ports of a bank", "1RW")
    bank_cycles: int = number_field(
        1, 32, "cycles a bank is busy per access; read data leave it so many cycles later", 1
    )
    bank_occupancy: str = choice_field(
        ("length", "one"),
        "how long an access keeps its bank, or its port: as long as it takes, or one cycle of a pipelined bank",
        "length",
    )
    bank_skew: str = choice_field(
        ("none", "warp", "row"), "what is added to a register's number to find its bank", "warp"
    )
    collectors: int = number_field(1, 32, "collector units", 4)
    source_slots: int = number_field(1, 8, "source registers that a beat can carry and a collector unit can hold", 3)
    collect: str = choice_field(("lowest", "one", "all"), "requests and fills of a collector unit per cycle", "lowest")
    bank_arbitration: str = choice_field(("round_robin", "oldest"), "which collector unit a bank serves", "round_robin")
    dispatch_arbitration: str = choice_field(
        ("round_robin", "oldest"), "which collector unit a port takes", "round_robin"
    )
    retake: str = choice_field(
        ("next", "same"), "when a collector unit can be taken again: the cycle after its dispatch, the same", "next"
    )
    storage: str = choice_field(
        FORMS, "what arrays of operands in windows, caching units and register caches are made of", "flip_flops"
    )
    clock_gating: str = choice_field(
        ("none", "arrays"),
        "which registers have a clock gate in place of an enable: arrays of operands and tables",
        "none",
    )
    scheduler: str = name_field(
        "which eligible warp issues: gto, lrr, oldest, two_level or one of another package", "gto"
    )
    active_warps: int = number_field(1, 64, "warps that may issue at a time under the two-level scheduler", 8)
    active_choice: str = choice_field(("greedy", "round_robin"), "which of them issues", "greedy")
    suspend: str = choice_field(
        ("pending", "outstanding", "always", "never"),
        "when a warp gives up its place: a marked beat needs a load that is out, any load is, at marked beats, never",
        "pending",
    )
    suspend_load: str = choice_field(
        ("always", "needed"),
        "when a warp that suspends for a load gives up its place: always, only if a ready warp needs it",
        "always",
    )
    suspend_barrier: str = choice_field(
        ("always", "needed"),
        "when a warp at a barrier gives up its place: always, only if a ready warp needs it",
        "always",
    )
    starved_after: int = number_field(
        1, 255, "cycles without a beat after which a warp gives up its place if a ready warp needs it", 32
    )
    resume: str = choice_field(
        ("head", "all"), "which loads a warp without a place waits for: those that its marked beat needs, all", "head"
    )
    long_from: str = choice_field(
        ("issue", "miss"), "when a load becomes one to leave for: at its issue, at the notice that it misses", "issue"
    )
    ports: int = choice_field(
        tuple(_PORTS),
        "execution ports: one for all units; arithmetic, SFU and LSU; the same with ALU apart; one for each class",
        3,
    )
    write_back_ports: int = choice_field(
        tuple(_PORTS), "write-back ports, divided among the units in the same way; no more than execution ports", 3
    )
    payload_bits: int = number_field(16, 128, "bits that travel from decode to dispatch untouched", 32)
    decode_order: str = choice_field(
        ("round_robin", "follow"),
        "which warp gets the next beat: in turn, or the one that issued last and otherwise the youngest",
        "round_robin",
    )
    branch_delay: int = number_field(0, 32, "cycles from a branch's dispatch to the decode of the warp's next beat", 4)
    alu_latency: int = number_field(1, 1024, "cycles from dispatch to the first write-back request", 4)
    alu_interval: int = number_field(1, 1024, "cycles between two dispatches", 1)
    fma_latency: int = number_field(1, 1024, "as alu_latency", 4)
    fma_interval: int = number_field(1, 1024, "as alu_interval", 1)
    double_latency: int = number_field(1, 1024, "as alu_latency", 20)
    double_interval: int = number_field(1, 1024, "as alu_interval", 8)
    tensor_latency: int = number_field(1, 1024, "as alu_latency", 16)
    tensor_interval: int = number_field(1, 1024, "as alu_interval", 16)
    sfu_latency: int = number_field(1, 1024, "as alu_latency", 20)
    sfu_interval: int = number_field(1, 1024, "as alu_interval", 4)
    lsu_interval: int = number_field(
        1, 1024, "cycles that 128 bytes of shared memory or cache keep the LSU's port: its share of the SM's LSU", 1
    )
    shared_latency: int = number_field(1, 1024, "shared memory and constant bank, as alu_latency", 24)
    texture_latency: int = number_field(1, 4096, "textures and surfaces, as alu_latency", 200)
    texture_interval: int = number_field(1, 1024, "as alu_interval", 4)
    hit_latency: int = number_field(1, 4096, "global and local memory, no sector waited for", 32)
    notice_latency: int = number_field(
        1, 4096, "from a load's dispatch to the notice that it misses; for textures always; only with long_from miss", 4
    )
    miss_latency: int = number_field(1, 4096, "from a sector's entry into the channel to its arrival", 400)
    sector_interval: int = number_field(1, 1024, "cycles between two sectors from beyond the cache", 1)
    sector_bytes: int = choice_field((32, 128), "what memory moves of a line of 128 bytes: a part, or all of it", 32)
    cache_lines: int = number_field(0, 4096, "128-byte lines of the cache; 0: every sector misses", 256)
    cache_ways: int = number_field(1, 256, "lines of a set of it", 4)
    cached: str = choice_field(
        ("all", "local"), "loads that it is for: of global and local memory, of local only", "all"
    )
    l1_banks: int = number_field(1, 32, "banks of the SM's cache, to which sectors go in turn", 1)
    mshrs: int = number_field(0, 4096, "sectors on their way that the cache can keep track of; 0: all", 0)
    mshr_merges: int = number_field(0, 1024, "accesses that can wait for one of them; 0: all", 0)
    stores: str = choice_field(
        ("back", "through", "around"),
        "stores write back and fetch what is missing, write through and leave it in the cache, or only write through",
        "back",
    )
    uniform_latency: int = number_field(1, 1024, "cycles from issue to token release beside the operand stage", 6)
    port_queue: int = number_field(
        0, 16, "dispatched beats that may wait behind an execution port until their unit can start them", 0
    )
    result_queue: int = number_field(1, 64, "results waiting at a write-back port from which on its unit stalls", 2)

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            check_field(spec, getattr(self, spec.name))
        if self.cache_lines % self.cache_ways:
            raise ValueError(f"cache_lines must be a multiple of cache_ways, {self.cache_ways}, not {self.cache_lines}")
        if self.lanes < 1:
            raise ValueError("lanes must be positive")
        if self.domain >= self.domains:
            raise ValueError(f"domain must be below domains, {self.domains}, not {self.domain}")
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
                " or the register file gates or foresees: these need pending registers by name, or have no scoreboard"
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
        if self.suspend == "outstanding" and self.resume != "all":
            raise ValueError(
                f"resume must be all, not {self.resume}, if suspend is outstanding:"
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
    def banks_by_bits(self) -> bool:
        """Whether bank and row are bits of a place's number, because there are a power of two of banks."""
        return not self.banks & (self.banks - 1)

    @property
    def has_places(self) -> bool:
        """Whether the scheduler has places: only warps that hold one issue, and the file is asked to let go of one."""
        return self.scheduler == "two_level"

    @property
    def sees_misses(self) -> bool:
        """Whether the machine is told of loads that miss."""
        return self.has_places and self.long_from == "miss"

    @property
    def sees_outstanding(self) -> bool:
        """Whether the scheduler asks if any load of a warp is out, whatever its head beat."""
        return self.has_places and self.resume == "all"

    @property
    def foresees(self) -> bool:
        """Whether the scheduler wants to know whose next load is in the register file."""
        return False

    @property
    def shows_pending(self) -> bool:
        """Whether the register file sees the pending registers of every warp."""
        return self.gives.gates or self.gives.foresees

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
    def port_bits(self) -> int:
        """Width of a beat's execution port; all ones stands for none."""
        return max(2, self.ports.bit_length())

    @property
    def port_of(self) -> tuple[int, ...]:
        """Execution port of every class of unit, by ``spec.trace.Port``; all ones for NONE."""
        none = (1 << self.port_bits) - 1
        return tuple(none if port < 0 else port for port in _PORTS[self.ports])

    @property
    def write_ports(self) -> int:
        """Write-back ports."""
        return min(self.ports, self.write_back_ports)

    @property
    def write_port_of(self) -> tuple[int, ...]:
        """Write-back port of every execution port."""
        pairs = zip(_PORTS[self.ports], _PORTS[self.write_ports], strict=True)
        return tuple(back for _, back in sorted({pair for pair in pairs if pair[0] >= 0}))

    @property
    def transfer_cycles(self) -> int:
        """Cycles of ``lsu_interval`` in which the SM's LSU serves this domain."""
        return max(1, self.lsu_interval // self.domains)

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
    def place_count_bits(self) -> int:
        """Width of an active place's number."""
        return index_bits(self.active_warps)

    @property
    def hint_bits(self) -> int:
        """Bits that the annotation passes put on every beat."""
        return sum(hint.bits for hint in self.hints())

    @property
    def result_hint_bits(self) -> int:
        """How many of them, the lowest, leave at dispatch and come back with each result."""
        return sum(hint.bits for hint in self.hints() if hint.returns)

    @property
    def warp_bits(self) -> int:
        """Width of a warp slot number."""
        return index_bits(self.warps)

    @property
    def cta_slots(self) -> int:
        """CTA slots of the domain: those of the SM, as far as it has warps for them, as every CTA here has a warp."""
        return min(self.ctas, self.warps)

    @property
    def cta_bits(self) -> int:
        """Width of a CTA slot number."""
        return index_bits(self.cta_slots)

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
    def data_bits(self) -> int:
        """Bits of one warp register as built: lanes x 32."""
        return self.lanes * 32

    @property
    def place_bits(self) -> int:
        """Width of a place number: bank and row of a warp register in one."""
        return index_bits(self.banks * self.rows)

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

    def allocated(self, registers: int) -> int:
        """Registers that a thread of a kernel with so many is given."""
        return -(-registers // self.register_unit) * self.register_unit

    def resident_warps(self, registers: int, descriptor: Mapping[str, int] = _NOTHING) -> int:
        """Warp slots that such a kernel can use: limited by slots and by places. See :meth:`places_per_warp`."""
        return min(self.warps, self.banks * self.rows // self.places_per_warp(registers, descriptor))

    def base_place(self, slot: int, registers: int, descriptor: Mapping[str, int] = _NOTHING) -> int:
        """First place of the warp in a slot. See :meth:`places_per_warp`."""
        return slot * self.places_per_warp(registers, descriptor)

    def common(self) -> Config:
        """The fields that every scheme has, as the baseline's configuration."""
        return Config(**{spec.name: getattr(self, spec.name) for spec in dataclasses.fields(Config)})

    def replace(self, **changes: object) -> Config:
        """A copy with some fields changed, checked again."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    def to_json(self) -> dict[str, object]:
        """All fields by name, for manifests and for the simulator's process."""
        return {spec.name: getattr(self, spec.name) for spec in dataclasses.fields(self)}


#: Flags in the order in which records carry them.
_FLAGS = {"beat_flags": ("full", "converged"), "result_flags": ("full", "component", "origin")}


@cache
def joined(kinds: tuple[type[Config], ...]) -> type[Config]:
    """The configuration of a machine whose parts need these: all fields, hints, flags and rules.

    Raises ``TypeError`` where two kinds have a field or a property of one name and neither derives from the other.
    """
    own = tuple(
        kind for kind in dict.fromkeys(kinds) if not any(issubclass(one, kind) and one != kind for one in kinds)
    )
    if len(own) < 2:
        return own[0] if own else Config
    common = {spec.name for spec in dataclasses.fields(Config)}
    seen: dict[str, type[Config]] = {}
    for kind in own:
        for spec in dataclasses.fields(kind):
            if spec.name not in common and spec.name in seen:
                raise TypeError(f"field {spec.name!r} belongs to {seen[spec.name].__name__} and to {kind.__name__}")
            seen[spec.name] = kind
    _check_properties(own)
    body: dict[str, object] = {
        name: tuple(flag for flag in order if any(flag in getattr(kind, name) for kind in own))
        for name, order in _FLAGS.items()
    }
    body |= {"values": any(kind.values for kind in own), "__doc__": "Configuration of a machine of several parts."}
    name = "And".join(kind.__name__.removesuffix("Config") for kind in own) + "Config"
    return dataclass(frozen=True, kw_only=True)(type(name, own, body))


def _check_properties(kinds: Iterable[type[Config]]) -> None:
    """Of what every configuration has, kinds add to what others say; of their own they must not mean two things."""
    seen: dict[str, tuple[type[Config], object]] = {}
    for kind in kinds:
        for name in dir(kind):
            value = getattr(kind, name)
            if isinstance(value, (property, cached_property)) and not hasattr(Config, name):
                first, other = seen.setdefault(name, (kind, value))
                if other is not value:
                    raise TypeError(f"property {name!r} belongs to {first.__name__} and to {kind.__name__}")


def check_field(spec: dataclasses.Field[Any], value: object) -> None:
    """Raise ``ValueError`` where a value breaks its field's rule."""
    rule = spec.metadata
    if "choices" in rule:
        if value not in rule["choices"]:
            raise ValueError(f"{spec.name} must be one of {', '.join(map(str, rule['choices']))}, not {value}")
        return
    if "name" in rule:
        if not isinstance(value, str) or not value.isidentifier():
            raise ValueError(f"{spec.name} must be a name, not {value}")
        return
    if not isinstance(value, int) or isinstance(value, bool) or not rule["low"] <= value <= rule["high"]:
        raise ValueError(f"{spec.name} must be a number from {rule['low']} to {rule['high']}, not {value}")
    if rule.get("power") and value & (value - 1):
        raise ValueError(f"{spec.name} must be a power of two, not {value}")


def parse_field(name: str, text: str, kind: type[Config] = Config) -> object:
    """Value of a field from its text (``--set FIELD=VALUE``). Raises ``ValueError`` that names the field."""
    for spec in dataclasses.fields(kind):
        if spec.name == name:
            numeric = isinstance(spec.default, int)
            try:
                value: object = int(text if len(text) <= _DIGITS else "", 0) if numeric else text
            except ValueError:
                raise ValueError(f"{name} must be a whole number, not {text!r}") from None
            check_field(spec, value)
            return value
    known = ", ".join(spec.name for spec in dataclasses.fields(kind))
    raise ValueError(f"{name!r} is no configuration field; known are {known}")

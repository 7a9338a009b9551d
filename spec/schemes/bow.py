"""Declared once of ``bow`` and ``bow_wr``: parameters, hints, probes, counters (docs/schemes/bow.md)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

from warpfile.spec.config import Config, choice_field, index_bits, number_field
from warpfile.spec.contract import Asks, Engine, Hint
from warpfile.spec.probe import Fields, Probe
from warpfile.spec.structure import WINDOW_ARRAY, OperandArray, Structure


class WriteClass(IntEnum):
    """Where a result is written: bit 1 the window, bit 0 the register file (in the end)."""

    NEITHER = 0
    FILE = 1
    WINDOW = 2
    BOTH = 3


_PLACES = tuple((int(one), one.name.lower()) for one in WriteClass)


@dataclass(frozen=True, kw_only=True)
class BowConfig(Config):
    """A domain with one operand window per warp instead of the collector units.

    Hints are the :class:`WriteClass` of a beat's destination, only with ``window_writes`` = ``hints``.
    """

    beat_flags: ClassVar[tuple[str, ...]] = ("full",)
    result_flags: ClassVar[tuple[str, ...]] = ("full",)

    window: int = number_field(2, 7, "beats in an operand window", 3)
    window_entries: int = number_field(1, 56, "operands that an operand window holds", 12)
    window_writes: str = choice_field(
        ("through", "back", "hints"), "when a result goes to the banks: at once, when it leaves, as hinted", "through"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        required = {
            "collectors": (self.warps, "equal warps, because every warp has a window"),
            "collect": ("lowest", "because a window asks for one operand at a time"),
            "bank_arbitration": ("round_robin", "because windows have no age"),
            "dispatch_arbitration": ("round_robin", "because windows have no age"),
        }
        self.must_have(required)
        if self.gives.deaths:
            raise ValueError("virtualization must be 0, not 1, under operand windows")
        if self.window_entries < self.source_slots:
            raise ValueError(f"window_entries must be at least source_slots, {self.source_slots}")

    @classmethod
    def adapted(cls, values: dict[str, object]) -> dict[str, object]:
        """A preset's values as windows need them: one per warp, round robin, one request each."""
        fixed = {"collect": "lowest", "bank_arbitration": "round_robin", "dispatch_arbitration": "round_robin"}
        return super().adapted(values | fixed | {"collectors": values["warps"]})

    def hints(self) -> tuple[Hint, ...]:
        """The write class, which comes back with the result."""
        meaning = "where the results go: the window, the register file, both or neither"
        hint = Hint("write_class", 2, True, meaning, values=_PLACES)
        return (*super().hints(), *((hint,) if self.window_writes == "hints" else ()))

    @property
    def asks(self) -> Asks:
        """One request per window; where windows write back, they also look up the entry that leaves, or name it."""
        if self.gives.renamed:
            back = self.window_writes != "through"
            return Asks(units=self.warps, slots=1, sources=False, keeps=back, evicts=back)
        if self.window_writes == "through":
            return Asks(units=self.warps, slots=1, sources=False, lookups=1)
        evictions = Engine("evictions", self.warps)
        return Asks(units=self.warps, slots=1, sources=False, lookups=2, keeps=True, engines=(evictions,))

    @property
    def operand_arrays(self) -> tuple[OperandArray, ...]:
        """A window's entries: all sources of a beat are read at once, and an entry that leaves; fills and results."""
        reads = self.source_slots + (self.window_writes != "through")
        own = OperandArray(WINDOW_ARRAY, self.window_entries, reads, 2, self.warps * self.lanes)
        return (*super().operand_arrays, own)

    @property
    def sizes_entries(self) -> bool:
        """Whether every entry has a size, because the file packs what leaves."""
        return self.asks.evicts and self.gives.slices

    @property
    def entry_bits(self) -> int:
        """Width of an entry's number within its window."""
        return index_bits(self.window_entries)


def window_probes(cfg: BowConfig) -> tuple[Probe, ...]:
    """Observation of the operand windows; masks over windows have one bit per warp slot."""
    windows, entries, slots = cfg.warps, cfg.warps * cfg.window_entries, cfg.warps * cfg.window
    return (
        Probe("refused", 1, "the offered beat finds no room after this cycle's results"),
        Probe("stall_slot", windows, "clear head beats that wait for the oldest beat of the window to dispatch"),
        Probe("stall_evict", windows, "clear head beats with a source that must be written to its bank first"),
        Probe("stall_entry", windows, "clear head beats with too few entries for their sources"),
        Probe("blocked", windows, "head beats that write a register which an older beat has yet to read"),
        Probe("hit", cfg.source_slots, "sources of the inserted beat that are in its window"),
        Probe("miss", cfg.source_slots, "sources of the inserted beat that are not"),
        Probe("undispatched", slots, "beats in a window that have not dispatched, bit window * cfg.window + slot"),
        Probe("lacking", slots, "undispatched beats with a source that is missing"),
        Probe("held", entries, "entries that are not free, bit window * window_entries + entry"),
        Probe("filling", entries, "entries that wait for their bank or for its data"),
        Probe("dirty", entries, "entries whose value is in no bank and not in flight to one"),
        Probe("owed", entries, "dirty entries that must be written to their bank in the end"),
        Probe("evicting", entries, "entries in flight to their bank"),
        Probe("discard", entries, "entries dropped in this cycle as the compiler's hint allows"),
        Probe("victim", entries, "entries that must leave for a waiting beat's sources"),
        Probe("victim_transient", windows, "windows whose victim was meant for the window only"),
        Probe("request", windows, "windows that request a bank for an operand"),
        Probe("grant", windows, "windows whose bank serves them"),
        Probe("evict", windows, "windows that request a bank for an eviction"),
        Probe("evicted", windows, "windows whose eviction the bank takes"),
        Probe("accepted", cfg.write_ports, "accepted results that have a register"),
        Probe("store", cfg.write_ports, "accepted results that the window takes"),
        Probe("bank_write", cfg.write_ports, "accepted results that a bank takes"),
        Probe("drop", cfg.write_ports, "accepted results that neither window nor bank takes"),
        Probe("late", cfg.write_ports, "accepted results whose beat has left its window"),
        Probe("saved", cfg.write_ports, "accepted results that make an owed write to the bank unnecessary"),
        *(
            Probe(f"class{port}", 2, "write class of the accepted result, zero if none", _PLACES)
            for port in range(cfg.write_ports)
        ),
        *_renamed_probes(cfg),
    )


def _renamed_probes(cfg: BowConfig) -> tuple[Probe, ...]:
    """Additional probes of windows over a renamed file (docs/schemes/corf.md, section 17)."""
    if not cfg.gives.renamed:
        return ()
    sizes = Probe("entry_size", cfg.warps * cfg.window_entries * 3, "bytes of clean, dirty and leaving entries")
    return (
        Probe("look_up", cfg.warps, "windows that the renaming table serves"),
        Probe("look_up_wait", cfg.warps, "windows that request the renaming table and are not served"),
        Probe("zero", cfg.warps, "windows whose next entry is unmapped, so that no bank is requested"),
        *((sizes,) if cfg.sizes_entries else ()),
    )


def window_events(fields: Fields) -> dict[str, int]:
    """Counters of the operand windows (docs/schemes/bow.md, section 6)."""
    totals = {name: int(fields[name].sum()) for name in _SUMS}
    counters = {counter: totals[name] for counter, name in _COUNTERS.items()}
    counters["bank_writes"] = totals["bank_write"] + totals["evicted"]
    counters["bypassed_writes"] = totals["saved"] + totals["discard"] + totals["drop"]
    counters["bank_conflicts"] = totals["request"] - totals["grant"]
    counters["window_writes"] = totals["store"] + totals["grant"]
    counters |= {counter: int(fields[name].sum()) for counter, name in RENAMED_COUNTERS.items() if name in fields}
    counters["window_writes"] += counters.get("unmapped_reads", 0)
    counters["window_reads"] = totals["hit"] + totals["miss"] + totals["evicted"]
    counters["late_bank_writes"] = int((fields["late"] & fields["bank_write"]).sum())
    classes = [fields[name] for name in fields if name.startswith("class")]
    accepted = fields["accepted"]
    for number in range(4):
        same = [(bits[:, 0] == number % 2) & (bits[:, 1] == number // 2) for bits in classes]
        counters[f"class_{number}"] = int(sum((one & accepted[:, port]).sum() for port, one in enumerate(same)))
    sources = (fields["hit"] | fields["miss"]).sum(axis=1)[fields["issue"][:, 0]]
    for count in range(fields["hit"].shape[1] + 1):
        counters[f"sources_{count}"] = int((sources == count).sum())
    held = fields["held"].reshape(len(fields["held"]), fields["resident"].shape[1], -1)
    occupied = held.sum(axis=2)[fields["resident"]]
    for count in range(held.shape[2] + 1):
        counters[f"occupancy_{count}"] = int((occupied == count).sum())
    return counters


#: Counters that are the number of set bits of one probe.
_COUNTERS = {
    "bank_reads": "grant",
    "bypassed_reads": "hit",
    "evictions": "evicted",
    "discards": "discard",
    "victims": "victim",
    "victims_transient": "victim_transient",
    "saved_writes": "saved",
    "dropped_results": "drop",
    "late_results": "late",
    "refusals": "refused",
    "stall_slot": "stall_slot",
    "stall_evict": "stall_evict",
    "stall_entry": "stall_entry",
    "stall_write_after_read": "blocked",
    "unit_cycles": "undispatched",
    "operand_waits": "lacking",
    "results": "accepted",
}
#: The same of windows over a renamed file.
RENAMED_COUNTERS = {"look_ups": "look_up", "look_up_waits": "look_up_wait", "unmapped_reads": "zero"}
_SUMS = (*_COUNTERS.values(), "miss", "request", "store", "bank_write")


def _rank_bits(cfg: BowConfig) -> int:
    return 4 if cfg.window_entries > 8 else 3


#: Storage of section 8 of the page, beside the reference design.
STRUCTURES = (
    Structure(
        "window entries",
        "flip-flops",
        r"window_lane\.",
        lambda cfg: cfg.warps * cfg.window_entries * cfg.lanes * 32,
    ),
    Structure(
        "registers of the entries",
        "cam",
        r"window\.tags\.register",
        lambda cfg: cfg.warps * cfg.window_entries * cfg.register_bits,
    ),
    Structure(
        "states, owners, ranks, pins of the entries",
        "flip-flops",
        r"window\.(tags|ranks)\.",
        lambda cfg: cfg.warps * cfg.window_entries * (8 + _rank_bits(cfg)),
        "a bit per pair of entries instead of ranks; write-through needs two bits less, "
        "because no entry is dirty or owed",
    ),
    Structure(
        "beat numbers of the windows",
        "flip-flops",
        r"window\.slots\.next_slot",
        lambda cfg: cfg.warps * 4,
        "entries have ages, so there is no comparison with the number of the next beat",
    ),
    Structure(
        "window slots",
        "flip-flops",
        r"window\.(slots|arriving)",
        lambda cfg: cfg.warps * cfg.window * 72,
        "the frame's payload instead of 12 operation bits; two counts; number of the entry that data arrive for",
    ),
    Structure("places of the entries", "flip-flops", r"window\.places\."),
    Structure("turn of the windows that give back", "flip-flops", r"collectors\.evictions\."),
    Structure(
        "bus request registers",
        "flip-flops",
        r"window\.request",
        lambda cfg: cfg.warps * 17,
        "the eviction is chosen anew in every cycle",
    ),
)

"""Declared once of ``shrf``: parameters, hints, probes, counters (docs/schemes/shrf.md)."""

from __future__ import annotations

from dataclasses import dataclass

from warpfile.spec.config import Config, choice_field, index_bits, number_field
from warpfile.spec.contract import Gives, Hint
from warpfile.spec.probe import Fields, Probe
from warpfile.spec.structure import LAST_RESULT_ARRAY, OPERAND_FILE_ARRAY, OperandArray, Structure

READ_PORTS = 3  #: of the operand register file


@dataclass(frozen=True, kw_only=True)
class ShrfConfig(Config):
    """A domain whose active warps have a few entries near the execution units, which the compiler allocates.

    Under a scheduler without places all warps have them. Without entries (``is_off``) it is the baseline's.
    """

    orf_entries: int = number_field(0, 8, "registers that the operand register file holds per warp with entries", 3)
    lrf: str = choice_field(
        ("none", "one", "split"), "last-result file: none, an entry per warp with entries, one per source slot", "split"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.is_off:
            return
        if self.has_places and self.suspend == "outstanding":
            raise ValueError("suspend must not be outstanding: a warp would lose its entries in the middle of a strand")
        if self.source_slots > READ_PORTS:
            raise ValueError(
                f"source_slots must be at most {READ_PORTS}, the read ports of the entries, not {self.source_slots}"
            )

    @classmethod
    def adapted(cls, values: dict[str, object]) -> dict[str, object]:
        """A preset's values as the entries need them."""
        slots = values["source_slots"]
        assert isinstance(slots, int)
        return super().adapted(values | {"source_slots": min(slots, READ_PORTS)})

    @property
    def entry_places(self) -> int:
        """Places with entries: those of the scheduler or, if it has none, one for each warp slot."""
        return self.active_warps if self.has_places else self.warps

    @property
    def lrf_entries(self) -> int:
        """Entries of a place that hold last results."""
        return {"none": 0, "one": 1, "split": self.source_slots}[self.lrf]

    @property
    def place_entries(self) -> int:
        """Entries of a place: those of the operand register file, then those of the last-result file."""
        return self.orf_entries + self.lrf_entries

    @property
    def is_off(self) -> bool:
        """Whether there is no entry."""
        return self.orf_entries == 0 and self.lrf == "none"

    @property
    def operand_arrays(self) -> tuple[OperandArray, ...]:
        """The operand register file, and the last-result files."""
        places, lanes = self.entry_places, self.lanes
        operands = OperandArray(OPERAND_FILE_ARRAY, places * self.orf_entries, self.source_slots, 1, lanes)
        last = OperandArray(LAST_RESULT_ARRAY, places, 1, 1, lanes * self.lrf_entries)
        own = (operands,) * (self.orf_entries > 0) + (last,) * (self.lrf_entries > 0)
        return (*super().operand_arrays, *own)

    @property
    def source_entry_bits(self) -> int:
        """Width of the hint of one source."""
        return (self.orf_entries + (self.lrf != "none")).bit_length()

    @property
    def result_entry_bits(self) -> int:
        """Width of the hint of the result."""
        return self.place_entries.bit_length()

    def hints(self) -> tuple[Hint, ...]:
        """Begins, and the levels of sources and result; none without entries."""
        if self.is_off:
            return super().hints()
        slots = self.source_slots
        entries = "0: main file, 1 to orf_entries: operand register file, then last-result file"
        brings = (Hint("bring", slots, False, "sources that are copied when their bank is read", "bit s: slot s"),)
        own = (
            *((Hint("suspend", 1, False, "a strand begins; on the first beat", "1: yes"),) if self.has_places else ()),
            Hint("source_entry", slots * self.source_entry_bits, False, "where each source is read", entries),
            *(brings if self.orf_entries else ()),
            Hint("result_entry", self.result_entry_bits, True, "entry that the result is written to", entries),
            Hint("mrf_skipped", 1, True, "the result is not written to the main file", "1: yes"),
        )
        return (*super().hints(), *own)

    @property
    def gives(self) -> Gives:
        """A copy is named by its entry; it is known with the offer."""
        if self.is_off:
            return super().gives
        return Gives(
            near_bits=index_bits(self.place_entries),
            cycles=self.bank_cycles,
            gates=True,
            brings=self.orf_entries > 0,
            keeps_places=self.has_places,
        )

    def sources_of(self, hints: int) -> tuple[tuple[int, ...], int]:
        """Of a beat's hints, by source slot: the entry that is named, -1 for none; and the mask of slots that bring."""
        width, at = self.source_entry_bits, self.hint_at("source_entry")
        bring = hints >> self.hint_at("bring") & (1 << self.source_slots) - 1 if self.orf_entries else 0
        entries = []
        for slot in range(self.source_slots):
            value = hints >> at + slot * width & (1 << width) - 1
            last = self.orf_entries + (slot if self.lrf == "split" else 0)
            entries.append(last if value > self.orf_entries else value - 1)
        return tuple(entries), bring

    def result_of(self, hints: int) -> int:
        """The entry that a result's hints name, -1 for none. Positions are those of a beat's hints."""
        return (hints >> self.hint_at("result_entry") & (1 << self.result_entry_bits) - 1) - 1


def level_probes(cfg: ShrfConfig) -> tuple[Probe, ...]:
    """Observation of the levels; entries have bit place * place_entries + entry."""
    if cfg.is_off:
        return ()
    entries, ports, slots = cfg.entry_places * cfg.place_entries, cfg.write_ports, cfg.source_slots
    orf = cfg.entry_places * cfg.orf_entries
    bring = Probe("bring", orf, "entry that gets what a bank has read, bit place * orf_entries + entry")
    return (
        Probe("orf_read", slots, "source slots that are read from the operand register file"),
        Probe("lrf_read", slots, "source slots that are read from the last-result file"),
        Probe("to_be_written", entries, "entries that a beat under way will write"),
        Probe("entry_hold", cfg.warps, "warps whose head beat waits for an entry"),
        *((bring,) if orf else ()),
        Probe("bank_write", ports, "accepted results that a bank takes"),
        Probe("orf_write", ports, "accepted results that the operand register file takes"),
        Probe("lrf_write", ports, "accepted results that the last-result file takes"),
    )


#: Counters that are the number of set bits of one probe.
COUNTERS = {
    "orf_reads": "orf_read",
    "lrf_reads": "lrf_read",
    "entry_holds": "entry_hold",
    "brings": "bring",
    "bank_writes": "bank_write",
    "orf_writes": "orf_write",
    "lrf_writes": "lrf_write",
}


def level_events(fields: Fields) -> dict[str, int]:
    """Counters of the levels (docs/schemes/shrf.md, section 8); without entries there is nothing to count."""
    return {counter: int(fields[name].sum()) for counter, name in COUNTERS.items() if name in fields}


#: Storage of the levels; the entries' bits are those of the paper, whose warps have as many threads.
STRUCTURES = (
    Structure(
        "operand register file",
        "flip-flops",
        r"operand_file_lane\.",
        lambda cfg: cfg.entry_places * cfg.orf_entries * cfg.lanes * 32,
    ),
    Structure(
        "last-result files",
        "flip-flops",
        r"last_result_lane\.",
        lambda cfg: cfg.entry_places * cfg.lrf_entries * cfg.lanes * 32,
    ),
    Structure("entries to be written", "flip-flops", r"place_entries\.to_be_written"),
    Structure("brings in flight", "flip-flops", r"warpfile\.register_file\.brings\."),
)

"""What an import had to repair, counted by kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

#: Name in reports -> what was done.
REPAIRS = {
    "zero_registers": "RZ among the operands left out",
    "moved_destinations": "destination found among the sources",
    "moved_sources": "register recorded as destination, but read",
    "wide_operands": "operands widened from the opcode",
    "unaligned_operands": "wide operands narrowed: their registers are not aligned to the width",
    "narrow_bases": "64-bit addresses taken as 32-bit: odd base register",
    "assumed_factors": "second register of a wide multiply-add taken as its factor, not its addend",
    "access_sizes": "bytes per lane taken from the opcode instead of the line",
    "unknown_opcodes": "operands of unknown opcodes kept as recorded",
    "dropped_addresses": "addresses dropped of instructions that access no memory",
    "missing_addresses": "executed memory accesses without addresses",
    "rebased_addresses": "generic addresses of shared or local memory moved to this project's windows",
    "bulk_addresses": "bulk copies (TMA) without their addresses",
    "replay_markers": "marks of spin loops left out",
    "copy_pairs": "first records of LDGSTS pairs left out",
    "skipped_barriers": "barriers that no lane reached left out",
    "revived_lanes": "records of lanes that had exited, or that the block does not have",
    "appended_exits": "EXIT appended to a warp that did not end in one",
    "missing_warps": "warps of a traced CTA that are not in the file",
}


@dataclass
class Count:
    """How many static instructions and how many records a repair touched; zero instructions where it has none."""

    instructions: int = 0
    records: int = 0


@dataclass
class Repairs:
    """Counts by kind, and what else the user must know."""

    counts: dict[str, Count] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def add(self, name: str, records: int, instructions: int = 0) -> None:
        """Count a repair; nothing happens for no records."""
        if records or instructions:
            count = self.counts.setdefault(name, Count())
            count.records += records
            count.instructions += instructions

    def add_instruction(self, names: Iterable[str], records: int) -> None:
        """Count the repairs of one static instruction that was recorded so many times."""
        for name in names:
            self.add(name, records, 1)

    def remark(self, text: str) -> None:
        """Keep a sentence for the trace's notes."""
        self.remarks.append(text)

    def rows(self) -> list[tuple[str, int, int]]:
        """Description, instructions and records of what was repaired, in the order of ``REPAIRS``."""
        found = self.counts
        return [
            (text, found[name].instructions, found[name].records) for name, text in REPAIRS.items() if name in found
        ]

    def notes(self) -> tuple[str, ...]:
        """Everything as sentences."""
        counted = [f"{text}: {records} times" for text, _, records in self.rows()]
        return (*self.remarks, *counted)

    def to_json(self) -> dict[str, dict[str, int]]:
        """Counts by kind."""
        return {name: vars(self.counts[name]).copy() for name in REPAIRS if name in self.counts}

"""What a scheme stores: the rows of the storage tables of its paper, and where the generated design has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

#: Verilog module of a bank's SRAM; a user replaces SRAMs by foundry macros, and synthesis leaves them out.
BANK_RAM = "register_bank_ram"
#: Likewise of a bank of a cache in front of the banks, and of a table with a bit per register name in each row.
CACHE_RAM, TABLE_RAM = "register_cache_ram", "register_table_ram"
#: Likewise of a renaming table, with two ports.
RENAMING_RAM = "renaming_table_ram"
#: Likewise of a bank of words beside a bank.
SCALAR_RAM = "scalar_bank_ram"
#: Likewise one lane of the operands in a window, in a caching unit, in the register cache, with ``storage`` = memory.
WINDOW_ARRAY, UNIT_ARRAY, LINES_ARRAY = "window_array", "caching_unit_array", "cache_lines_array"
#: Likewise one lane of an operand register file, and of a last-result file.
OPERAND_FILE_ARRAY, LAST_RESULT_ARRAY = "operand_file_array", "last_result_array"
#: One word of such a lane, with ``storage`` = latches.
LATCHES = "operand_latches"
#: All of these.
ARRAYS = (WINDOW_ARRAY, UNIT_ARRAY, LINES_ARRAY, OPERAND_FILE_ARRAY, LAST_RESULT_ARRAY, LATCHES)
#: The clock gate of what takes a value in some cycles only; a user replaces it by a library's cell.
CLOCK_GATE = "clock_gate"
#: All SRAMs that machines have, and what is counted as they are.
RAMS = (BANK_RAM, CACHE_RAM, TABLE_RAM, RENAMING_RAM, SCALAR_RAM, *ARRAYS)
#: What is left out of synthesis: these, and clock gates.
BOXES = (*RAMS, CLOCK_GATE)
#: What arrays of operands are made of.
FORMS = ("flip_flops", "latches", "memory")


#: Bits of one lane of a register.
WORD_BITS = 32


@dataclass(frozen=True)
class Ram:
    """One SRAM: ``arrays`` side by side, with an address each, of ``rows`` of ``width`` bits. An access is one of all.

    ``ports``: ``1RW`` is one that reads or writes, ``1R1W`` one of each, ``2RW`` two that read or write.
    ``instances``: how many the machine has.
    """

    rows: int
    width: int
    ports: str
    instances: int
    arrays: int = 1

    @property
    def bits(self) -> int:
        """Storage of one instance."""
        return self.rows * self.width * self.arrays


@dataclass(frozen=True)
class OperandArray:
    """One lane of an array of operands, of ``rows`` words: as a memory it is the Verilog module ``module``.

    All its ``reads`` and ``writes`` ports can have a row each in one cycle, and what is read is there in that cycle.
    """

    module: str
    rows: int
    reads: int
    writes: int
    instances: int

    def rams(self, form: str) -> dict[str, Ram]:
        """What it is counted as in a form of ``FORMS``; a word of latches is one row."""
        if form == "memory":
            return {self.module: Ram(self.rows, WORD_BITS, f"{self.reads}R{self.writes}W", self.instances)}
        return {LATCHES: Ram(1, WORD_BITS, "latches", self.rows * self.instances)} if form == "latches" else {}


def all_rams(arrays: Iterable[OperandArray], form: str) -> dict[str, Ram]:
    """Of all arrays together."""
    found: dict[str, Ram] = {}
    for name, ram in (pair for array in arrays for pair in array.rams(form).items()):
        known = found.get(name)
        found[name] = replace(ram, instances=ram.instances + (known.instances if known else 0))
    return found


#: How a structure is built. The fields that a CAM compares are flip-flops with a comparator each.
KINDS = ("flip-flops", "cam", "memory", "latches")


@dataclass(frozen=True)
class Structure:
    """One row of a storage table.

    ``registers`` is a regular expression that matches, from the start, ``module.register`` of the design's flip-flops
    (``module`` alone of its memories). A bit belongs to the first structure that matches. ``published`` gives the
    bits of the paper or the reference design at a configuration (None: it has no such row); ``why``: why ours differ.
    """

    name: str
    kind: str
    registers: str
    published: Callable[[Any], int] | None = None
    why: str = ""


#: What every machine has around its collectors (docs/machine.md, sections 3 and 5).
FRAME = (
    Structure("register banks", "memory", r"register_bank_ram", lambda cfg: cfg.banks * cfg.rows * cfg.lanes * 32),
    Structure("instruction buffers", "flip-flops", r"instruction_buffer\."),
    Structure("scoreboards", "flip-flops", r"warp_scoreboard\."),
    Structure("warp scheduler", "flip-flops", r"warpfile\.frame\.scheduler"),
    Structure("residents, CTAs, barriers", "flip-flops", r"warpfile\.frame\."),
    Structure("bases of the warps", "flip-flops", r"warpfile\.register_file\.location\.base"),
    Structure("results under way to their banks", "flip-flops", r"warpfile\.register_file\.complet"),
    Structure("rows under way in pipelined banks", "flip-flops", r"register_bank\.under_way"),
    Structure("bank ports and arbiters", "flip-flops", r"register_bank\."),
    Structure("orders of units, dispatch arbiters", "flip-flops", r"warpfile\.collectors\.ages|dispatch_arbiter\."),
)

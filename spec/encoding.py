"""What the pins of a machine and the fields of their records mean, for the manifest and docs/integration.md."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from warpfile.spec.beat import SCHEME_PINS
from warpfile.spec.config import Config
from warpfile.spec.stimulus import Origin
from warpfile.spec.trace import TOKENS, UNIFORM_PREDICATE_TOKEN, UNIFORM_REGISTER_TOKEN, Drain, Kind, Port

#: Values of a field with their names; a value may have several.
Values = tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Field:
    """A field of a packed port: its lowest bit, its width, what it says, and how; ``parts`` are fields within it.

    ``values`` names what it may be, where that is a list; ``encoding`` then says the same in words.
    """

    name: str
    offset: int
    width: int
    meaning: str
    encoding: str
    parts: tuple[Field, ...] = ()
    values: Values = ()

    def to_json(self) -> dict[str, object]:
        """Facts of the manifest; offsets are those in the field around it."""
        facts: dict[str, object] = {"name": self.name, "offset": self.offset, "width": self.width}
        facts |= {"meaning": self.meaning, "encoding": self.encoding}
        facts |= {"values": {name: value for value, name in self.values}} if self.values else {}
        return facts | ({"fields": [part.to_json() for part in self.parts]} if self.parts else {})


def named_values(values: Values) -> dict[int, str]:
    """One name for every value, which joins all of its names (``3 dram/l2``), in ascending order."""
    names: dict[int, list[str]] = {}
    for value, name in sorted(values, key=lambda one: one[0]):
        names.setdefault(value, []).append(name)
    return {value: "/".join(these) for value, these in names.items()}


def value_list(values: Values) -> str:
    """Values and their names in words."""
    return ", ".join(f"{value} {name}" for value, name in named_values(values).items())


def _members(kind: type[IntEnum]) -> Values:
    return tuple((int(one), one.name.lower()) for one in kind)


#: Encoding of what is a number.
NUMBER = "unsigned number"
_BIT = "1: yes"
_LANES = "bit l: lane l"
_TOKENS = (
    f"bits 0 to {UNIFORM_PREDICATE_TOKEN - 1}: predicates P0 to P6, bit {UNIFORM_PREDICATE_TOKEN}: all uniform "
    f"predicates, bit {UNIFORM_REGISTER_TOKEN} + k: uniform registers whose number modulo "
    f"{TOKENS - UNIFORM_REGISTER_TOKEN} is k"
)
#: Meaning and encoding of every field that a record of any machine may have, except for hints.
FIELDS: dict[str, tuple[str, str | Values]] = {
    "warp": ("warp slot", NUMBER),
    "base": ("first place of the warp: its slot times the places that a warp takes", NUMBER),
    "cta": ("CTA slot of the warp, for barriers", NUMBER),
    "port": ("execution port of its class of units; without one the beat executes beside the machine", ""),
    "kind": (
        "what issuing it does beside reserving registers; branches are normal",
        ((0, "normal"), (SCHEME_PINS, "pseudo-instruction"), (int(Kind.BARRIER), "barrier"), (int(Kind.EXIT), "exit")),
    ),
    "drain": ("what a pseudo-instruction waits for", _members(Drain)),
    "executes": ("its execution mask, of all 32 lanes, is not empty", _BIT),
    "source_valid": ("source slots in use, from slot 0 on without a gap", "bit s: slot s"),
    "sources": ("register of every source slot; distinct, zero where not valid", "slot 0 lowest, a number each"),
    "dest": ("first destination register, a multiple of the next power of two of the count", NUMBER),
    "dest_count": ("destination registers, on the last beat of an instruction", "0 to 4"),
    "token_reads": ("predicates and uniform registers that it reads", _TOKENS),
    "token_writes": ("those that it writes, on the last beat of an instruction", _TOKENS),
    "mask": ("lanes that execute, of those that are built", _LANES),
    "payload": ("any bits; they come back with the dispatch", "free"),
    "full": ("its execution mask has every lane of the warp that has not exited", _BIT),
    "converged": ("so has its mask before the guard predicate", _BIT),
    "long": ("a load or atomic with a destination, in global or local memory, or a texture fetch", _BIT),
    "writes": ("it has a register, not only tokens", _BIT),
    "register": ("register that is written", NUMBER),
    "tokens": ("tokens that are released, with the first result of an instruction", _TOKENS),
    "component": ("which register of the instruction's destinations it is", NUMBER),
    "origin": ("where it comes from", _members(Origin)),
    "registers": ("registers per thread of the kernel", NUMBER),
    "hints": ("hints that the annotation passes of the scheme put on the beat", "by field"),
}
#: What the pins are, by name; a number between underlines is that of an execution or write-back port.
PINS = {
    "clk": ("clock", "every register takes its value at the rising edge"),
    "rst": ("reset, high for at least one rising edge", "synchronous, active high"),
    "test_enable": (
        "test enable of all clock gates: while it is high the gated clocks run in every cycle, for scan shift only",
        "active high; 0 in operation",
    ),
    "launch__payload": ("warp to launch", "record"),
    "launch__valid": ("a warp is offered for launch", _BIT),
    "launch__ready": ("the launch is taken if it is valid", _BIT),
    "kernel__payload": ("start of a kernel, before its first launch", "record"),
    "kernel__valid": ("a kernel is offered", _BIT),
    "kernel__ready": ("the kernel is taken if it is valid", _BIT),
    "started": ("the start after reset is over", _BIT),
    "quiet": ("the register file has nothing under way", _BIT),
    "decode": ("beat for the instruction buffer of its warp", "record"),
    "decode_valid": ("a beat is sent", _BIT),
    "decode_ready": ("warps to which a beat may be sent in this cycle", "bit w: slot w"),
    "operand": ("operand of the pseudo-instruction that issued in the cycle before", "as the scheme says"),
    "operand_valid": ("there is one", _BIT),
    "missed": ("load that is known to miss: its warp and its destinations", "record"),
    "missed_valid": ("there is one", _BIT),
    "resident": ("slots that hold a warp", "bit w: slot w"),
    "waiting": ("warps that wait at a barrier", "bit w: slot w"),
    "issue": ("a beat leaves its instruction buffer", _BIT),
    "issue_warp": ("its warp; zero without an issue", NUMBER),
    "exit": ("the issue ends its warp", _BIT),
    "retired": ("slots that are free, with their places, from the next cycle", "bit w: slot w"),
    "dispatch__N__payload": ("beat that leaves for an execution unit", "record"),
    "dispatch__N__valid": ("a beat is presented", _BIT),
    "dispatch__N__ready": ("the execution unit takes the beat that is presented", _BIT),
    "operands__N": (
        "its operands, in the cycle of the dispatch",
        "source slot by source slot, in each lane 0 lowest, 32 bits a lane",
    ),
    "result__N__payload": ("result for a register, or tokens to release", "record"),
    "result__N__valid": ("a result is offered", _BIT),
    "result__N__ready": ("the result is taken if it is valid", _BIT),
    "result_data__N": ("value of the result, in the lanes of its mask", "lane 0 lowest, 32 bits a lane"),
    "probe": ("observation word for comparison with the golden model", "record"),
}


def pin(name: str) -> tuple[str, str]:
    """Meaning and encoding of a pin of the top module. Raises ``KeyError`` for an unknown one."""
    return PINS[re.sub(r"__\d+", "__N", name)]


def record(cfg: Config, fields: Iterable[tuple[str, int]], *, returned: bool = False) -> tuple[Field, ...]:
    """A packed record with what its fields mean, lowest first; ``returned``: of its hints those that come back."""
    found: list[Field] = []
    offset = 0
    for name, width in fields:
        meaning, encoding = FIELDS.get(name) or (f"field of the kernel's descriptor: {name}", NUMBER)
        values = _ports(cfg) if name == "port" else () if isinstance(encoding, str) else encoding
        text = value_list(values) if values else str(encoding)
        found.append(Field(name, offset, width, meaning, text, _parts(cfg, name, returned), values))
        offset += width
    return tuple(found)


def _ports(cfg: Config) -> Values:
    """The classes of units behind every value, which are other ones for every number of ports."""
    return tuple((cfg.port_of[unit], unit.name.lower()) for unit in Port)


def _parts(cfg: Config, name: str, returned: bool) -> tuple[Field, ...]:
    """Fields within a field."""
    if name == "hints":
        return _hints(cfg, returned)
    if name == "sources":
        slots, bits = range(cfg.source_slots), cfg.register_bits
        return tuple(Field(str(s), s * bits, bits, f"register of source slot {s}", NUMBER) for s in slots)
    return ()


def _hints(cfg: Config, returned: bool) -> tuple[Field, ...]:
    """Hints of all parts; those that come back with results have the lowest bits in both records."""
    hints = sorted(cfg.hints(), key=lambda one: not one.returns)
    return tuple(
        Field(
            one.name,
            cfg.hint_at(one.name),
            one.bits,
            one.meaning,
            one.encoding or value_list(one.values),
            (),
            one.values,
        )
        for one in hints
        if one.returns or not returned
    )

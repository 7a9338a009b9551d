"""What numbered nets are called."""

from __future__ import annotations

import re
from collections.abc import Iterable

from warpfile.hdl.expressions import COMPARISONS, Bit, Cat, Const, Expression, Op, Ref, value
from warpfile.hdl.netlist import Set
from warpfile.hdl.tidy.work import Work, numbered

LONGEST_NAME = 40
#: Of operations of which a net takes its name, the word between the operands.
_WORDS = {
    "&": "and",
    "|": "or",
    "^": "xor",
    "==": "is",
    "!=": "is_not",
    "+": "plus",
    "-": "minus",
    "~x": "not",
    "|x": "any",
    "&x": "all",
}


def called(work: Work, nets: Iterable[str]) -> list[str]:
    """Numbered nets after what they are, if that is short; of those that are the same, one stays."""
    module, widths = work.module, work.module.widths
    found: dict[str, str] = {}
    same: dict[tuple[Expression, int], str] = {}
    work.names, kept = found, []
    for name in nets:
        one, new = work.mapped(work.values.pop(name), work.renamed), name
        if numbered(name):
            if twin := same.get((one, widths[name])):
                found[name] = twin
                continue
            said = _said(one)
            if said and len(said) <= LONGEST_NAME:
                new = found[name] = f"\\{said}${name[2:]}"
                widths[new] = widths[name]
            same[one, widths[name]] = new
        work.values[new] = one
        kept.append(new)
    module.drivers = [Set(one.target, work.mapped(one.value, work.renamed)) for one in module.drivers]
    for register in module.clocked:
        register.statements = tuple(
            work.statement(one, lambda part: work.mapped(part, work.renamed)) for one in register.statements
        )
    module.blocks = [
        tuple(work.statement(one, lambda part: work.mapped(part, work.renamed)) for one in block)
        for block in module.blocks
    ]
    for instance in module.instances:
        for pin, end in instance.pins.items():
            if end is not None:
                instance.pins[pin] = work.mapped(end, work.renamed)
    module.widths = {name: bits for name, bits in widths.items() if name not in found}
    return kept


def _said(one: Expression) -> str | None:
    """An operation in words, of which names of nets are some."""
    if isinstance(one, Ref):
        if numbered(one.name):
            return None
        base = re.sub(r"\W+", "_", one.name.strip("\\").partition("$")[0]).strip("_")
        bits = "" if one.high is None else f"_{one.low}" if one.high == one.low else f"_{one.high}_{one.low}"
        return base + bits
    if isinstance(one, Const):
        return None if (amount := value(one)) is None else str(amount)
    if isinstance(one, Cat):
        zeros = isinstance(one.items[0], Const) and value(one.items[0]) == 0 and len(one.items) == 2
        return _said(one.items[-1]) if zeros or len(set(one.items)) == 1 else None
    if isinstance(one, Bit) or one.sign not in _WORDS:
        return None
    operands = [_said(arg) for arg in one.args]
    if None in operands or (one.sign in COMPARISONS and any(isinstance(arg, Op) for arg in one.args)):
        return None
    word = _WORDS[one.sign]
    if isinstance(one.args[0], Const):
        return None
    return f"{word}_{operands[0]}" if len(operands) == 1 else f"_{word}_".join(map(str, operands))

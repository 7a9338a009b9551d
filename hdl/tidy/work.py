"""A module under construction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from warpfile.hdl.expressions import (
    ARITHMETIC,
    COMPARISONS,
    Bit,
    Cat,
    Const,
    Expression,
    Op,
    Ref,
    number,
    refs,
    sliced,
    value,
    width,
)
from warpfile.hdl.fields import Fields
from warpfile.hdl.netlist import Case, If, Netlist, Set, Statement, reads


def numbered(name: str) -> bool:
    """Whether a net has no name in the source."""
    return name.startswith("\\$")


@dataclass
class Work:
    """A module, and what is known of its nets."""

    module: Netlist
    outputs: Mapping[str, set[str]]  #: of every module, its ports that are outputs
    names: dict[str, str] = field(default_factory=dict)  #: of numbered wires, those that they are
    elements: dict[str, Ref] = field(default_factory=dict)  #: of numbered wires, those bits that they are
    fields: dict[str, Fields] = field(default_factory=dict)  #: names of the bits of a net
    aliases: set[str] = field(default_factory=set)
    values: dict[str, Expression] = field(default_factory=dict)  #: what drives a whole net
    counts: Counter[str] = field(default_factory=Counter)
    placed: set[str] = field(default_factory=set)  #: nets whose operations have been put in place

    def all_reads(self) -> Iterator[Ref]:
        """What is read by all but drivers of whole nets, which :attr:`values` has."""
        module = self.module
        for driver in module.drivers:
            yield from refs(driver.value)
        for register in module.clocked:
            yield Ref(register.clock)
            yield from reads(register.statements)
        for block in module.blocks:
            yield from reads(block)
        for instance in module.instances:
            for pin, one in instance.pins.items():
                if one is not None and pin not in self.outputs[instance.module]:
                    yield from refs(one)

    def renamed(self, ref: Ref) -> Expression:
        """A wire by the name that it has."""
        if whole := self.elements.get(ref.name):
            return whole if ref.high is None else Ref(whole.name, whole.low + ref.high, whole.low + ref.low)
        name = self.names.get(ref.name)
        return ref if name is None else Ref(name, ref.high, ref.low)

    def field_of(self, ref: Ref) -> Expression:
        """The same, and its bits by the field that they are."""
        found = self.renamed(ref)
        assert isinstance(found, Ref)
        if found.high is not None and found.name in self.fields:
            return self.fields[found.name].named(found.name, found.high, found.low)
        return found

    def mapped(self, one: Expression, change: Callable[[Ref], Expression]) -> Expression:
        """An expression with its names changed, and what is settled by that."""
        if isinstance(one, Ref):
            return change(one)
        if isinstance(one, Const):
            return one
        if isinstance(one, Bit):
            return Bit(self.names.get(one.name, one.name), self.mapped(one.place, change), one.count)
        if isinstance(one, Cat):
            return self._joined([self.mapped(item, change) for item in one.items])
        args = tuple(self.mapped(arg, change) for arg in one.args)
        if one.sign == "!x":
            bits = width(args[0], self.module.widths)
            return Op("~x", args) if bits == 1 else Op("==", (args[0], number(bits, 0)))
        if one.sign in COMPARISONS or one.sign in ARITHMETIC:
            args = _as_wide(args, self.module.widths)
        settled = _settled(one.sign, args, self.module.widths)
        return Op(one.sign, args) if settled is None else number(1, settled)

    def _joined(self, items: list[Expression]) -> Expression:
        """Items side by side; of bits of a net that are so, too, one."""
        if not self.elements:
            return Cat(tuple(items))
        done: list[Expression] = []
        for item in items:
            above = done[-1] if done else None
            if (
                isinstance(item, Ref)
                and isinstance(above, Ref)
                and item.high is not None
                and item.name == above.name
                and above.low == item.high + 1
            ):
                done[-1] = item = Ref(item.name, above.high, item.low)
                if item.low == 0 and item.high == self.module.widths[item.name] - 1:
                    done[-1] = Ref(item.name)
            else:
                done.append(item)
        return done[0] if len(done) == 1 and len(items) > 1 else Cat(tuple(done))

    def statement(self, one: Statement, change: Callable[[Expression], Expression] | None = None) -> Statement:
        """A statement with other expressions."""
        change = change or (lambda expression: self.mapped(expression, self.field_of))
        if isinstance(one, Set):
            return Set(self.mapped(one.target, self.renamed), change(one.value))
        if isinstance(one, Case):
            branches = tuple(
                (labels, tuple(self.statement(part, change) for part in body)) for labels, body in one.branches
            )
            return Case(change(one.subject), branches)
        return If(
            tuple(
                (condition and change(condition), tuple(self.statement(part, change) for part in body))
                for condition, body in one.branches
            )
        )


def _as_wide(args: tuple[Expression, ...], widths: Mapping[str, int]) -> tuple[Expression, ...]:
    """Numbers and names as wide as what they are compared with or added to."""
    wide = max(width(arg, widths) for arg in args)
    if any(map(signed, args)):
        return args
    return tuple(arg if isinstance(arg, Op) else sliced(arg, wide - 1, 0, widths) or arg for arg in args)


def _settled(sign: str, args: tuple[Expression, ...], widths: Mapping[str, int]) -> bool | None:
    """What a comparison with the least or the greatest number of a width always is; None if that depends."""
    if sign not in ("<", ">=", "<=", ">") or not isinstance(args[1], Const) or any(map(signed, args)):
        return None
    if sign in ("<", ">="):
        return sign == ">=" if value(args[1]) == 0 else None
    return sign == "<=" if value(args[1]) == (1 << width(args[0], widths)) - 1 else None


def signed(one: Expression) -> bool:
    """Whether an operation in it takes its operands as signed."""
    return isinstance(one, Op) and (one.sign == "$signed" or any(map(signed, one.args)))

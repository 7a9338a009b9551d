"""Operations where they are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from warpfile.hdl.expressions import (
    ARITHMETIC,
    COMPARISONS,
    SHIFTS,
    Bit,
    Cat,
    Const,
    Expression,
    Op,
    Ref,
    complete,
    greatest,
    number,
    sliced,
    value,
    width,
)
from warpfile.hdl.netlist import Set
from warpfile.hdl.tidy.work import Work, numbered, signed

#: Names and numbers of an operation that is written where it is read.
MOST = 12
SHORT = 3  #: of one that is read more than once
LONGEST = 64  #: of a row of the same operation


def place_in_nets(work: Work, order: Iterable[str]) -> None:
    """Operations into those of other nets, in an order in which a net stands behind those that it depends on."""
    for name in order:
        bits = work.module.widths[name]
        work.values[name] = simple(work, _placed(work, work.values[name], bits), bits)
        work.placed.add(name)


def place_elsewhere(work: Work) -> None:
    """Operations into all but drivers of whole nets."""
    module = work.module
    module.drivers = [
        Set(one.target, _placed(work, one.value, width(one.target, module.widths))) for one in module.drivers
    ]
    for register in module.clocked:
        register.statements = tuple(work.statement(one, lambda part: _alone(work, part)) for one in register.statements)
    for instance in module.instances:
        for pin, end in instance.pins.items():
            if end is not None and pin not in work.outputs[instance.module]:
                instance.pins[pin] = _placed(work, end)


def simple(work: Work, one: Expression, bits: int) -> Expression:
    """A product with a power of two as its bits and zeros; a shift of which the lowest bits are read as
    these bits, or zero above the highest one."""
    if not isinstance(one, Op) or len(one.args) != 2:
        return one
    first, second = one.args
    if one.sign == "+" and isinstance(first, Const) and value(first) == 0:
        return sliced(second, bits - 1, 0, work.module.widths) or one
    if one.sign == ">>" and isinstance(first, Ref) and first.high is None and not signed(second):
        have, highest = work.module.widths[first.name], greatest(second, work.module.widths)
        place = sliced(second, (have - 1).bit_length() - 1, 0, work.module.widths) if have > 1 else None
        if place and highest + bits <= have:
            return Bit(first.name, place, bits)
        if place and bits == 1 and highest >= have and isinstance(second, Ref):
            within = Op("<", (second, number(width(second, work.module.widths), have)))
            return Op("&", (within, Bit(first.name, place)))
    if one.sign == "*" and isinstance(second, Const) and (factor := value(second)) and not factor & (factor - 1):
        zeros, have = factor.bit_length() - 1, width(first, work.module.widths)
        if isinstance(first, Op):
            return one
        if have + zeros <= bits:
            above = (number(bits - have - zeros, 0),) if bits > have + zeros else ()
            below = (number(zeros, 0),) if zeros else ()
            return Cat((*above, first, *below))
    return one


def _placed(work: Work, one: Expression, context: int = 0, outer: str = "") -> Expression:
    """An expression with operations in it that nothing else reads; ``context``: bits of what reads its value,
    ``outer``: the operator that does."""
    if isinstance(one, Const):
        return one
    if isinstance(one, Ref):
        return _place(work, one, context, outer)
    if isinstance(one, Bit):
        return Bit(one.name, _placed(work, one.place), one.count)
    if isinstance(one, Cat):
        return Cat(tuple(_placed(work, item) for item in one.items))
    if one.sign == "$signed" or any(isinstance(arg, Op) and arg.sign == "$signed" for arg in one.args):
        return one
    widths, args, sign = work.module.widths, one.args, one.sign
    wide = max(context, width(one, widths))
    if sign in ARITHMETIC or sign in ("~x", "-x"):
        return Op(sign, tuple(_placed(work, arg, wide, sign) for arg in args))
    if sign in SHIFTS:
        return Op(sign, (_placed(work, args[0], wide), _placed(work, args[1])))
    if sign in COMPARISONS:
        wide = max(width(arg, widths) for arg in args)
        return Op(sign, tuple(_placed(work, arg, wide) for arg in args))
    if sign == "?":
        return Op(sign, (_placed(work, args[0]), _placed(work, args[1], wide), _placed(work, args[2], wide)))
    return Op(sign, tuple(_placed(work, arg) for arg in args))


def _place(work: Work, ref: Ref, context: int, outer: str) -> Expression:
    name, widths = ref.name, work.module.widths
    if not numbered(name) or name not in work.placed or signed(work.values[name]):
        return ref
    most = MOST if work.counts[name] == 1 else SHORT
    high = widths[name] - 1 if ref.high is None else ref.high
    found = sliced(work.values[name], high, ref.low, widths)
    bits = high - ref.low + 1
    if found is None or width(found, widths) != bits or not (complete(found, widths) or context in (0, bits)):
        return ref
    chain = isinstance(found, Op) and found.sign == outer
    if sum(1 for _ in leaves(found)) > (LONGEST if chain and work.counts[name] == 1 else most):
        return ref
    return found


def _alone(work: Work, one: Expression) -> Expression:
    """Of a condition, or of a value as wide as its target."""
    return _placed(work, one, width(one, work.module.widths))


def leaves(one: Expression) -> Iterator[Expression]:
    """Names and numbers of an expression; repeated ones count once."""
    if isinstance(one, Ref | Const):
        yield one
    elif isinstance(one, Bit):
        yield Ref(one.name)
        yield from leaves(one.place)
    elif isinstance(one, Cat) and len(set(one.items)) == 1:
        yield from leaves(one.items[0])
    else:
        for part in one.items if isinstance(one, Cat) else one.args:
            yield from leaves(part)

"""Expressions of the Verilog that yosys writes: read, measured by the language's rules, written for people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

#: Operators whose operands take the width of what reads the result, unless something between says otherwise.
ARITHMETIC = frozenset({"+", "-", "*", "&", "|", "^"})
COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
SHIFTS = frozenset({"<<", ">>", "<<<", ">>>"})
#: Of one operand: one bit.
REDUCTIONS = frozenset({"&x", "|x", "^x", "!x"})
#: a op b op c is the same from left and from right.
_CHAINS = frozenset({"&", "|", "^"})
_TOKEN = re.compile(
    r"\s*(\\\S+ |\$?[A-Za-z_]\w*|\d+'s?[bdoh][0-9a-fxzA-FXZ?_]+|<<<|>>>|<<|>>|[=!<>]=|&&|\|\||\d+|[^\s\w])"
)
_NUMBER = re.compile(r"(\d+)'(s?)([bdoh])([0-9a-fxz?_]+)")
_RADIX = {"b": 2, "d": 10, "o": 8, "h": 16}


class UnknownTextError(ValueError):
    """Verilog that yosys does not write for what Amaranth gives it."""


@dataclass(frozen=True, slots=True)
class Ref:
    """A name, of which ``high`` is None the whole, else its bits ``high`` to ``low``."""

    name: str
    high: int | None = None
    low: int = 0


@dataclass(frozen=True, slots=True)
class Const:
    """A number with its width, as written."""

    width: int
    text: str


@dataclass(frozen=True, slots=True)
class Cat:
    """Items side by side, the highest first."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Op:
    """An operator and its operands; of one operand the sign has an ``x`` behind it."""

    sign: str
    args: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Bit:
    """Bits of a name from a place upwards that is computed."""

    name: str
    place: Expression
    count: int = 1


Expression = Ref | Const | Cat | Op | Bit


def parsed(text: str) -> Expression:
    """The expression that a text is. Raises :class:`UnknownTextError`."""
    if "{" not in text and " " not in text:  # most are one name
        name, bracket, bits = text.partition("[")
        if name.isidentifier():
            return _ranged(name, bits[:-1]) if bracket else Ref(name)
    reader = _Reader([token.strip() for token in _TOKEN.findall(text)])
    found = reader.expression()
    if reader.tokens[reader.at :]:
        raise UnknownTextError(text)
    return found


def _ranged(name: str, bits: str) -> Ref:
    high, _, low = bits.partition(":")
    if not high.isdigit() or not (low or high).isdigit():
        raise UnknownTextError(bits)
    return Ref(name, int(high), int(low or high))


@dataclass
class _Reader:
    """Tokens read from the front; yosys writes one operator between operands that have none."""

    tokens: list[str]
    at: int = 0

    def take(self, wanted: str = "") -> str:
        if self.at >= len(self.tokens) or (wanted and self.tokens[self.at] != wanted):
            raise UnknownTextError(" ".join(self.tokens))
        self.at += 1
        return self.tokens[self.at - 1]

    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def expression(self) -> Expression:
        first = self.operand()
        sign = self.next()
        if sign in ARITHMETIC or sign in COMPARISONS or sign in SHIFTS or sign in ("&&", "||"):
            self.take()
            return Op(sign, (first, self.operand()))
        if sign == "?":
            self.take()
            one = self.operand()
            self.take(":")
            return Op("?", (first, one, self.operand()))
        return first

    def operand(self) -> Expression:
        token = self.take()
        if token in ("~", "-", "!", "&", "|", "^"):
            return Op(f"{token}x", (self.operand(),))
        if token == "{":
            items = [self.expression()]
            while self.next() == ",":
                self.take()
                items.append(self.expression())
            self.take("}")
            return Cat(tuple(items))
        if token == "$signed":
            self.take("(")
            inner = self.expression()
            self.take(")")
            return Op("$signed", (inner,))
        if found := _NUMBER.fullmatch(token):
            return Const(int(found[1]), token)
        if not (token[0] == "\\" or token.isidentifier()):
            raise UnknownTextError(token)
        if self.next() != "[":
            return Ref(token)
        self.take()
        bits = ""
        while (part := self.take()) != "]":
            bits += part
        return _ranged(token, bits)


def refs(expression: Expression) -> Iterator[Ref]:
    """All names that an expression reads."""
    if isinstance(expression, Ref):
        yield expression
    elif isinstance(expression, Bit):
        yield Ref(expression.name)
        yield from refs(expression.place)
    elif not isinstance(expression, Const):
        for part in expression.items if isinstance(expression, Cat) else expression.args:
            yield from refs(part)


def width(expression: Expression, widths: Mapping[str, int]) -> int:
    """Bits that an expression has by itself."""
    if isinstance(expression, Ref):
        return widths[expression.name] if expression.high is None else expression.high - expression.low + 1
    if isinstance(expression, Const):
        return expression.width
    if isinstance(expression, Bit):
        return expression.count
    if isinstance(expression, Cat):
        return sum(width(item, widths) for item in expression.items)
    sign, args = expression.sign, expression.args
    if sign in COMPARISONS or sign in REDUCTIONS or sign in ("&&", "||"):
        return 1
    if sign in SHIFTS or len(args) == 1:
        return width(args[0], widths)
    return max(width(one, widths) for one in args[-2:])


def closed(expression: Expression) -> bool:
    """Whether what reads the value has no influence on how it is computed, as it has on an addition's."""
    if isinstance(expression, Op):
        return expression.sign in COMPARISONS or expression.sign in REDUCTIONS or expression.sign in ("&&", "||")
    return True


def complete(expression: Expression, widths: Mapping[str, int]) -> bool:
    """Whether a value is the same in any wider place: it is closed, or a sum of such without a carry."""
    if not isinstance(expression, Op) or expression.sign != "+":
        return closed(expression)
    fits = greatest(expression, widths) < 1 << width(expression, widths)
    return fits and all(complete(arg, widths) for arg in expression.args)


def value(constant: Const) -> int | None:
    """Of a number without unknown bits."""
    found = _NUMBER.fullmatch(constant.text)
    if not found or found[2] or re.search("[xz?]", found[4]):
        return None
    return int(found[4], _RADIX[found[3]])


def greatest(expression: Expression, widths: Mapping[str, int]) -> int:
    """What a value never exceeds: where an item is a number, its bits are known, and so is a sum's carry."""
    if isinstance(expression, Op) and expression.sign == "+":
        return sum(greatest(arg, widths) for arg in expression.args)
    if isinstance(expression, Cat):
        most = 0
        for item in expression.items:
            most = most << width(item, widths) | greatest(item, widths)
        return most
    known = value(expression) if isinstance(expression, Const) else None
    return (1 << width(expression, widths)) - 1 if known is None else known


def number(bits: int, amount: int) -> Const:
    """A number as yosys writes it."""
    return Const(bits, f"{bits}'h{amount:x}")


def sliced(expression: Expression, high: int, low: int, widths: Mapping[str, int]) -> Expression | None:
    """Bits of a value, with zeros above it, as an expression that has this width by itself; None if that takes more
    than its operands' bits."""
    have = width(expression, widths)
    if low == 0 and high == have - 1:
        return expression
    if isinstance(expression, Op):
        sign = expression.sign
        if sign in ("&", "|", "^", "~x") or (low == 0 and sign in ("+", "-")):
            args = [sliced(arg, high, low, widths) for arg in expression.args]
            return None if None in args else Op(sign, tuple(arg for arg in args if arg is not None))
        if not closed(expression):  # what is above its own bits may be a carry
            return None
    if isinstance(expression, Const):
        amount = value(expression)
        return None if amount is None else number(high - low + 1, amount >> low & ((1 << high - low + 1) - 1))
    if high >= have:
        below = sliced(expression, have - 1, low, widths) if low < have else None
        if low < have and below is None:
            return None
        above = number(high - max(have, low) + 1, 0)
        return above if below is None else Cat((above, *(below.items if isinstance(below, Cat) else (below,))))
    if isinstance(expression, Ref):
        return Ref(expression.name, expression.low + high, expression.low + low)
    return _of_items(expression, high, low, widths) if isinstance(expression, Cat) else None


def _of_items(cat: Cat, high: int, low: int, widths: Mapping[str, int]) -> Expression | None:
    parts: list[Expression] = []
    at = 0
    for item in reversed(cat.items):
        end = at + width(item, widths)
        if end > low and at <= high:
            part = sliced(item, min(high, end - 1) - at, max(low - at, 0), widths)
            if part is None:
                return None
            parts.append(part)
        at = end
    return parts[0] if len(parts) == 1 else Cat(tuple(reversed(parts)))


def written(expression: Expression) -> str:
    """An expression's text: parentheses around every operation in another one, and repeats counted."""
    if isinstance(expression, Ref):
        name = f"{expression.name} " if expression.name[0] == "\\" else expression.name
        if expression.high is None:
            return name
        return f"{name}[{expression.high}{'' if expression.high == expression.low else f':{expression.low}'}]"
    if isinstance(expression, Const):
        amount = value(expression)
        return expression.text if amount is None else number(expression.width, amount).text
    if isinstance(expression, Bit):
        count = f" +: {expression.count}" if expression.count > 1 else ""
        return f"{written(Ref(expression.name))}[{written(expression.place)}{count}]"
    if isinstance(expression, Cat):
        return _side_by_side(expression)
    sign, args = expression.sign, expression.args
    if sign == "?":
        return f"{_within(args[0], sign)} ? {_within(args[1], sign)} : {written(args[2])}"
    if sign == "$signed":
        return f"$signed({written(args[0])})"
    if len(args) == 1:
        return f"{sign[0]}{_within(args[0], sign)}"
    return f"{_within(args[0], sign)} {sign} {_within(args[1], '')}"


def _within(expression: Expression, outer: str) -> str:
    if not isinstance(expression, Op) or expression.sign in ("$signed", "~x", "!x"):
        return written(expression)
    if outer in _CHAINS and expression.sign == outer:
        return written(expression)
    return f"({written(expression)})"


def _side_by_side(cat: Cat) -> str:
    texts: list[str] = []
    at, items = 0, cat.items
    while at < len(items):
        end = at + 1
        while end < len(items) and items[end] == items[at]:
            end += 1
        text = written(items[at])
        texts += [f"{{{end - at}{{{text}}}}}"] if end - at > 2 else [text] * (end - at)
        at = end
    return texts[0] if len(texts) == 1 and len(items) > 2 else f"{{{', '.join(texts)}}}"

"""From the text of one operand to its :mod:`compiler.model` value."""

from __future__ import annotations

import re
from collections.abc import Mapping

from warpfile.compiler.model import (
    TRUE_PREDICATE,
    ZERO_REGISTER,
    ZERO_UNIFORM,
    Address,
    Constant,
    File,
    Immediate,
    Label,
    Name,
    Operand,
    Predicate,
    Register,
)

_DIGITS = 10
_REGISTER = re.compile(r"([-~!]?)(\|?)(UR|R)([0-9]+|Z)((?:\.\w+)*)(\|?)((?:\.\w+)*)$")
_PREDICATE = re.compile(r"(!?)(U?)P([0-6T])$")
_PATTERN = re.compile(r"-?0x[0-9a-fA-F]+$")
_DECIMAL = re.compile(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?$")
_SPECIAL = re.compile(r"([-+]?)(INF|QNAN|SNAN|NAN)$")
_CONSTANT = re.compile(r"([-~]?)(\|?)c(x?)\[([^]]*)\]\[([^]]*)\](\|?)(?:\.\w+)*$")
_ADDRESS = re.compile(r"(?:desc\[([^]]*)\])?\[([^]]*)\]$")
_LABEL = re.compile(r"`\(([^)]*)\)$")
_RELOCATED = re.compile(r"32@(lo|hi)\((?:\(\S+ \+ (\S+)@srel\)|([^()]+))\)$")
_NAME = re.compile(r"(?:SR_\w+|[123]D|[A-Z][A-Z0-9_]*)(\.[A-Z0-9_]+)*$")
_MARKED = re.compile(r"\{[\d,]*\}$")


def split_operands(text: str) -> list[str]:
    """Cut at commas and blanks outside brackets (``BRX R4 -0xf0`` has no comma)."""
    text = re.sub(r"\]\s+\[", "][", text)
    parts, depth, current = [], 0, ""
    for char in text:
        depth += (char in "[({") - (char in "])}")
        if depth == 0 and char in ", \t":
            if current:
                parts.append(current)
            current = ""
        else:
            current += char
    return [*parts, current] if current else parts


def parse_operand(text: str, labels: Mapping[str, int]) -> Operand:
    """Value of one operand. Raises :class:`ValueError` saying what it should have been."""
    for parse in (_register, _predicate, _immediate, _constant, _address):
        operand = parse(text)
        if operand is not None:
            return operand
    if match := _LABEL.match(text):
        return label_operand(match[1], labels)
    if match := _RELOCATED.match(text):
        return _relocated(text, match[1], match[3] or match[2], labels)
    if _NAME.match(text) or _MARKED.match(text):
        return Name(text)
    raise ValueError(f"operand must be a register, predicate, literal, constant, address or label, not {text!r}")


def _relocated(text: str, half: str, name: str, labels: Mapping[str, int]) -> Operand:
    """Half of a code address as a literal; the address of anything else is known to the linker only."""
    if name not in labels:
        return Name(text)
    return Immediate(labels[name] if half == "lo" else 0, text)


def label_operand(name: str, labels: Mapping[str, int]) -> Label:
    """Resolve a label of the section."""
    if name not in labels:
        raise ValueError(f"label must be defined in the same section, {name!r} is not")
    return Label(name, labels[name])


def _register(text: str) -> Register | None:
    match = _REGISTER.match(text)
    if match is None:
        return None
    sign, bar, prefix, digits, inner, _, outer = match.groups()
    file = File(prefix)
    zero = ZERO_REGISTER if file is File.GENERAL else ZERO_UNIFORM
    number = zero if digits == "Z" else int(digits) if len(digits) < _DIGITS else zero + 1
    if number > zero or (number == zero and digits != "Z"):
        raise ValueError(f"register number must be below {zero}, not {text!r}")
    marks = [mark for mark in (inner + outer).split(".") if mark]
    return Register(
        file,
        number,
        negate=sign == "-",
        invert=sign in ("~", "!"),
        absolute=bool(bar),
        reuse="reuse" in marks,
        marks=tuple(mark for mark in marks if mark != "reuse"),
    )


def _predicate(text: str) -> Predicate | None:
    match = _PREDICATE.match(text)
    if match is None:
        return None
    number = TRUE_PREDICATE if match[3] == "T" else int(match[3])
    return Predicate(number, uniform=bool(match[2]), negate=bool(match[1]))


def _immediate(text: str) -> Immediate | None:
    if _PATTERN.match(text):
        return Immediate(int(text, 16), text)
    if _DECIMAL.match(text):
        return Immediate(float(text), text)
    if match := _SPECIAL.match(text):
        sign = -1.0 if match[1] == "-" else 1.0
        return Immediate(sign * float("inf" if match[2] == "INF" else "nan"), text)
    return None


def _constant(text: str) -> Constant | None:
    match = _CONSTANT.match(text)
    if match is None:
        return None
    sign, bar, extended, bank, place, _ = match.groups()
    registers, offset = _sum(place)
    return Constant(
        bank=0 if extended else _bank(bank),
        offset=offset,
        index=registers[0] if registers else None,
        bank_register=_register(bank) if extended else None,
        negate=sign == "-",
        invert=sign == "~",
        absolute=bool(bar),
    )


def _bank(text: str) -> int:
    if not _PATTERN.match(text) or text.startswith("-"):
        raise ValueError(f"bank of a constant must be a hexadecimal number, not {text!r}")
    return int(text, 16)


def _address(text: str) -> Address | None:
    match = _ADDRESS.match(text)
    if match is None:
        return None
    registers, offset = _sum(match[2])
    base = next((register for register in registers if register.file is File.GENERAL), None)
    uniform = next((register for register in registers if register.file is File.UNIFORM), None)
    return Address(base, uniform, offset, _register(match[1]) if match[1] else None)


def _sum(text: str) -> tuple[list[Register], int]:
    """Registers and total offset of ``R2.64+UR4+-0x10``."""
    registers, offset = [], 0
    for term in filter(None, text.split("+")):
        register = _register(term)
        if register is not None:
            registers.append(register)
        elif _PATTERN.match(term):
            offset += int(term, 16)
        else:
            raise ValueError(f"address must be a sum of registers and a hexadecimal offset, not {text!r}")
    return registers, offset

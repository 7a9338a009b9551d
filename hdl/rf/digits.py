"""Registers and places as bank and row of so many banks (docs/machine.md, section 5.1).

*Digits* of a number are its bank, in the lowest bits, and above it its row: with a power of two of banks they are the
number itself. With any other, and skew by row, there is a third one: the bank, rotated by the row.
"""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.utils import ceil_log2

from warpfile.hdl.naming import named
from warpfile.spec.config import Config

_LOW = 5  #: bits of the lower part of a register's name


def bank_digit(cfg: Config) -> int:
    """Width of the bank among digits; none for a single bank."""
    return ceil_log2(cfg.banks)


def place_digits(cfg: Config) -> int:
    """Width of the digits of a place."""
    if cfg.banks_by_bits:
        return cfg.place_bits
    return bank_digit(cfg) * (2 if cfg.bank_skew == "row" else 1) + cfg.row_bits


def bank_of(cfg: Config, digits: Value) -> Value:
    """The first digit."""
    return digits[: bank_digit(cfg)]


def row_of(cfg: Config, digits: Value) -> Value:
    """The second."""
    return digits[bank_digit(cfg) :][: cfg.row_bits]


def rotated_of(cfg: Config, digits: Value) -> Value:
    """The third."""
    return digits[bank_digit(cfg) + cfg.row_bits :]


def digits_of(cfg: Config, number: int) -> int:
    """Digits of a number that is known."""
    if cfg.banks_by_bits:
        return number
    row, bank = divmod(number, cfg.banks)
    first, rotated = bank_digit(cfg), (bank + row) % cfg.banks
    row &= (1 << cfg.row_bits) - 1
    return (bank | row << first | rotated << first + cfg.row_bits) & (1 << place_digits(cfg)) - 1


def of_register(m: Module, cfg: Config, register: Value) -> tuple[Value, ...]:
    """Digits of a register, which is known late: of its upper and of its lower part, by tables. They are added to
    a place one after the other, the upper one first, whose table is small."""
    if cfg.banks_by_bits:
        return (register,)
    return tuple(_table(m, cfg, part, at) for part, at in ((register[_LOW:], _LOW), (register[:_LOW], 0)))


def of_place(m: Module, cfg: Config, place: Value) -> Value:
    """Digits of a place, which has more bits than a table: by a product with a constant."""
    if cfg.banks_by_bits:
        return place
    row, bank = divide(m, place[: cfg.place_bits], cfg.banks)
    found = [bank, Cat(row, Const(0, cfg.row_bits))[: cfg.row_bits]]
    if cfg.bank_skew == "row":
        found.append(summed(m, cfg, bank, [divide(m, row, cfg.banks)[1]])[0])
    return named(m, "digits", Cat(found))


def summed(m: Module, cfg: Config, bank: Value, parts: Sequence[Value], name: str = "low") -> tuple[Value, list[Value]]:
    """A bank and others modulo their number, and the carry of each sum."""
    carries = []
    for part in parts:
        bank, carry = _sum(m, cfg, part, bank, name)
        carries.append(carry)
    return bank, carries


def _sum(m: Module, cfg: Config, early: Value, late: Value, name: str) -> tuple[Value, Value]:
    """The number of banks is taken off the one that is there first; the sign says which of two sums is right."""
    bits = bank_digit(cfg)
    total = named(m, name, late + early)
    if cfg.banks_by_bits:
        return total[:bits], total[bits:]
    taken = named(m, "taken", (early - cfg.banks)[: bits + 1])
    less = named(m, "less", (taken + late)[: bits + 1])
    return named(m, "bank", Mux(less[bits], total, less)[:bits]), ~less[bits]


def divide(m: Module, number: Value, divisor: int) -> tuple[Value, Value]:
    """Quotient and remainder by a constant."""
    times, right = reciprocal(len(number), divisor)
    quotient = named(m, "quotient", (number * times)[right:])
    return quotient, named(m, "rest", (number - quotient * divisor)[: ceil_log2(divisor)])


def reciprocal(bits: int, divisor: int) -> tuple[int, int]:
    """M and K with x div divisor = x M >> K for all x of so many bits (Granlund and Montgomery 1994)."""
    right = 0
    while (-(1 << right) % divisor) * ((1 << bits) - 1) >= 1 << right:
        right += 1
    return -(-(1 << right) // divisor), right


def _table(m: Module, cfg: Config, bits: Value, at: int) -> Value:
    """Digits of a number of which these are the only bits that are set, from bit ``at`` on."""
    rows = [digits_of(cfg, number << at) for number in range(1 << len(bits))]
    columns = (tuple(row >> bit & 1 for row in rows) for bit in range(place_digits(cfg)))
    known: dict[tuple[int, ...], Value] = {}
    return named(m, "found", Cat(_column(m, bits, column, known) for column in columns))


def _column(m: Module, bits: Value, column: tuple[int, ...], known: dict[tuple[int, ...], Value]) -> Value:
    """Entry of a column, which the highest bit chooses from those of both halves; ``known`` holds every entry."""
    middle = len(column) // 2
    if len(set(column)) == 1:
        return Const(column[0], 1)
    low, high = column[:middle], column[middle:]
    if low == high:
        return _column(m, bits, low, known)
    if column not in known:
        entries = (_column(m, bits, half, known) for half in (high, low))
        known[column] = named(m, "entry", Mux(bits[middle.bit_length() - 1], *entries))
    return known[column]

"""A bit per register of a warp, read and changed by row and column (half the gates of multiplexers)."""

from amaranth import Cat, Module, Value

from warpfile.hdl.arbiter import decode
from warpfile.hdl.naming import named
from warpfile.spec.config import Config


def columns(cfg: Config) -> int:
    """Registers of a warp are in rows of so many: a register is one of a row and one of a column, both one-hot."""
    return 1 << cfg.register_bits // 2


def decoded(m: Module, cfg: Config, name: str, register: Value) -> tuple[Value, Value]:
    """Row and column of a register."""
    width = columns(cfg)
    low = width.bit_length() - 1
    row, column = decode(register[low:], cfg.register_names // width), decode(register[:low], width)
    return named(m, f"{name}_row", row), named(m, f"{name}_column", column)


def lines_of(cfg: Config, bits: Value) -> list[Value]:
    """The bits of each row."""
    width = columns(cfg)
    return [bits[start : start + width] for start in range(0, len(bits), width)]


def bit_at(m: Module, name: str, lines: list[Value], row: Value, column: Value) -> Value:
    """The bit of a row and a column: half the gates of multiplexers."""
    return (named(m, f"{name}_line", Cat((line & column).any() for line in lines)) & row).any()

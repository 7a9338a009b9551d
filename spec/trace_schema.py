"""The rules that a trace keeps (docs/trace.md), checked whole when it is loaded and nowhere else.

First the form of every value, then references between them; behind that, code may index without asking.
Every rule is one line: ``<field> must be <rule>, not <value>``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from warpfile.spec.trace import LANES, NO_CODE, NO_ROW, TOKENS, StaticInstruction, Trace

REGISTERS = 255  #: R0 to R254; RZ is none
_WARP = 32
_SHOWN = 60
_SMALL, _LARGE = 1 << 31, 1 << 63
_DTYPES = {
    "warp_start": "int64",
    "warp_cta": "int32",
    "instruction": "int32",
    "active": "uint32",
    "execute": "uint32",
    "live": "uint32",
    "value_row": "int64",
    "values": "uint32",
    "written": "uint32",
    "address_row": "int64",
    "addresses": "uint64",
    "hints": "uint64",
    "original_row": "int64",
}
_TABLES = ("values", "addresses")  #: arrays with a column per lane; all others have one dimension

Rule = tuple[str, Callable[[Any], bool]]


def _whole(low: int, end: int) -> Rule:
    return f"a whole number from {low} to {end - 1}", lambda value: type(value) is int and low <= value < end


def _each(what: str, rule: Rule) -> Rule:
    return what, lambda value: isinstance(value, tuple) and all(map(rule[1], value))


_TEXT: Rule = ("text", lambda value: isinstance(value, str))
_FLAG: Rule = ("true or false", lambda value: isinstance(value, bool))
_META: Mapping[str, Rule] = {
    "kernel": _TEXT,
    "grid": ("three sizes with a product below 2^31", lambda value: _is_shape(value, _SMALL)),
    "block": ("three sizes with a product of at most 1024", lambda value: _is_shape(value, 1025)),
    "shared_bytes": _whole(0, _SMALL),
    "registers": _whole(0, REGISTERS + 1),
    "source": ("emulated or accelsim", lambda value: value in ("emulated", "accelsim")),
    "listing": _TEXT,
    "notes": _each("a list of texts", _TEXT),
    "annotation": _TEXT,
    "descriptor": (
        "a table of whole numbers from 0",
        lambda value: isinstance(value, dict) and all(type(one) is int and one >= 0 for one in value.values()),
    ),
    "before": ("empty or three lengths", lambda value: value == () or _is_shape(value, _LARGE, 0)),
}
_STATIC: Mapping[str, Rule] = {
    "offset": _whole(0, _LARGE),
    "opcode": _TEXT,
    "text": _TEXT,
    "sources": _each(f"a list of registers below {REGISTERS}", _whole(0, REGISTERS)),
    "dest": _whole(0, REGISTERS),
    "dest_count": _whole(0, 5),
    "token_reads": _whole(0, 1 << TOKENS),
    "token_writes": _whole(0, 1 << TOKENS),
    "bytes": _whole(0, 65),
    "approximate": _FLAG,
    "operand": ("a whole number from 0", lambda value: type(value) is int and value >= 0),
    "inserted": _FLAG,
    "origin": _whole(-1, _SMALL),
    "control": _whole(NO_CODE, 1 << 21),
    "groups": _each("a list of lists", ("", lambda value: isinstance(value, tuple))),
}


def _is_shape(value: object, end: int, low: int = 1) -> bool:
    """Three whole numbers from ``low``, none and no product of which reaches ``end``."""
    if not isinstance(value, tuple) or len(value) != 3 or not all(type(one) is int for one in value):
        return False
    product = 1
    for one in value:
        product *= max(one, 1)
    return min(value) >= low and product < end


def check_trace(trace: Trace) -> None:
    """Raise ``ValueError`` for the first rule that a trace breaks."""
    for name, rule in _META.items():
        _check(name, rule, getattr(trace, name))
    for number, static in enumerate(trace.program):
        _check_static(f"program[{number}]", static, trace)
    _check_arrays(trace)
    _check_warps(trace)
    _check_records(trace)
    _check_rows(trace)
    _check_origins(trace)


def _check(where: str, rule: Rule, value: object) -> None:
    what, holds = rule
    if not holds(value):
        raise ValueError(f"{where} must be {what}, not {_shown(value)}")


def _shown(value: object) -> str:
    text = f"{value:#x}" if isinstance(value, int) and not isinstance(value, bool) and abs(value) >> 64 else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _check_static(where: str, static: StaticInstruction, trace: Trace) -> None:
    for name, rule in _STATIC.items():
        _check(f"{where}.{name}", rule, getattr(static, name))
    if static.groups and {one for group in static.groups for one in group} != set(static.sources):
        raise ValueError(f"{where}.groups must have the registers of sources, not {_shown(static.groups)}")
    named = max((*static.sources, static.dest + static.dest_count - 1 if static.dest_count else -1), default=-1)
    if named >= trace.registers:
        raise ValueError(f"registers must be above the highest register, R{named} of {where}, not {trace.registers}")


def _check_arrays(trace: Trace) -> None:
    """Types and lengths."""
    for name, dtype in _DTYPES.items():
        array = getattr(trace, name)
        dimensions = 2 if name in _TABLES else 1
        if not isinstance(array, np.ndarray) or array.dtype != np.dtype(dtype) or array.ndim != dimensions:
            found = f"{array.dtype} of {array.ndim}" if isinstance(array, np.ndarray) else type(array).__name__
            raise ValueError(f"{name} must be an array of {dtype} with {dimensions} dimensions, not {found}")
        if name in _TABLES and array.shape[1] != LANES:
            raise ValueError(f"{name} must have {LANES} columns, not {array.shape[1]}")
    for name in ("active", "execute", "live", "value_row", "address_row"):
        _check_length(name, len(getattr(trace, name)), trace.records, "instruction")
    _check_length("warp_start", len(trace.warp_start), trace.warps + 1, "warps and an end")
    _check_length("written", len(trace.written), len(trace.values), "values")
    if len(trace.original_row):
        _check_length("original_row", len(trace.original_row), trace.records, "instruction")
    if len(trace.hints) and not trace.annotation:
        raise ValueError("annotation must name what the hints hold for, and is empty")


def _check_length(name: str, found: int, wanted: int, of: str) -> None:
    if found != wanted:
        raise ValueError(f"{name} must have {wanted} elements, one per element of {of}, not {found}")


def _check_warps(trace: Trace) -> None:
    starts, ctas = trace.warp_start, trace.warp_cta
    if not trace.warps:
        raise ValueError("warp_cta must have at least one warp")
    if starts[0] or starts[-1] != trace.records or np.any(np.diff(starts) < 0):
        raise ValueError(f"warp_start must ascend from 0 to the {trace.records} records")
    x, y, z = trace.grid
    if ctas[0] < 0 or ctas[-1] >= x * y * z or np.any(np.diff(ctas) < 0):
        raise ValueError(f"warp_cta must ascend within the {x * y * z} CTAs of the grid")
    x, y, z = trace.block
    most, largest = -(-x * y * z // _WARP), int(np.unique(ctas, return_counts=True)[1].max())
    if largest > most:
        raise ValueError(f"warp_cta must have at most {most} warps of a CTA of {x * y * z} threads, not {largest}")


def _check_records(trace: Trace) -> None:
    """What every executed instruction keeps."""
    _check_range("instruction", trace.instruction, 0, len(trace.program))
    for inner, outer in (("execute", "active"), ("active", "live")):
        if np.any(getattr(trace, inner) & ~getattr(trace, outer)):
            raise ValueError(f"{inner} must be lanes of {outer}, in every record")


def _check_rows(trace: Trace) -> None:
    """Rows that records name exist, and are there where they must be."""
    width = np.array([static.dest_count for static in trace.program], dtype=np.int64)[trace.instruction]
    _check_range("value_row", trace.value_row, NO_ROW, len(trace.values) + 1)
    named = trace.value_row != NO_ROW
    if np.any(named & (trace.value_row + width > len(trace.values))):
        raise ValueError(f"value_row must leave room for all results in the {len(trace.values)} rows of values")
    if trace.has_values and np.any(~named & (width > 0) & (trace.execute != 0)):
        raise ValueError("value_row must name a row wherever an instruction writes a register, in a trace with values")
    _check_range("address_row", trace.address_row, NO_ROW, len(trace.addresses))


def _check_origins(trace: Trace) -> None:
    """What a rewritten trace records of the original."""
    for number, static in enumerate(trace.program):
        if static.origin >= len(trace.program):
            raise ValueError(f"program[{number}].origin must be in the program, not {static.origin}")
    lengths = (len(trace.program), len(trace.values), len(trace.addresses))
    if any(one > length for one, length in zip(trace.before, lengths, strict=False)):
        raise ValueError(f"before must be at most the lengths {lengths}, not {trace.before}")
    if bool(trace.before) != bool(len(trace.original_row)) and trace.records:
        raise ValueError("original_row must be there if and only if before is")
    if trace.before:
        _check_range("original_row", trace.original_row, NO_ROW, trace.before[1] + 1)


def _check_range(name: str, values: np.ndarray, low: int, end: int) -> None:
    if len(values) and (values.min() < low or values.max() >= end):
        raise ValueError(f"{name} must be from {low} to {end - 1}, not {values.min()} to {values.max()}")

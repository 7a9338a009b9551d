"""A SystemVerilog package of a machine's records and their constants, and an instance of it: both from its manifest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from textwrap import fill
from typing import Any

from warpfile.hdl.records import Bits, Elements, Part, Record
from warpfile.hdl.systemverilog import Types
from warpfile.verilog.names import Names

Facts = Mapping[str, Any]
#: Fields of the configuration that size the pins.
_SIZES = ("lanes", "warps", "ctas", "register_names", "source_slots", "ports", "banks", "rows", "payload_bits")
_COMMENT = "    // "
_PACKAGE = """\
// Records on the pins of {top}, as its manifest has them: types, sizes, and the values of fields that name things.
// A struct has its highest bits first, so its fields stand from the last of the manifest to the first.
package {package};
{body}endpackage
"""
_INSTANCE = """\
// An instance of {top} with a signal per pin, to be copied or included; it needs {package}.
{signals}
{top} u_{top} (
{pins}
);
"""


def package(facts: Facts, names: Names, inner: Iterable[str] = ()) -> str:
    """Package ``<top>_pkg``: ``launch_t``, ``decode_t``, ``dispatch_t``, ``result_t``, ``operands_t``, ``data_t`` and,
    where the machine has them, ``kernel_t`` and ``probe_t``; ``KIND_EXIT`` and the like; sizes. Behind them ``inner``:
    types of the machine itself."""
    body = [*_sizes(facts["parameters"]), *_constants(facts["ports"])]
    body += [f"  typedef logic [{facts['parameters']['lanes'] - 1}:0][31:0] data_t;  // a register, lane 0 lowest\n"]
    made: dict[str, None] = {}
    for port in facts["ports"]:
        if "fields" in port:
            made.update(dict.fromkeys(_record(_type(port), port)))
    return _PACKAGE.format(top=names.top, package=names.package, body="".join([*body, *made, *inner]))


def _sizes(parameters: Facts) -> Iterator[str]:
    for name in _SIZES:
        yield f"  localparam int {name.upper()} = {parameters[name]};\n"


def _constants(ports: list[Facts]) -> Iterator[str]:
    """One for each value that has a name; several records may have the field."""
    found: dict[str, None] = {}
    for port in ports:
        for field in _inner(port.get("fields", [])):
            for name, value in field.get("values", {}).items():
                called = re.sub(r"\W", "_", f"{field['name']}_{name}").upper()
                width = field["width"]
                found[f"  localparam logic {_range(width)}{called} = {width}'d{value};\n"] = None
    yield from found


def _inner(fields: list[Facts]) -> Iterator[Facts]:
    for field in fields:
        yield field
        yield from _inner(field.get("fields", []))


def _type(port: Facts) -> str:
    return f"{port['name'].partition('__')[0]}_t"


def _record(name: str, record: Facts) -> Iterator[str]:
    """The type of a record, after those of the records in it."""
    if _numbered(record):
        yield f"  typedef data_t [{len(record['fields']) - 1}:0] {name};  // {record['meaning']}, slot 0 lowest\n"
        return
    members = []
    for field in record["fields"]:
        inner = f"{name.removesuffix('_t')}_{field['name']}_t"
        if "fields" in field and not _numbered(field):
            yield from _record(inner, field)
        members.append(_member(field, inner))
    yield f"  typedef struct packed {{  // {record['meaning']}\n{''.join(reversed(members))}  }} {name};\n"


def _member(field: Facts, record: str) -> str:
    parts = field.get("fields", [])
    if not parts:
        kind = f"logic {_range(field['width'])}"
    elif _numbered(field):
        kind = f"logic [{len(parts) - 1}:0][{parts[0]['width'] - 1}:0] "
    else:
        kind = f"{record} "
    said = fill(f"{field['meaning']}: {field['encoding']}", 120, initial_indent=_COMMENT, subsequent_indent=_COMMENT)
    return f"{said}\n    {kind}{field['name']};\n"


def pin_types(facts: Facts, names: Names) -> Types:
    """Those types of the package that are structs, by their fields."""
    known: dict[Record, str] = {}

    def part(record: Facts, name: str) -> Part:
        parts = record.get("fields", [])
        if not parts:
            return Bits(record["width"])
        if _numbered(record):
            each = parts[0]["width"]
            return Elements(len(parts), each) if each > 1 else Bits(len(parts))
        base = name.removesuffix("_t")
        found = Record(tuple((one["name"], part(one, f"{base}_{one['name']}_t")) for one in parts))
        known.setdefault(found, name)
        return found

    for port in facts["ports"]:
        part(port, _type(port))
    return Types(names.package, known)


def _numbered(record: Facts) -> bool:
    """Whether the parts are slots, all alike, and not fields with names."""
    return all(part["name"].isdigit() for part in record["fields"])


def _range(width: int) -> str:
    return f"[{width - 1}:0] " if width > 1 else ""


def instance(facts: Facts, names: Names) -> str:
    """Declarations of a signal per pin, and an instance ``u_<top>`` connected to them."""
    signals = "".join(f"{_signal(port, names)}  // {port['direction']}: {port['meaning']}\n" for port in facts["ports"])
    pins = ",\n".join(f"  .{port['name']}({port['name']})" for port in facts["ports"])
    return _INSTANCE.format(top=names.top, package=names.package, signals=signals, pins=pins)


def _signal(port: Facts, names: Names) -> str:
    name = port["name"]
    if "fields" in port:
        return f"{names.package}::{_type(port)} {name};"
    if name.startswith("result_data"):
        return f"{names.package}::data_t {name};"
    return f"logic {_range(port['width'])}{name};"

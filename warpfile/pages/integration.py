"""docs/integration.md: the tables of fields at its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from graphlib import TopologicalSorter
from itertools import pairwise

from warpfile.pages.writing import DOCS, page_parser, write_or_check
from warpfile.schemes import SCHEMES
from warpfile.spec.beat import decode_fields, dispatch_fields, launch_fields, result_fields
from warpfile.spec.config import Config
from warpfile.spec.encoding import PINS, Field, record

PAGE = DOCS / "integration.md"
#: What stands before the tables; everything behind it is written anew.
MARK = "A field that only some schemes have names them.\n"
RECORDS = {
    "launch__payload": (launch_fields, False),
    "decode": (decode_fields, False),
    "dispatch__N__payload": (dispatch_fields, True),
    "result__N__payload": (result_fields, True),
}


def tables() -> str:
    """The pins, then one table per record and one per scheme with hints."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield from ("", "| pin | meaning | encoding |", "|---|---|---|")
    yield from (f"| `{name}` | {meaning} | {encoding} |" for name, (meaning, encoding) in PINS.items())
    machines = {name: scheme.configuration("tiny") for name, scheme in SCHEMES.items()}
    for pin, (fields, returned) in RECORDS.items():
        found = {
            name: {one.name: one for one in record(cfg, fields(cfg), returned=returned)}
            for name, cfg in machines.items()
        }
        yield from (
            "",
            f"### `{pin}`, lowest bit first",
            "",
            "| field | bits | meaning | encoding |",
            "|---|---:|---|---|",
        )
        for name in _order(found.values()):
            yield _row(name, {scheme: one[name] for scheme, one in found.items() if name in one}, len(machines))
    for scheme, cfg in machines.items():
        if cfg.hints():
            yield from (
                "",
                f"### Hints of `{scheme}`",
                "",
                "| field | bits of `hints` | meaning | encoding |",
                "|---|---|---|---|",
            )
            yield from _hints(cfg)


def _order(records: Iterable[Iterable[str]]) -> Iterator[str]:
    """All fields, in an order that is that of every record."""
    sorter = TopologicalSorter[str]()
    for fields in map(tuple, records):
        for before, field in pairwise(fields):
            sorter.add(field, before)
    return sorter.static_order()


def _row(name: str, found: dict[str, Field], machines: int) -> str:
    widths = sorted({one.width for one in found.values()})
    size = str(widths[0]) if len(widths) == 1 else f"{widths[0]} to {widths[-1]}"
    one = next(iter(found.values()))
    owners = "" if len(found) == machines else f"; only {', '.join(f'`{scheme}`' for scheme in found)}"
    return f"| `{name}` | {size} | {one.meaning}{owners} | {one.encoding} |"


def _hints(cfg: Config) -> Iterator[str]:
    (hints,) = (one for one in record(cfg, decode_fields(cfg)) if one.name == "hints")
    returning = {hint.name for hint in cfg.hints() if hint.returns}
    for one in hints.parts:
        low, high = one.offset, one.offset + one.width - 1
        back = "; comes back with dispatch and result" if one.name in returning else ""
        yield f"| `{one.name}` | {low if low == high else f'{high}:{low}'} | {one.meaning}{back} | {one.encoding} |"


def page(text: str) -> str:
    """The page with its tables as they should be."""
    kept, mark, _ = text.partition(MARK)
    if not mark:
        raise ValueError(f"docs/integration.md must have the line {MARK.strip()!r}")
    return kept + mark + tables()


def main(arguments: Sequence[str]) -> int:
    """Write the tables."""
    options = page_parser("integration", __doc__).parse_args(arguments)
    return write_or_check(options, {PAGE: page(PAGE.read_text())}, (tables(),))

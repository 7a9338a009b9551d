"""The table and the figure of docs/slots/rf.md: the groups of ports of a register file, and which files have each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby

from amaranth.lib.wiring import Flow, In

from warpfile.hdl.rf.contract import COLLECTORS, GROUPS, Group
from warpfile.pages.writing import DOCS, page_parser, with_tables, write_or_check
from warpfile.results.markdown import table
from warpfile.schemes import PARTS, SCHEMES, Scheme, composed
from warpfile.schemes.table import variants
from warpfile.spec.config import Config

PAGE = DOCS / "slots" / "rf.md"
FIGURE = DOCS / "figures" / "register_file.svg"
#: Components around a register file, from above.
OTHERS = ("CTA dispatcher", "scheduler", "instruction buffers", "execution units", "scoreboard", COLLECTORS)
#: The groups in the order of these.
SHOWN = sorted(GROUPS, key=lambda group: OTHERS.index(group.other))
FILES = tuple(part.name for part in PARTS.values() if part.slot == "rf")
COLUMNS = ("group", "condition", *(f"`{name}`" for name in FILES))
_ROW, _GAP, _TOP = 36, 10, 10  #: pixels: height of a group, between two components, above the first
_LEFT, _FILE, _RIGHT = (10, 150), (410, 570), (830, 970)  #: pixels: left and right edge of each column of boxes
_ALWAYS, _CONDITIONAL = "#000000", "#d94801"


@cache
def _machines(file: str) -> tuple[Config, ...]:
    """Every scheme that fits with this register file, under its own scheduler and under all others, at its preset."""
    every: dict[str, Scheme] = {**SCHEMES, **variants()}
    others = [(PARTS[file], part) for part in PARTS.values() if part.slot == "scheduler"]
    found = [composed(one, parts) for one in every.values() for parts in ((PARTS[file],), *others)]
    return tuple(cfg for one in found if (cfg := _configured(one)))


def _configured(scheme: Scheme) -> Config | None:
    """The machine at the scheme's own preset; None if its parts do not fit."""
    try:
        return scheme.configuration(scheme.preset)
    except ValueError:
        return None


def _cell(group: Group, machines: Sequence[Config]) -> str:
    """Whether all, some or none of the machines have the group."""
    having = sum(map(group.present, machines))
    return "yes" if having == len(machines) else "some" if having else ""


def rows() -> Iterator[tuple[str, ...]]:
    """A row per group of ports."""
    for group in SHOWN:
        condition = " and ".join(f"`{name}`" for name in group.conditions)
        yield group.name, condition, *(_cell(group, _machines(file)) for file in FILES)


def _flows(group: Group) -> set[Flow]:
    """Directions of the ports, as the file sees them, in a machine that has them or else in any."""
    every = [cfg for file in FILES for cfg in _machines(file)]
    cfg = next((one for one in every if group.present(one)), every[0])
    return {member.flow for member in group.members(cfg).values()}


def _text(x: float, y: float, text: str, size: int = 11, color: str = _ALWAYS) -> str:
    style = f'text-anchor="middle" font-family="Helvetica, sans-serif" font-size="{size}" fill="{color}"'
    return f'<text x="{x:g}" y="{y:g}" {style}>{text}</text>'


def _box(edges: tuple[int, int], top: int, bottom: int, text: str) -> Iterator[str]:
    left, right = edges
    yield f'<rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}" fill="#f7f7f7" stroke="#000000"/>'
    yield _text((left + right) / 2, (top + bottom) / 2 + 4, text, 13)


def _arrow(group: Group, left: int, right: int, y: int, inward: str) -> Iterator[str]:
    """The arrow of a group; ``inward`` is the end at the file."""
    color = _CONDITIONAL if group.conditions else _ALWAYS
    outward = "start" if inward == "end" else "end"
    ends = " ".join(f'marker-{inward if flow is In else outward}="url(#{color[1:]})"' for flow in _sorted(group))
    yield f'<line x1="{left + 1}" y1="{y}" x2="{right - 1}" y2="{y}" stroke="{color}" {ends}/>'
    yield _text((left + right) / 2, y - 4, group.name, color=color)
    yield _text((left + right) / 2, y + 11, " and ".join(group.conditions), 9, "#555555")


def _sorted(group: Group) -> list[Flow]:
    return sorted(_flows(group), key=lambda flow: flow is In)


def _side(groups: Sequence[Group], box: tuple[int, int], inner: tuple[int, int], inward: str) -> tuple[list[str], int]:
    """The shapes of one side of the file, and where they end."""
    shapes, y = [], _TOP
    for other, some in groupby(groups, key=lambda group: group.other):
        top = y
        for group in some:
            shapes += _arrow(group, *inner, y + _ROW // 2, inward)
            y += _ROW
        shapes += _box(box, top, y, other)
        y += _GAP
    return shapes, y - _GAP


def _marker(color: str) -> str:
    shape = f'<path d="M0,0 L8,4 L0,8 z" fill="{color}"/>'
    size = 'refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"'
    return f'<marker id="{color[1:]}" {size}>{shape}</marker>'


def figure() -> str:
    """The groups as arrows between the register file and what is around it, as SVG."""
    left = [group for group in SHOWN if group.other != COLLECTORS]
    right = [group for group in SHOWN if group.other == COLLECTORS]
    first, end = _side(left, _LEFT, (_LEFT[1], _FILE[0]), "end")
    second, other_end = _side(right, _RIGHT, (_FILE[1], _RIGHT[0]), "start")
    bottom = max(end, other_end)
    width, height = _RIGHT[1] + _TOP, bottom + 30
    legend = [
        _text(200, bottom + 20, "black: every register file has the group", 12),
        _text(690, bottom + 20, "orange: only under the condition below the arrow", 12, _CONDITIONAL),
    ]
    shapes = [_marker(_ALWAYS), _marker(_CONDITIONAL), *_box(_FILE, _TOP, bottom, "register file"), *first, *second]
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    frame = f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', frame, *shapes, *legend, "</svg>"]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Write the table of the page and the figure."""
    options = page_parser("register_files", __doc__).parse_args(arguments)
    made = table(COLUMNS, rows())
    return write_or_check(options, {PAGE: with_tables(PAGE.read_text(), (made,)), FIGURE: figure()}, (made,))

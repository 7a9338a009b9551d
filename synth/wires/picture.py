"""A picture of a placement: cells in the colour of their part of the design, memories grey, and a legend."""

from __future__ import annotations

import colorsys
from collections import defaultdict
from io import BytesIO

from warpfile.synth.liberty import Liberty
from warpfile.synth.wires.congestion import part
from warpfile.synth.wires.flat import Flat
from warpfile.synth.wires.placement import Placement

#: Pixels of the longer side of the die, of a line of the legend, and of its columns.
_SIDE, _LINE, _COLUMN = 1200, 16, 300
#: Parts with a colour of their own: those with the most area. The rest is of one colour.
_COLOURS = 16
_WHITE, _BLACK, _GREY, _REST = 0, 1, 2, 3
_OTHERS = "others"


def png(flat: Flat, placement: Placement, library: Liberty) -> bytes:
    """The picture as a PNG file, the die with its upper edge above."""
    from PIL import Image, ImageDraw

    plan = placement.plan
    scale = _SIDE / max(plan.width_um, plan.height_um)
    numbers = _numbers(flat, library)
    width, height = round(plan.width_um * scale), round(plan.height_um * scale)
    columns = max(1, width // _COLUMN)
    image = Image.new("P", (width, height + _LINE * (-(-len(numbers) // columns) + 1)), _WHITE)
    image.putpalette(_palette())
    draw = ImageDraw.Draw(image)
    for strip in plan.strips:
        box = (0, height - strip.high_um * scale, width - 1, height - strip.low_um * scale)
        draw.rectangle(box, fill=_GREY, outline=_WHITE)
    for name, (x, y) in placement.at.items():
        half = library.cells[flat.cells[name]["type"]].area / plan.row_um / 2
        left, right = (x - half) * scale, (x + half) * scale
        top, bottom = (height - (y + way * plan.row_um / 2) * scale for way in (1, -1))
        draw.rectangle((left, top, right, bottom), fill=numbers.get(part(flat.paths[name]), _REST))
    for index, (name, number) in enumerate(numbers.items()):
        x, y = index % columns * _COLUMN, height + _LINE // 2 + index // columns * _LINE
        draw.rectangle((x + 4, y + 2, x + 14, y + 12), fill=number)
        draw.text((x + 20, y), name, fill=_BLACK)
    buffer = BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _numbers(flat: Flat, library: Liberty) -> dict[str, int]:
    """Colours by the name of a part, the largest first, and those of memories and of the rest."""
    areas: dict[str, float] = defaultdict(float)
    for name, cell in flat.cells.items():
        if cell["type"] in library.cells:
            areas[part(flat.paths[name])] += library.cells[cell["type"]].area
    largest = sorted(areas, key=lambda name: (-areas[name], name))[:_COLOURS]
    rest = {_OTHERS: _REST} if len(areas) > _COLOURS else {}
    return (
        {name: _REST + 1 + at for at, name in enumerate(largest)}
        | rest
        | ({"memories": _GREY} if flat.memories else {})
    )


def _palette() -> list[int]:
    """Red, green and blue of every colour."""
    fixed = [(255, 255, 255), (0, 0, 0), (190, 190, 190), (120, 120, 120)]
    hues = [colorsys.hsv_to_rgb(at * 7 % _COLOURS / _COLOURS, 0.9, 0.65 + 0.3 * (at % 2)) for at in range(_COLOURS)]
    return [*(one for colour in fixed for one in colour), *(round(255 * one) for hue in hues for one in hue)]

"""The picture of a placement shows memories, cells by part, and their names."""

from __future__ import annotations

from io import BytesIO

import pytest

from tests.synth.wires.designs import WIRES, scattered, small
from warpfile.synth.liberty import Liberty
from warpfile.synth.wires.floorplan import floorplan
from warpfile.synth.wires.picture import png
from warpfile.synth.wires.placement import Placement

image_of = pytest.importorskip("PIL.Image").open


def test_cells_and_memories_are_where_they_are_placed(liberty: Liberty) -> None:
    flat = small(30)
    plan = floorplan(flat, liberty, WIRES, {"ram": 100.0}, 32)
    anywhere, _ = scattered(flat, liberty, 1)
    middle = (plan.low_um + plan.high_um) / 2
    placement = Placement(plan, dict.fromkeys(anywhere.at, (plan.width_um / 4, middle)))
    image = image_of(BytesIO(png(flat, placement, liberty))).convert("RGB")
    scale = 1200 / max(plan.width_um, plan.height_um)

    def colour(x: float, y: float) -> object:
        return image.getpixel((int(x * scale), int((plan.height_um - y) * scale)))

    (strip,) = plan.strips
    grey = colour(plan.width_um / 2, (strip.low_um + strip.high_um) / 2)
    cells, free = colour(plan.width_um / 4, middle), colour(plan.width_um * 0.9, middle)
    assert len({grey, cells, free}) == 3 and free == (255, 255, 255)
    below = image.crop((0, round(plan.height_um * scale), *image.size))
    assert {grey, (0, 0, 0)} <= {pixel for _, pixel in below.getcolors()}  # the legend has its text and the memories


def test_every_part_has_a_colour(liberty: Liberty) -> None:
    flat = small(30)
    plan = floorplan(flat, liberty, WIRES, {"ram": 100.0}, 32)
    anywhere, _ = scattered(flat, liberty, plan.width_um)
    image = image_of(BytesIO(png(flat, Placement(plan, anywhere.at), liberty)))
    assert len(image.getcolors()) == 3 + len({"one", "two", "top"})

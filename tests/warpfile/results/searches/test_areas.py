"""The model of areas: exact where areas are sums over parts, and honest where they are not."""

from __future__ import annotations

import random

import pytest

from warpfile.results.searches.areas import Features, features, fitted, left_out, training
from warpfile.results.searches.space import PUBLISHED, candidates
from warpfile.schemes import PARTS, find

PRICES = {"a": 1000.0, "b": 3000.0, "b bits": 20.0, "c": 500.0, "d": 700.0}
SIZES = {"bow": {"window_entries": [3, 6]}}


def machines() -> dict[str, Features]:
    """Of two kinds of parts in all combinations, one with three sizes."""
    first: list[Features] = [{"a": 1.0}, *({"b": 1.0, "b bits": bits} for bits in (10.0, 20.0, 40.0))]
    return {f"{number} {other}": {**one, other: 1.0} for number, one in enumerate(first) for other in ("c", "d")}


def area(seen: Features) -> float:
    return sum(PRICES[name] * value for name, value in seen.items())


def test_areas_that_are_sums_are_found_exactly() -> None:
    points = {name: (seen, area(seen)) for name, seen in machines().items()}
    assert left_out(points).worst[1] == pytest.approx(0, abs=1e-9)
    model = fitted([points[name] for name in random.Random(3).sample(sorted(points), 7)])
    assert model.nand2({"b": 1.0, "b bits": 30.0, "c": 1.0}) == pytest.approx(3000 + 600 + 500)


def test_a_planted_wrong_area_is_the_worst_of_all() -> None:
    points = {name: (seen, area(seen)) for name, seen in machines().items()}
    seen, right = points["2 c"]
    errors = left_out(points | {"2 c": (seen, 1.5 * right)})
    assert errors.worst[0] == "2 c" and errors.worst[1] == pytest.approx(-1 / 3, abs=0.1)
    assert errors.rms > errors.median > 0


def test_a_machine_is_seen_by_its_parts_and_the_bits_of_their_pages() -> None:
    every = candidates([find("bow")], [], "tiny", {}, {"bow": {"window_entries": [3]}})
    large, small = (next(one for one in every if one.name == name) for name in ("bow", "bow window_entries=3"))
    ours, theirs = features(small), features(large)
    assert ours.keys() == theirs.keys() == {small.parts[0].name, "bow", "bow bits", "banked"}
    cfg = small.config
    more = cfg.warps * (cfg.lanes * 32 + cfg.register_bits + 8)  # an entry: data, name, state; ranks are as wide
    assert theirs["bow bits"] - ours["bow bits"] >= more


def test_what_is_synthesised_has_every_part_twice_and_every_size() -> None:
    every = candidates([find("bow"), find("pilot")], list(PARTS.values()), "tiny", {}, SIZES)
    chosen = training(every, SIZES)
    counts = {part.name: sum(part in one.parts for one in chosen) for one in every for part in one.parts}
    assert min(counts.values()) >= 2 and len(chosen) < len(every) / 2
    assert {one.name for one in every if one.kind == PUBLISHED} <= {one.name for one in chosen}
    assert {one.sizes.get("window_entries") for one in chosen if "bow" in {part.name for part in one.parts}} >= {3, 6}

"""Events of a cycle are put together as the layout says, whatever words they are gathered in."""

from __future__ import annotations

import random

from warpfile.golden.events import SHORT, Events
from warpfile.spec.probe import Probe, ProbeLayout

WIDTHS = {"before": 5, "one": 3, "wide": 70, "halves": 80, "two": 31, "three": 31, "other": 9, "last": 1}
LAYOUT = ProbeLayout(tuple(Probe(name, width, "") for name, width in WIDTHS.items()))
PARTS = {"one": 1, "wide": 1, "halves": 2, "two": 1, "three": 1, "last": 1}


def test_the_first_probe_is_where_a_cycle_begins() -> None:
    events = Events(LAYOUT, PARTS)
    events.of("one").show(0b101)
    assert events.first == LAYOUT.offset["one"] == 5 and events.edge() == 0b101
    assert events.edge() == 0, "a cycle begins with nothing"


def test_every_event_is_where_its_probe_is() -> None:
    """Two neighbours of 31 bits fill one word; what is next to them, and wider, is in others."""
    rng, events = random.Random(5), Events(LAYOUT, PARTS)
    assert WIDTHS["two"] + WIDTHS["three"] == SHORT < WIDTHS["wide"]
    for _ in range(50):
        shown = {name: rng.choice((0, rng.getrandbits(WIDTHS[name]))) for name in PARTS}
        for name, value in shown.items():
            width = WIDTHS[name] // PARTS[name]
            for part in range(PARTS[name]):
                events.of(name, part).show(value >> part * width & (1 << width) - 1)
        assert LAYOUT.unpack(events.edge() << events.first) == shown | {"before": 0, "other": 0}


def test_bits_are_counted_and_levels_are_not() -> None:
    events = Events(LAYOUT, PARTS)
    for bits in (0b11, 0, 0b100):
        events.of("one").show(bits)
        events.of("wide").level(bits)
        events.edge()
    assert (events.of("one").count, events.of("wide").count) == (3, 0)


def test_an_event_may_be_shown_in_pieces() -> None:
    events = Events(LAYOUT, PARTS)
    for bit in range(WIDTHS["wide"]):
        events.of("wide").show(1 << bit)
    assert events.edge() << events.first == LAYOUT.pack({"wide": (1 << 70) - 1}) and events.of("wide").count == 70

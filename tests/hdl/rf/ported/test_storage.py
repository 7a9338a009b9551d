"""Bits of ``modern`` as the tables of its page and its paper count them, from the netlist."""

import pytest

from warpfile.schemes import find
from warpfile.synth.storage import REST, storage

WORD = 32  #: bits of a register that is built with one lane


def bits(**changes: object) -> dict[str, int]:
    scheme = find("modern")
    cfg = scheme.configuration("tiny", lanes=1, **changes)
    rows = storage(scheme, cfg, scheme.verilog(cfg, probes=False))
    assert not [row.name for row in rows if row.published is not None and row.bits != row.published]
    return {row.name: row.bits for row in rows}


def test_every_bit_belongs_to_a_structure() -> None:
    warps, row = 5, 7
    expected = {
        "stall, yield, dependence counters": warps * 41,
        "results under way": warps * 8,
        "port schedule": 2 * 3 * (1 + row),
        "operands in flight": 2 * 2 * WORD,
        "forward history": 3 * WORD,
        "names of forwarded results": 3 * (1 + 3 + 6 + 1),
        "reuse cache": 6 * WORD,
        "reuse tags": 6 * (1 + 3 + 5 + 2),
        "operand buffers of the queues": 2 * 3 * WORD,
        "register banks": 2 * 128 * WORD,
    }
    found = bits()
    assert {name: found[name] for name in expected} == expected
    assert REST.name not in found and "scoreboards" not in found


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"dependences": "scoreboard"}, {"stall, yield, dependence counters": 0, "results under way": 5 * 8}),
        ({"reuse_cache": "off"}, {"reuse cache": 0, "reuse tags": 0}),
        ({"read_ports": 2}, {"port schedule": 2 * 2 * 3 * 8, "operands in flight": 2 * 2 * 2 * WORD}),
    ],
)
def test_what_is_not_asked_for_is_not_built(changes: dict[str, object], expected: dict[str, int]) -> None:
    found = bits(**changes)
    assert REST.name not in found and found["register banks"] == 2 * 128 * WORD
    assert {name: found.get(name, 0) for name in expected} == expected


def test_a_warp_has_41_bits_of_codes_and_the_cache_six_entries() -> None:
    cfg = find("modern").configuration("ampere")
    published = {one.name: one.published(cfg) for one in find("modern").stored if one.published}
    assert published["stall, yield, dependence counters"] == 12 * 41  # Huerta et al., section 7.5
    assert published["reuse cache"] == 6 * 1024  # section 5.3.1

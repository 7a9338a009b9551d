"""Bits of machines with renamed registers, as page and reference design count them, from the netlist."""

import pytest

from tests.hdl.rf.packed.bench import config
from tests.sm import whole
from warpfile.schemes import SCHEMES
from warpfile.synth.storage import REST, storage

WARPS, NAMES, BANKS, ROWS, ENTRY = 2, 8, 2, 8, 1 + 3 + 4


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("corf_virtual", {"reserved rows": BANKS * ROWS, "pair table": NAMES * (1 + 3), "sides": 0}),
        ("corf_plus", {"sides": NAMES * 2, "reserved rows": 0}),
        ("virtualization", {"reserved rows": 0, "sides": 0}),
    ],
)
def test_every_bit_belongs_to_a_structure(scheme: str, expected: dict[str, int]) -> None:
    cfg = config(scheme, lanes=1)
    rows = storage(SCHEMES[scheme], cfg, SCHEMES[scheme].verilog(cfg, probes=False))
    found = {row.name: row.bits for row in rows}
    expected = expected | {
        "renaming table": WARPS * NAMES * ENTRY,
        "free slices": BANKS * ROWS * 4,
        "register banks": BANKS * ROWS * 32,
        "operand buffers": cfg.collectors * cfg.source_slots * 32,
    }
    assert {name: found.get(name, 0) for name in expected} == expected
    assert REST.name not in found
    assert not [row.name for row in rows if row.published is not None and row.bits != row.published and not row.why]


def test_published_bits_are_those_of_the_sheet() -> None:
    wanted = {
        "renaming table": 42_336,
        "free slices": 4_096,
        "reserved rows": 1_024,
        "pair table": 3_584,
        "sides": 1_024,
    }
    units = ("operand buffers", "collector units")
    published = {}
    for scheme in ("corf", "corf_plus"):
        cfg = SCHEMES[scheme].configuration("fermi", **whole("fermi"))
        for one in SCHEMES[scheme].stored:
            if one.published and (one.name in wanted or one.name in units):
                published[one.name] = max(published.get(one.name, 0), one.published(cfg))
    assert sum(published.pop(name) for name in units) == 12 * 1046
    assert published == wanted

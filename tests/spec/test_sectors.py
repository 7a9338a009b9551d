"""Sectors of global and local accesses, worked out by hand (docs/machine.md, section 9)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.golden.scenario import FULL, hand_trace, op
from warpfile.spec.config import Config
from warpfile.spec.sectors import Sectors
from warpfile.spec.trace import LANES, Access, Port, Space, StaticInstruction, Trace
from warpfile.spec.workload import prepare

CFG = Config()
EACH = np.arange(LANES)
STACK = 0xFDC0  #: a multiple of no line


def load(space: Space, size: int = 4) -> StaticInstruction:
    return op((), 4, port=Port.LSU, space=space, access=Access.LOAD, bytes=size)


def warps_at(*rows: np.ndarray, space: Space = Space.LOCAL, size: int = 4) -> Trace:
    """One warp for every row of addresses, with an access of so many bytes to it."""
    where = np.array([place for number in range(len(rows)) for place in (number, -1)])
    addresses = np.array(rows, dtype=np.uint64)
    return hand_trace(*[[load(space, size)]] * len(rows), addresses=addresses, address_row=where)


def numbers(trace: Trace, cfg: Config = CFG, execute: int = FULL) -> list[list[int]]:
    """Sectors of the first access of every warp, without the mark of their space."""
    found = Sectors(cfg, trace, range(trace.warps))
    covered = [found.of(trace.program[0], warp, warp, execute) for warp in range(trace.warps)]
    return [[sector & 0xFFFFFFFF for sector in sectors] for sectors in covered]


@pytest.mark.parametrize(
    ("addresses", "wanted"),
    [
        (EACH * 4, [0, 1, 2, 3]),
        (EACH * 4 + 112, [3, 4, 5, 6, 7]),
        (EACH * 0 + 32, [1]),
        (EACH % 2 * 4096, [0, 128]),
    ],
    ids=["a line", "across a line", "one word", "two lines"],
)
def test_global_sectors_are_those_of_the_addresses(addresses: np.ndarray, wanted: list[int]) -> None:
    trace = warps_at(addresses, space=Space.GLOBAL)
    assert numbers(trace) == [wanted]
    assert numbers(trace, CFG.replace(sector_bytes=128)) == [sorted({sector // 4 for sector in wanted})]


def test_a_local_word_of_all_lanes_is_a_line_of_the_warp() -> None:
    """The launch uses words 0 and 1 of every thread, so each warp has two lines of four sectors."""
    trace = warps_at(EACH * 0 + STACK, EACH * 0 + STACK, EACH * 0 + STACK + 4)
    assert numbers(trace) == [[0, 1, 2, 3], [8, 9, 10, 11], [20, 21, 22, 23]]
    assert numbers(trace, CFG.replace(sector_bytes=128)) == [[0], [2], [5]]
    # Control: as global addresses the three are one sector.
    rows = (EACH * 0 + STACK, EACH * 0 + STACK, EACH * 0 + STACK + 4)
    assert numbers(warps_at(*rows, space=Space.GLOBAL)) == [[STACK // 32]] * 3


def test_local_lanes_have_their_own_words_of_a_line() -> None:
    trace = warps_at(EACH * 0 + STACK)
    assert numbers(trace, execute=0xFF) == [[0]]
    assert numbers(trace, execute=0x80000001) == [[0, 3]]
    # Lane n at word n: 32 lines, in each the sector of its lane.
    assert numbers(warps_at(STACK + 4 * EACH)) == [[4 * lane + lane // 8 for lane in range(LANES)]]


@pytest.mark.parametrize(("size", "lines"), [(1, 1), (2, 1), (4, 1), (8, 2), (16, 4)])
def test_a_wide_local_access_covers_a_line_for_every_word(size: int, lines: int) -> None:
    trace = warps_at(EACH * 0 + STACK, EACH * 0 + STACK, size=size)
    first, second = numbers(trace)
    assert first == [*range(4 * lines)] and second == [*range(4 * lines, 8 * lines)]
    beats = prepare(CFG, trace).warps[1]
    assert beats[0].transfers == lines and len(beats[0].sectors) == 4 * lines


def test_local_and_global_lines_differ() -> None:
    places = EACH * 4
    (here,), (there,) = (
        [beat.sectors for beat in prepare(CFG, warps_at(places, space=space)).beats[:1]]
        for space in (Space.GLOBAL, Space.LOCAL)
    )
    assert not set(here) & set(there)


def test_the_warps_of_a_domain_have_lines_as_if_there_were_no_others() -> None:
    rows = [EACH * 0 + STACK + 4 * number for number in (9, 0, 9, 1)]
    for domain, wanted in ((0, [0, 1]), (1, [0, 3])):  # one word of each warp; two, of which each uses another
        prepared = prepare(CFG.replace(domains=2, domain=domain), warps_at(*rows))
        lines = [beat.sectors[0] // 4 & 0xFFFF for beat in prepared.dealt if beat.sectors]
        assert lines == wanted
        assert [bool(warp[0].sectors) for warp in prepared.warps] == [number % 2 == domain for number in range(4)]


def test_an_access_that_no_lane_executes_covers_nothing() -> None:
    assert numbers(warps_at(EACH * 0 + STACK), execute=0) == [[]]

"""The probe for the next load of a warp (docs/schemes/larf.md, section 19)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import pytest

from tests.golden.rf.shared.bench import BASE, Bench, flagging
from tests.golden.scenario import FULL
from warpfile.golden.rf.contract import Sent
from warpfile.spec.schemes.las import NO_PROBE, P1, P2
from warpfile.spec.schemes.shared import COMPARE, FLUSH, MISS, PLAIN, STORE, SharedConfig
from warpfile.spec.stimulus import Result

PAIR, HIGH = 1, 2  #: registers of the addresses of the bench's accesses


class Ahead(Bench):
    """A file that sees head beats, and one entry: the vector from BASE on."""

    def __init__(self, cfg: SharedConfig | None = None, known: bool = True) -> None:
        super().__init__(cfg or flagging())
        if known:
            self.settle(self.load(2, 4))

    def head(self, sent: Sent, offset: int = 0) -> None:
        """It is the head beat of its warp, with this offset, and its address is under way."""
        sent.entry.beat.hints |= (offset & (1 << 48) - 1) << self.cfg.hint_at("address_offset")
        self.frame.buffers[sent.warp] = deque([sent.entry])
        self.frame.buffered |= 1 << sent.warp
        self.frame.registers[sent.warp] |= 1 << PAIR

    def address(self, warp: int, at: int = BASE, stride: int = 4, mask: int = FULL, register: int = PAIR) -> Result:
        """The low words of the addresses of a warp, of all its live lanes."""
        result = self.result(warp, register, mask=mask, full=True)
        result.data = self.packed([at + stride * lane for lane in range(32)])
        return result

    def probe(self, result: Result) -> list[int]:
        """States of the probe from the cycle on in which the result leaves X."""
        self.step({0: result})
        self.steps(5)
        assert self.fields[0]["write"] == 1, "nothing is in its way"
        return self.seen("probe_state")

    def is_told(self, result: Result) -> bool:
        """Whether the warp of a result is lookahead_hit to find its words."""
        assert self.probe(result) == [NO_PROBE, P1, P2, NO_PROBE, NO_PROBE, NO_PROBE]
        assert self.when("probe_hit") == ([2] if self.when("lookahead_hit") else [])
        return self.when("lookahead_hit") == [3] and self.fields[3]["lookahead_hit"] == 1 << result.warp


def test_an_address_that_leads_to_a_known_vector_is_told_three_cycles_later() -> None:
    bench = Ahead()
    bench.head(bench.load(7, 5), offset=0x40)
    assert bench.probe(bench.address(7, BASE - 0x40)) == [NO_PROBE, P1, P2, NO_PROBE, NO_PROBE, NO_PROBE]
    assert bench.when("probe_hit") == [2]
    assert bench.seen("lookahead_hit") == [0, 0, 0, 1 << 7, 0, 0]
    assert bench.file.counters["las_probes"] == bench.file.counters["las_hits"] == 1
    assert not bench.when("access_vector") and not bench.when("outcome"), "nothing else happens"


def test_an_offset_may_point_backwards() -> None:
    bench = Ahead()
    bench.head(bench.load(7, 5), offset=-0x40)
    assert bench.is_told(bench.address(7, BASE + 0x40))


def test_what_is_above_32_bits_does_not_matter() -> None:
    bench = Ahead(known=False)
    bench.settle(bench.load(2, 4, BASE + (1 << 32)))
    bench.head(bench.load(7, 5))
    assert bench.is_told(bench.address(7))


def partial(bench: Ahead) -> Result:
    bench.head(bench.load(7, 5))
    result = bench.address(7, mask=0xFFFF)
    result.full = False
    return result


def high_half(bench: Ahead) -> Result:
    bench.head(bench.load(7, 5))
    return bench.address(7, register=HIGH)


def no_head(bench: Ahead) -> Result:
    bench.head(bench.load(7, 5))
    bench.frame.buffered = 0
    return bench.address(7)


def head_of_another(bench: Ahead) -> Result:
    bench.head(bench.load(6, 5))
    return bench.address(7)


def second_in_the_buffer(bench: Ahead) -> Result:
    load, other = bench.load(7, 5), bench.access(PLAIN, [0] * 32, warp=7)
    bench.head(other)
    bench.frame.buffers[7].append(load.entry)
    return bench.address(7)


def no_address_register(bench: Ahead) -> Result:
    load = bench.load(7, 5)
    load.entry.beat.hints ^= 2 << bench.cfg.hint_at("address_registers")
    bench.head(load)
    return bench.address(7)


def no_slot(bench: Ahead) -> Result:
    load = bench.load(7, 5)
    load.entry.beat.sources = ()
    bench.head(load)
    return bench.address(7, register=0)


def of_kind(kind: int) -> Callable[[Ahead], Result]:
    def make(bench: Ahead) -> Result:
        bench.head(bench.access(kind, [BASE + 4 * lane for lane in range(32)], warp=7))
        return bench.address(7)

    return make


@pytest.mark.parametrize(
    "make",
    [
        *(partial, high_half, no_head, head_of_another, second_in_the_buffer, no_address_register, no_slot),
        *(of_kind(kind) for kind in (PLAIN, STORE, FLUSH)),
    ],
)
def test_only_a_full_result_that_the_head_load_has_in_slot_0_is_captured(make: Callable[[Ahead], Result]) -> None:
    bench = Ahead()
    assert bench.probe(make(bench)) == [NO_PROBE] * 6
    assert not bench.file.counters["las_probes"]


def test_a_single_address_register_is_captured_too() -> None:
    bench = Ahead()
    load = bench.load(7, 5)
    load.entry.beat.hints ^= 3 << bench.cfg.hint_at("address_registers")
    bench.head(load)
    assert bench.is_told(bench.address(7))


def test_the_head_need_not_be_full() -> None:
    bench = Ahead()
    bench.head(bench.load(7, 5, full=0))
    assert bench.is_told(bench.address(7))


@pytest.mark.parametrize(("fits", "warp"), [(True, 6), (False, 7)])
def test_higher_ports_come_first_among_those_that_fit(fits: bool, warp: int) -> None:
    bench = Ahead()
    for one in (6, 7):
        bench.head(bench.load(one, 5))
    bench.step({0: bench.address(7), 2: bench.address(6, register=PAIR if fits else 3)})
    bench.steps(5)
    assert bench.fields[0]["write"] == 0b101
    assert bench.seen("lookahead_hit") == [0, 0, 0, 1 << warp, 0, 0], "the other one is not captured later"


def test_a_result_is_captured_when_it_leaves_x() -> None:
    bench = Ahead()
    bench.head(bench.load(7, 5))
    # All three read one memory of the table, which has two ports.
    bench.step({0: bench.address(7), 1: bench.result(4, 4), 2: bench.result(0, 2)})
    bench.steps(5)
    assert [fields["write"] for fields in bench.fields[:2]] == [0b110, 0b001]
    assert bench.seen("probe_state") == [NO_PROBE, NO_PROBE, P1, P2, NO_PROBE, NO_PROBE]
    assert bench.when("lookahead_hit") == [4]


def test_while_a_probe_is_under_way_no_result_is_captured() -> None:
    bench = Ahead()
    for warp in (3, 5, 6, 7):
        bench.head(bench.load(warp, 5))
    for warp in (7, 6, 5, 3):
        bench.step({0: bench.address(warp)})
    bench.steps(4)
    assert [fields["write"] for fields in bench.fields] == [1, 1, 1, 1, 0, 0, 0, 0]
    assert bench.seen("probe_state") == [NO_PROBE, P1, P2, NO_PROBE, P1, P2, NO_PROBE, NO_PROBE]
    assert bench.seen("lookahead_hit") == [0, 0, 0, 1 << 7, 0, 0, 1 << 3, 0]


def test_a_probe_waits_while_the_access_port_compares() -> None:
    bench = Ahead()
    bench.head(bench.load(7, 5))
    bench.step({0: bench.address(7)}, access=bench.load(1, 3, BASE + 0x4000))
    bench.fields.clear()
    bench.steps(5)
    assert bench.fields[1]["access_search"] == COMPARE
    assert bench.seen("probe_state") == [P1, P2, P2, NO_PROBE, NO_PROBE]
    assert bench.when("probe_hit") == [2] and bench.when("lookahead_hit") == [3]


@pytest.mark.parametrize(("left", "told"), [(2, False), (3, True)])
def test_it_compares_what_is_valid_when_the_cycle_begins(left: int, told: bool) -> None:
    bench, there = Ahead(), BASE + 0x4000
    bench.head(bench.load(7, 5))
    bench.begin(bench.load(1, 3, there))
    bench.steps(left)
    bench.step({0: bench.address(7, there)})
    bench.steps(5)
    assert bench.fields[4]["outcome"] == MISS, "the entry is there from 5 on"
    assert bool(bench.when("lookahead_hit")) == told


@pytest.mark.parametrize(
    "make",
    [
        lambda b: b.address(7, stride=-4),
        lambda b: b.address(7, stride=6),
        lambda b: b.address(7, stride=1024),
        lambda b: b.address(7, BASE + 2),
        lambda b: b.address(7, mask=0xFFFF00FF),
        lambda b: b.address(7, mask=0xFFFFFFFE),
        lambda b: b.address(7, mask=0),
        lambda b: b.address(7, 0xFFFFFF84),
    ],
)
@pytest.mark.parametrize("flagged_by", ["perfect", "any"])
def test_what_the_access_port_would_not_track_is_not_compared(make: Callable[[Ahead], Result], flagged_by: str) -> None:
    bench = Ahead(flagging(flagged_by=flagged_by))
    bench.head(bench.load(7, 5))
    assert bench.probe(make(bench)) == [NO_PROBE, P1, NO_PROBE, NO_PROBE, NO_PROBE, NO_PROBE]
    assert not bench.when("lookahead_hit")


def test_the_last_vector_below_4_gb_is_compared() -> None:
    bench = Ahead(known=False)
    bench.settle(bench.load(2, 4, 0xFFFFFF80))
    bench.head(bench.load(7, 5))
    assert bench.is_told(bench.address(7, 0xFFFFFF80))


def test_an_odd_stride_is_compared_only_where_such_are_tracked() -> None:
    for strides, state in (("any", P2), ("powers", NO_PROBE)):
        bench = Ahead(flagging(strides=strides))
        bench.head(bench.load(7, 5))
        assert bench.probe(bench.address(7, stride=12))[:3] == [NO_PROBE, P1, state]


def test_without_upper_bits_nothing_is_compared() -> None:
    bench = Ahead(known=False)
    bench.head(bench.load(7, 5))
    assert bench.probe(bench.address(7)) == [NO_PROBE, P1, NO_PROBE, NO_PROBE, NO_PROBE, NO_PROBE]


@pytest.mark.parametrize(
    ("at", "stride", "mask", "perfect", "some"),
    [
        (BASE, 4, FULL, True, True),
        (BASE, 4, 0x00FFFFFF, True, True),
        (BASE + 4, 4, FULL, False, True),
        (BASE + 4 * 31, 4, FULL, False, True),
        (BASE - 4 * 31, 4, FULL, False, True),
        (BASE + 4 * 32, 4, FULL, False, False),
        (BASE - 4 * 32, 4, FULL, False, False),
        (BASE, 8, FULL, False, False),
        (BASE, 0, FULL, False, False),
        (BASE, 4, 0x1, False, False),  # one lane has stride 0
    ],
)
def test_a_warp_is_flagged_for_its_vector_or_for_any_that_matches(
    at: int, stride: int, mask: int, perfect: bool, some: bool
) -> None:
    for flagged_by, told in (("perfect", perfect), ("any", some)):
        bench = Ahead(flagging(flagged_by=flagged_by))
        bench.head(bench.load(7, 5))
        assert bench.is_told(bench.address(7, at, stride, mask)) == told


def test_an_entry_of_fewer_lanes_is_not_perfect() -> None:
    for flagged_by in ("perfect", "any"):
        bench = Ahead(flagging(flagged_by=flagged_by), known=False)
        bench.settle(bench.load(2, 4, mask=0xFFFF))
        bench.head(bench.load(7, 5))
        assert bench.is_told(bench.address(7)) == (flagged_by == "any")


def test_the_result_is_complete_in_the_cycle_before_the_pulse() -> None:
    bench = Ahead()
    bench.head(bench.load(7, 5))
    bench.probe(bench.address(7))
    assert bench.when("completed") == [2] and bench.when("lookahead_hit") == [3]

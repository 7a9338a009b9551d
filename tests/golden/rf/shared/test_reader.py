"""The reader of head loads' address registers (docs/schemes/larf.md, section 19)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.golden.rf.shared.bench import BASE, flagging
from tests.golden.rf.shared.test_lookahead import PAIR, Ahead
from warpfile.golden.rf.contract import Sent
from warpfile.golden.rf.shared import reader
from warpfile.golden.rf.shared.access import AccessPort
from warpfile.golden.rf.shared.lookahead import Lookahead
from warpfile.golden.rf.shared.reader import Reader
from warpfile.spec.schemes.las import ASK, DATA, NO_PROBE, NO_READER, P1, P2, READ
from warpfile.spec.schemes.shared import FLUSH, PLAIN, STORE


class Idle(Ahead):
    """Registers R1 of the warps have addresses; head loads are seen from the first cycle on."""

    def __init__(self, *warps: int, **changes: object) -> None:
        super().__init__(flagging(**changes))
        for warp in warps or (7,):
            self.settle(self.address(warp))

    def ready(self, sent: Sent, offset: int = 0) -> None:
        """It is the head beat of its warp, and no register is pending."""
        self.head(sent, offset)
        self.frame.registers[sent.warp] = 0

    def store_into(self, bank: int) -> tuple[int, int]:
        """A register that has a row of this bank, which a result may go to in place."""
        return next(key for key in ((w, r) for w in range(6) for r in (6, 7)) if (sum(key) & 1) == bank)

    def reads(self, bank: int) -> None:
        """A unit asks a bank in this cycle."""
        asking = [0] * self.cfg.banks
        asking[bank] = 1
        assert self.file.read(self.cycle, asking, [0] * 64, list(range(self.cfg.collectors)))

    @property
    def bank(self) -> int:
        """That of the address of warp 7."""
        return self.row(7, PAIR) % self.cfg.banks


def test_an_address_is_read_from_an_idle_bank_and_told_six_cycles_after_the_choice() -> None:
    bench = Idle()
    bench.ready(bench.load(7, 5))
    bench.steps(9)
    assert bench.seen("reader_state") == [NO_READER, ASK, READ, DATA, *[NO_READER] * 5]
    assert bench.seen("probe_state") == [*[NO_PROBE] * 4, P1, P2, *[NO_PROBE] * 3]
    assert bench.when("reader_read") == [2] and bench.when("probe_hit") == [5]
    assert bench.seen("lookahead_hit") == [*[0] * 6, 1 << 7, 0, 0]
    assert bench.seen("probed") == [0, *[1 << 7] * 8]
    names = ("las_reads", "las_late", "las_probes", "las_hits")
    assert [bench.file.counters[name] for name in names] == [1, 0, 1, 1]
    assert sum(bench.seen("table_reads")) == bench.seen("table_reads")[1] != 0, "one read of the table, in ASK"


@pytest.mark.parametrize("busy", range(6))
def test_the_bank_has_to_be_idle_within_four_cycles(busy: int) -> None:
    """The page's example: the bank is asked by a unit in the reader's first cycles in READ."""
    bench = Idle()
    bench.ready(bench.load(7, 5))
    bench.steps(2)
    for _ in range(busy):
        bench.reads(bench.bank)
        bench.step()
    bench.steps(9)
    states = bench.seen("reader_state")
    if busy < 4:
        assert states[2 : 5 + busy] == [*[READ] * (busy + 1), DATA, NO_READER]
        assert bench.when("reader_read") == [2 + busy] and bench.when("lookahead_hit") == [6 + busy]
    else:
        assert states[2:7] == [*[READ] * 4, NO_READER] and not any(states[6:])
        assert bench.when("reader_late") == [5] and bench.file.counters["las_late"] == 1
        assert not bench.when("lookahead_hit") and bench.fields[-1]["probed"] == 1 << 7, "it is not read again"


def test_another_bank_may_be_busy() -> None:
    bench = Idle()
    bench.ready(bench.load(7, 5))
    for _ in range(7):
        bench.reads(1 - bench.bank)
        bench.step()
    assert bench.when("reader_read") == [2] and bench.when("lookahead_hit") == [6]


def test_a_result_in_w1_goes_first() -> None:
    bench = Idle()
    warp, register = bench.store_into(bench.bank)
    bench.settle(bench.result(warp, register))
    assert bench.row(warp, register) % bench.cfg.banks == bench.bank
    bench.ready(bench.load(7, 5))
    bench.step({0: bench.result(warp, register)})
    bench.steps(8)
    assert bench.when("stored") == [2] and bench.when("reader_read") == [3] and bench.when("lookahead_hit") == [7]


def test_the_table_is_asked_until_it_serves() -> None:
    bench = Idle()
    bench.ready(bench.load(7, 5))
    bench.step()
    # Both ports of the memory that has the entry of R1 of warp 7 are taken by results in X.
    assert bench.file.table.memory(7, PAIR) == bench.file.table.memory(0, 2) == bench.file.table.memory(4, 4)
    bench.step({0: bench.result(0, 2), 1: bench.result(4, 4)})
    bench.steps(9)
    # They change one after the other, so that they are in W1 in 3 and 4, in the bank that is read.
    assert bench.seen("reader_state")[:7] == [NO_READER, ASK, ASK, READ, READ, READ, DATA]
    assert bench.when("stored") == [3, 4] and bench.when("reader_read") == [5] and bench.when("lookahead_hit") == [9]


def test_the_table_is_not_asked_in_a_cycle_in_which_an_access_asks_for_an_old_mapping() -> None:
    """The page's example: an access is in C in 1. Its register is not in the memory of the table that is read."""
    bench = Idle()
    bench.begin(bench.load(2, 5))
    assert bench.file.table.memory(2, 5) != bench.file.table.memory(7, PAIR)
    bench.ready(bench.load(7, 5))
    bench.steps(9)
    assert bench.seen("reader_state")[:5] == [NO_READER, ASK, ASK, READ, DATA]
    assert bench.when("reader_read") == [3] and bench.when("lookahead_hit") == [7]


def test_a_register_without_a_row_is_not_read() -> None:
    bench = Idle()
    bench.ready(bench.load(6, 5))
    bench.steps(8)
    assert bench.seen("reader_state") == [NO_READER, ASK, READ, *[NO_READER] * 5]
    assert not (bench.when("reader_read") or bench.when("reader_late") or bench.when("probe_state"))


@pytest.mark.parametrize(("cycle", "left"), [(0, 0), (1, 0), (2, 0), (3, 0), (4, 1), (5, 2)])
def test_what_is_under_way_for_a_warp_that_issues_is_dropped(cycle: int, left: int) -> None:
    """``left``: cycles of the probe that there are all the same."""
    bench = Idle()
    load = bench.load(7, 5)
    bench.ready(load)
    bench.steps(cycle)
    bench.file.issued(7, load.entry)
    bench.step()
    bench.frame.buffered = 0
    bench.steps(6)
    assert not any(bench.seen("reader_state")[cycle + 1 :]) and not bench.fields[cycle + 1]["probed"]
    assert len(bench.when("probe_state")) == left and not bench.when("lookahead_hit")
    assert bool(bench.when("probe_hit")) == (cycle == 5)


def test_another_warp_that_issues_changes_nothing() -> None:
    bench = Idle()
    bench.ready(bench.load(7, 5))
    other = bench.load(3, 5)
    for _ in range(7):
        bench.file.issued(3, other.entry)
        bench.step()
    assert bench.when("lookahead_hit") == [6]


def test_the_next_load_of_a_warp_has_a_probe_of_its_own() -> None:
    bench = Idle()
    first, second = bench.load(7, 5), bench.load(7, 6)
    bench.ready(first)
    bench.steps(7)
    bench.file.issued(7, first.entry)
    bench.step()
    bench.ready(second)
    bench.steps(8)
    assert bench.when("lookahead_hit") == [6, 14]


def pending(bench: Idle) -> None:
    bench.head(bench.load(7, 5))


def partial(bench: Idle) -> None:
    bench.ready(bench.load(7, 5, full=0))


def no_head(bench: Idle) -> None:
    bench.ready(bench.load(7, 5))
    bench.frame.buffered = 0


def no_address_register(bench: Idle) -> None:
    load = bench.load(7, 5)
    load.entry.beat.hints ^= 2 << bench.cfg.hint_at("address_registers")
    bench.ready(load)


def no_slot(bench: Idle) -> None:
    load = bench.load(7, 5)
    load.entry.beat.sources = ()
    bench.ready(load)


def of_kind(kind: int) -> Callable[[Idle], None]:
    def make(bench: Idle) -> None:
        bench.ready(bench.access(kind, [BASE + 4 * lane for lane in range(32)], warp=7))

    return make


@pytest.mark.parametrize(
    "make",
    [pending, partial, no_head, no_address_register, no_slot, *(of_kind(kind) for kind in (PLAIN, STORE, FLUSH))],
)
def test_only_a_full_head_load_with_an_address_that_is_there_is_chosen(make: Callable[[Idle], None]) -> None:
    bench = Idle()
    make(bench)
    bench.steps(6)
    assert not any(bench.seen("reader_state")) and not any(bench.seen("probed"))


def test_lanes_are_those_of_the_load() -> None:
    bench = Idle()
    broken = bench.address(7)
    broken.data = bench.packed([BASE + 4 * lane if lane < 8 else 99 for lane in range(32)])
    bench.settle(broken)
    bench.ready(bench.load(7, 5, mask=0xFF), offset=0)
    bench.steps(7)
    assert bench.when("lookahead_hit") == [6], "no lane beyond its mask is looked at"


def test_an_offset_is_added() -> None:
    bench = Idle()
    bench.ready(bench.load(7, 5), offset=4)
    bench.steps(7)
    assert bench.seen("probe_state")[4:6] == [P1, P2] and not bench.when("lookahead_hit")


def test_warps_take_turns_and_the_next_one_is_chosen_while_a_row_comes() -> None:
    bench = Idle(1, 4, 7)
    for warp in (1, 4, 7):
        bench.ready(bench.load(warp, 5))
    bench.steps(16)
    assert bench.seen("reader_state")[:8] == [NO_READER, ASK, READ, DATA, ASK, READ, READ, DATA]
    assert bench.when("reader_read") == [2, 6, 10], "a probe in every fourth cycle: READ waits for P2"
    assert [fields["lookahead_hit"] for fields in bench.fields if fields["lookahead_hit"]] == [1 << 1, 1 << 4, 1 << 7]


def test_the_pointer_moves_behind_the_warp_that_was_chosen() -> None:
    bench = Idle(1, 4, 7)
    load = bench.load(4, 5)
    bench.ready(load)
    bench.step()
    bench.file.issued(4, load.entry)
    bench.step()
    for warp in (1, 4, 7):
        bench.ready(bench.load(warp, 6))
    bench.steps(9)
    chosen = [bench.fields[at]["probed"] for at in range(3, 11)]
    assert chosen[0] == 1 << 7 and chosen[-1] == 1 << 7 | 1 << 1 | 1 << 4, "from 5 on: 7, and behind it 1"
    assert 1 << 7 | 1 << 1 in chosen


@pytest.mark.parametrize(("cycle", "captured"), [(0, True), (1, True), (2, False), (3, False)])
def test_a_result_is_captured_unless_the_reader_has_the_probe_for_itself(cycle: int, captured: bool) -> None:
    bench = Idle(7, 4)
    bench.ready(bench.load(7, 5))
    bench.head(bench.load(4, 5))
    bench.steps(cycle)
    bench.step({0: bench.address(4)})
    bench.steps(9)
    first = bench.fields[bench.when("lookahead_hit")[0]]["lookahead_hit"]
    assert bench.seen("probe_state")[cycle + 1] == (P1 if captured else P1 if cycle == 3 else NO_PROBE)
    assert first == (1 << 4 if captured else 1 << 7)
    assert bool(bench.fields[-1]["probed"] >> 4 & 1) == captured
    assert bench.file.counters["las_probes"] == 1 + captured


Mistake = Callable[[pytest.MonkeyPatch], None]


def reads_what_is_pending(patch: pytest.MonkeyPatch) -> None:
    """The scoreboard is not asked."""
    candidates = Reader._candidates

    def wrong(self: Reader) -> int:
        registers, self._heads.registers = self._heads.registers, [0] * self._warps
        found = candidates(self)
        self._heads.registers = registers
        return found

    patch.setattr(Reader, "_candidates", wrong)


def takes_a_busy_bank(patch: pytest.MonkeyPatch) -> None:
    """The bank serves the reader besides somebody else."""
    read = Reader.read

    def wrong(self: Reader, cycle: int, free: bool) -> None:
        self._banks._read_free = [0] * len(self._banks._read_free)
        read(self, cycle, free)

    patch.setattr(Reader, "read", wrong)


def is_patient(patch: pytest.MonkeyPatch) -> None:
    """The reader waits five cycles."""
    patch.setattr(reader, "READ_CYCLES", 5)


def drops_nothing(patch: pytest.MonkeyPatch) -> None:
    """A probe outlives its load."""
    edge = Lookahead.edge

    def wrong(self: Lookahead) -> None:
        self._issued = -1
        edge(self)

    patch.setattr(Lookahead, "edge", wrong)


def probes_again(patch: pytest.MonkeyPatch) -> None:
    """A head load is read again and again."""
    patch.setattr(Reader, "mark", lambda self, warp: None)


def has_no_turns(patch: pytest.MonkeyPatch) -> None:
    """The lowest warp goes first."""
    patch.setattr(reader, "first_from", lambda candidates, pointer: (candidates & -candidates).bit_length() - 1)


def asks_beside_an_access(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(AccessPort, "asks", False)


def reads_into_a_probe(patch: pytest.MonkeyPatch) -> None:
    """The bank is asked whether or not the probe is free."""
    read = Reader.read
    patch.setattr(Reader, "read", lambda self, cycle, free: read(self, cycle, True))


MISTAKES: list[tuple[Mistake, Callable[[], None]]] = [
    (reads_what_is_pending, lambda: test_only_a_full_head_load_with_an_address_that_is_there_is_chosen(pending)),
    (takes_a_busy_bank, lambda: test_the_bank_has_to_be_idle_within_four_cycles(1)),
    (is_patient, lambda: test_the_bank_has_to_be_idle_within_four_cycles(4)),
    (drops_nothing, lambda: test_what_is_under_way_for_a_warp_that_issues_is_dropped(3, 0)),
    (probes_again, lambda: test_an_address_is_read_from_an_idle_bank_and_told_six_cycles_after_the_choice()),
    (has_no_turns, lambda: test_the_pointer_moves_behind_the_warp_that_was_chosen()),
    (
        asks_beside_an_access,
        lambda: test_the_table_is_not_asked_in_a_cycle_in_which_an_access_asks_for_an_old_mapping(),
    ),
    (reads_into_a_probe, lambda: test_warps_take_turns_and_the_next_one_is_chosen_while_a_row_comes()),
]


@pytest.mark.plain
@pytest.mark.parametrize(("mistake", "fails"), MISTAKES)
def test_a_mistake_fails_a_test(mistake: Mistake, fails: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    mistake(monkeypatch)
    with pytest.raises(AssertionError):
        fails()

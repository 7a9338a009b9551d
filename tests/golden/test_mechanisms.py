"""Each mechanism alone: schedulers, locations, banks, collector units, scoreboard."""

from __future__ import annotations

import pytest

from tests.golden.machines import Baseline, layout_of
from warpfile.golden.collectors.pool import CollectorUnits
from warpfile.golden.counters import Counts
from warpfile.golden.entry import Entry
from warpfile.golden.frame import Frame
from warpfile.golden.rf.banked.file import BankedFile
from warpfile.golden.rf.banks import Banks
from warpfile.golden.rf.location import Location
from warpfile.golden.scheduler.policy import Gto, Lrr, Oldest
from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.environment import Result
from warpfile.spec.trace import Kind, Port


def entry(sources: tuple[int, ...] = (), port: int = 0, **more: int) -> Entry:
    values = {"kind": int(Kind.NORMAL), "dest": 0, "dest_count": 0, "token_reads": 0, "token_writes": 0} | more
    beat = Beat(payload=0, record=0, offset=0, port=port, sources=sources, mask=1, first=True, last=True, **values)
    return Entry(beat, Config().port_of)


def result(register: int = 0, port_row: int = 0, writes: bool = True, tokens: int = 0) -> Result:
    return Result(0, 0, writes, register, tokens, 1, port_row)


def test_gto_stays_with_the_last_issuer_then_takes_the_oldest() -> None:
    gto = Gto(Config())
    for warp in (2, 0, 1):
        gto.launched(warp)
    assert gto.choose(0b111) == 2
    gto.issued(1)
    assert gto.choose(0b111) == 1
    assert gto.choose(0b101) == 2
    assert gto.choose(0b001) == 0


def test_gto_forgets_an_issuer_that_exits() -> None:
    gto = Gto(Config())
    for warp in (0, 1):
        gto.launched(warp)
    gto.issued(0)
    gto.exited(0)
    gto.launched(0)
    assert gto.choose(0b11) == 1


def test_oldest_never_stays_with_the_last_issuer() -> None:
    oldest = Oldest(Config())
    for warp in (2, 0, 1):
        oldest.launched(warp)
    oldest.issued(1)
    assert oldest.choose(0b111) == 2
    assert oldest.choose(0b011) == 0
    assert oldest.choose(0b010) == 1


def test_a_slot_that_is_launched_again_holds_the_youngest_warp() -> None:
    oldest = Oldest(Config())
    for warp in (2, 0, 1):
        oldest.launched(warp)
    oldest.exited(2)
    assert oldest.choose(0b011) == 0
    oldest.launched(2)
    assert oldest.choose(0b111) == 0
    assert oldest.choose(0b110) == 1


def test_the_configuration_names_the_scheduler() -> None:
    names = ("gto", "lrr", "oldest")
    kinds = {
        name: type(Baseline(cfg := Config(scheduler=name), layout_of("baseline", cfg)).scheduler) for name in names
    }
    assert kinds == {"gto": Gto, "lrr": Lrr, "oldest": Oldest}


def test_lrr_starts_behind_the_last_issuer() -> None:
    lrr = Lrr(Config(warps=3))
    assert lrr.choose(0b110) == 1
    lrr.issued(1)
    assert lrr.choose(0b111) == 2
    lrr.issued(2)
    assert lrr.choose(0b110) == 1


@pytest.mark.parametrize(("skew", "bank"), [("none", 2), ("warp", 1), ("row", 1)])
def test_the_bank_of_a_register_is_skewed(skew: str, bank: int) -> None:
    location = Location(Config(banks=4, bank_skew=skew))
    location.launched(3, 13)
    assert location.place(3, 49) == (bank, 15)  # place 62


def test_a_place_must_be_in_the_banks() -> None:
    location = Location(Config(banks=4, rows=16))
    location.launched(2, 60)
    assert location.place(2, 3) == (1, 15)
    with pytest.raises(AssertionError, match="place 64 of warp 2, R4 is beyond the banks"):
        location.place(2, 4)


@pytest.mark.parametrize("skew", ["none", "warp", "row"])
def test_no_two_registers_share_a_place(skew: str) -> None:
    cfg = Config(banks=4, rows=64, warps=5, bank_skew=skew)
    location = Location(cfg)
    for warp in range(5):
        location.launched(warp, warp * cfg.places_per_warp(9))
    places = [location.place(warp, register) for warp in range(5) for register in range(9)]
    assert len(set(places)) == len(places)


def make_banks(**changes: object) -> Banks:
    cfg = Config(banks=2, collectors=3, source_slots=2).replace(**changes)
    return Banks(cfg)


def served(banks: Banks, cycle: int, asking: list[int], order: list[int]) -> list[int]:
    """Source slots that are served; all of them read row 0."""
    return [index for index, _, _ in banks.read(cycle, asking, [0] * 6, order)]


def test_a_bank_serves_units_in_turn() -> None:
    banks = make_banks()
    everybody = [0b010101, 0]
    assert [served(banks, t, everybody, [2, 1, 0]) for t in range(4)] == [[0], [2], [4], [0]]
    assert served(banks, 4, [0b010001, 0], [2, 0]) == [4]  # unit 1 has nothing to ask


def test_a_bank_pointer_moves_with_its_own_grants_only() -> None:
    banks = make_banks()
    assert served(banks, 0, [0b01, 0], [0]) == [0]
    assert served(banks, 1, [0b0101, 0b1010], [0, 1]) == [2, 1]


def test_a_bank_serves_the_oldest_unit_and_its_lowest_slot() -> None:
    banks = make_banks(bank_arbitration="oldest")
    assert [served(banks, t, [0b111111, 0], [2, 0, 1]) for t in range(2)] == [[4], [4]]
    assert served(banks, 2, [0b001111, 0], [2, 0, 1]) == [0]


def test_one_fill_per_unit_passes_over_in_the_higher_bank() -> None:
    banks = make_banks(collect="one", bank_arbitration="oldest")
    assert served(banks, 0, [0b0001, 0b1010], [0, 1]) == [0, 3]
    assert served(banks, 1, [0b0001, 0b0010], [0, 1]) == [0]


def test_a_busy_bank_serves_no_request() -> None:
    for ports, expected in (("1RW", []), ("1R1W", [0])):
        banks = make_banks(bank_cycles=2, bank_ports=ports)
        assert banks.claim(0, 0)
        assert served(banks, 1, [1, 0], [0]) == expected
        assert not banks.claim(1, 0)
        assert banks.claim(2, 0)


def test_the_highest_port_writes_and_tokens_pass() -> None:
    file = make_file()
    assert file.accept(0, [result(4), result(6), result(8)], 0b111, 0b111) == 0b100
    assert file.accept(1, [result(4), result(5), result(writes=False)], 0b111, 0b011) == 0b111


def make_file(**changes: object) -> BankedFile:
    cfg = Config(banks=2, collectors=3, source_slots=2).replace(**changes)
    return BankedFile(cfg, layout_of("baseline", cfg), None)


def make_units(**changes: object) -> CollectorUnits:
    cfg = Config(banks=2, collectors=3, source_slots=2).replace(**changes)
    return CollectorUnits(cfg, make_file(**changes))


def test_dispatch_goes_round_and_the_pointer_waits_for_the_port() -> None:
    units = make_units()
    for number in range(3):
        units.allocate(number, number, entry())
    assert units.offer() == [0, -1, -1]
    assert units.offer() == [0, -1, -1]
    units.dispatch(0)
    units.allocate(0, 3, entry())
    order = []
    for _ in range(3):
        order.append(units.offer()[0])
        units.dispatch(order[-1])
    assert order == [1, 2, 0]


def test_dispatch_takes_the_oldest_unit() -> None:
    units = make_units(dispatch_arbitration="oldest")
    for number in (2, 0, 1):
        units.allocate(number, number, entry())
    units.dispatch(2)
    units.allocate(2, 5, entry())
    assert units.offer() == [0, -1, -1]


def test_ports_are_independent() -> None:
    units = make_units()
    units.allocate(0, 0, entry(port=2))
    units.allocate(1, 0, entry(port=0))
    assert units.offer() == [1, -1, 0]


def test_only_registers_not_yet_granted_are_unread() -> None:
    units = make_units()
    units.allocate(0, 3, entry((4, 7)))
    assert units.unread(3) == 1 << 4 | 1 << 7
    units.granted(0, 99, 1)
    assert units.unread(3) == 1 << 7
    assert units.unread(0) == 0
    assert units.operands(0)[0] == 99


def test_impossible_events_are_refused() -> None:
    frame = Frame(Config(buffer_depth=1))
    launch = Launch(0, 0, 0, 0)
    with pytest.raises(AssertionError, match="where no warp is"):
        frame.decode(0, entry().beat)
    frame.launch(launch)
    with pytest.raises(AssertionError, match="which is taken"):
        frame.launch(launch)
    frame.decode(0, entry().beat)
    with pytest.raises(AssertionError, match="overflows"):
        frame.decode(0, entry().beat)
    with pytest.raises(AssertionError, match="R7 of warp 0 is released but not pending"):
        frame.release(result(7))
    with pytest.raises(AssertionError, match="token"):
        frame.release(result(writes=False, tokens=2))


def test_units_refuse_impossible_events() -> None:
    units = make_units()
    units.allocate(0, 0, entry((4,)))
    with pytest.raises(AssertionError, match="taken"):
        units.allocate(0, 1, entry())
    with pytest.raises(AssertionError, match="without its operands"):
        units.dispatch(0)
    units.granted(0, 1, 1)
    with pytest.raises(AssertionError, match="granted twice"):
        units.granted(0, 1, 1)


@pytest.mark.parametrize(
    ("buffered", "waiting", "clear", "room", "reasons"),
    [
        (0b00, 0b01, 0b00, 0b00, {"issue_idle"}),
        (0b01, 0b01, 0b01, 0b01, {"issue_barrier"}),
        (0b11, 0b01, 0b01, 0b11, {"issue_hazard"}),
        (0b11, 0b01, 0b11, 0b01, {"issue_room", "issue_full"}),
        (0b11, 0b01, 0b10, 0b10, {"issue_room"}),
    ],
)
def test_every_cycle_without_issue_has_one_reason(
    buffered: int, waiting: int, clear: int, room: int, reasons: set[str]
) -> None:
    counts = Counts()
    counts.no_issue(buffered, waiting, clear, room)
    assert {name: count for name, count in counts.table().items() if count} == dict.fromkeys(reasons, 1)


def test_ports_of_one_share_everything() -> None:
    beat = entry(port=int(Port.LSU)).beat
    assert Entry(beat, Config(ports=1).port_of).port == 0
    assert Entry(beat, Config(ports=3).port_of).port == 2

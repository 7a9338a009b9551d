"""Registers that windows give back, on their way to a bank, with cycles derived by hand (docs/schemes/corf.md, 17)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.golden.rf.packed.bench import Bench, a_result
from tests.golden.rf.packed.scenario import make
from tests.golden.rf.packed.test_release import exit_of
from tests.golden.scenario import FULL
from warpfile.golden.copies import POISON, row_in_lanes
from warpfile.golden.rf.contract import Eviction
from warpfile.golden.rf.packed import entrance
from warpfile.golden.rf.packed.evictions import UnderWay
from warpfile.golden.rf.packed.stages import Stages, Storing
from warpfile.golden.rf.renaming import UNMAPPED, Mapped
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.schemes.packed import ALLOCATE, IN_PLACE, RESIZE, SHRINK

SCHEME = "bow_wr+packed"


def a_bench(**changes: Any) -> Bench:
    """A file of two banks under windows. R1, R3, R5, R7 of warp 0 are at home in bank 1, and so are their entries."""
    return Bench(make(SCHEME, banks=2, **changes), SCHEME)


def gives(register: int, size: int = 2, warp: int = 0, row: int = 9) -> Eviction:
    """A register that a window gives back."""
    return Eviction(warp, register, size, row)


def code(fields: dict[str, int]) -> int:
    """Decision of port 0."""
    return fields["decision"] & 7


def busy(bench: Bench, bank: int) -> None:
    """Somebody else takes a bank in the next cycle."""
    assert bench.file.banks.claim(bench.cycle, bank)


def test_an_eviction_goes_the_way_of_a_result_and_completes_nothing() -> None:
    bench = a_bench()
    first = bench.step(evict=gives(1))
    assert (first["taken"], first["size"], first["table_reads"]) == (1, 2, 1 << 2)
    second = bench.step()
    assert (second["underway"], code(second)) == (0b001, 0) and not bench.file.quiet
    third = bench.step()
    assert (third["underway"], code(third)) == (0b010, ALLOCATE) and not bench.file.quiet
    fourth = bench.step()
    assert (fourth["underway"], fourth["stored"]) == (0b100, 1) and not bench.completed
    assert bench.step()["underway"] == 0 and bench.file.quiet
    assert (bench.entry(1), bench.copy(1)) == (Mapped(1, 0, 0b0011), 9)


def test_the_decision_is_that_of_a_full_result() -> None:
    """R1 has three bytes of its row."""
    for size, decision, mask in ((3, IN_PLACE, 0b0111), (1, SHRINK, 0b0001), (4, RESIZE, 0b1111)):
        bench = a_bench()
        bench.settle(a_result(1, 3))
        bench.step(evict=gives(1, size))
        bench.step()
        assert code(bench.step()) == decision
        bench.step()
        assert (bench.entry(1), bench.copy(1)) == (Mapped(1, 0, mask), 9)


def test_an_eviction_of_fewer_bytes_keeps_the_low_slices() -> None:
    """The worked example: R2 is in slices 1 and 2, behind R0."""
    bench = a_bench()
    bench.settle(a_result(0, 1), a_result(2, 2))
    assert bench.entry(2).mask == 0b0110
    bench.step(evict=gives(2, 1))
    bench.step()
    assert code(bench.step()) == SHRINK
    bench.step()
    assert bench.entry(2).mask == 0b0010 and bench.file.free.is_free(Mapped(0, 0, 0b0100))


def test_without_packing_an_eviction_has_four_bytes() -> None:
    bench = a_bench(packing=0)
    assert bench.step(evict=gives(1, 4))["size"] == 4
    bench.steps(2)
    assert bench.entry(1).mask == 0b1111


def completion(bench: Bench) -> None:
    """The port completes what waits for it while an eviction is written."""
    bench.step(evict=gives(1))
    kept = a_result(3, 1)
    assert bench.step({0: kept}, kept=[0])["write"] == 1 and not bench.completed
    assert bench.step()["stored"] == 0 and not bench.completed
    assert bench.step()["stored"] == 1 and bench.completed == [kept]


def test_an_eviction_stands_in_x_beside_a_result_that_need_not_be_stored() -> None:
    bench = a_bench()
    fields = bench.step({0: a_result(3, 1)}, kept=[0], evict=gives(1))
    assert (fields["write"], fields["taken"], fields["table_reads"]) == (1, 1, 1 << 2)


def test_a_result_of_port_0_that_has_to_be_stored_goes_before() -> None:
    bench = a_bench()
    fields = bench.step({0: a_result(2, 1)}, evict=gives(1))
    assert (fields["write"], fields["taken"], fields["table_wait"]) == (1, 0, 0), "it does not stand in X"
    assert bench.step()["taken"], "T moves on"


def test_an_eviction_is_served_behind_all_results() -> None:
    """R3 and R5 take both ports of the memory that has R1."""
    bench = a_bench()
    fields = bench.step({1: a_result(3, 1), 2: a_result(5, 1)}, evict=gives(1))
    assert (fields["write"], fields["taken"], fields["table_wait"]) == (0b110, 0, 0b001)
    assert bench.step()["taken"]
    fields = bench.step(evict=gives(7))
    assert fields["search"] == 0b100 and fields["taken"], "R5 writes its entry, one port is left"


def test_an_eviction_reads_the_table_in_vain_while_t_is_held() -> None:
    bench = a_bench()
    for register in (1, 2, 3):
        bench.step(evict=gives(register))
    for _ in range(3):
        busy(bench, 1)
        fields = bench.step(evict=gives(5))
        assert (fields["taken"], fields["table_wait"], fields["table_reads"]) == (0, 0, 1 << 2)
    assert bench.step()["taken"], "R1 is written, R2 and R3 move on"


def late_result(bench: Bench) -> None:
    """The worked example: a result waits for an eviction of its register."""
    bench.step(evict=gives(1))
    late = bench.step({2: a_result(1, 2)})
    assert (late["write"], late["table_wait"], late["underway_wait"], late["table_reads"]) == (0, 0b100, 0b100, 0)
    assert [fields["underway_wait"] for fields in bench.steps(2)] == [0b100, 0b100]
    assert bench.step()["write"] == 0b100
    bench.step()
    fields = bench.step()
    assert fields["deciding"] == 0b100 and fields["decision"] >> 6 == IN_PLACE, "it has read the new entry"


def test_a_result_of_another_register_or_warp_does_not_wait() -> None:
    bench = a_bench()
    bench.step(evict=gives(1))
    assert bench.step({1: a_result(2, 2), 2: a_result(1, 2, warp=1)})["write"] == 0b110


def test_an_eviction_waits_for_a_result_of_its_register_that_is_not_accepted() -> None:
    """Results of R3 and R5 at higher ports take the memory of R1."""
    bench = a_bench(ports=4, write_back_ports=4)
    results = {1: a_result(1, 2), 2: a_result(3, 1), 3: a_result(5, 1)}
    fields = bench.step(results, evict=gives(1))
    assert (fields["write"], fields["taken"], fields["table_wait"]) == (0b1100, 0, 0b0011)
    assert (fields["table_reads"], bench.step()["taken"]) == (2 << 2, 0)


def test_a_result_that_is_kept_does_not_hold_an_eviction_up() -> None:
    bench = a_bench()
    assert bench.step({2: a_result(1, 2)}, kept=[2], evict=gives(1))["taken"]


def two_evictions(bench: Bench) -> None:
    """One register leaves twice, the second time with another value."""
    bench.step(evict=gives(1, 2, row=7))
    fields = bench.step(evict=gives(1, 3, row=8))
    assert (fields["taken"], fields["table_wait"], fields["table_reads"]) == (0, 1, 0)
    assert fields["underway_wait"] == 1 << bench.cfg.write_ports + bench.cfg.warps
    assert not any(fields["taken"] for fields in bench.steps(2))
    assert bench.step()["taken"]
    bench.step()
    assert code(bench.step()) == RESIZE, "the first one is in the table"
    bench.step()
    assert bench.copy(1) == 8 and bench.file.free.used_rows == 1


def look_ups(bench: Bench) -> None:
    """W0 waits for a higher port that changes. T and W0 hide the register's entry."""
    bench.step({2: a_result(7, 2)}, evict=gives(1))
    for waits in (0, 1):
        fields = bench.step(ask=(1, 3))
        assert (bench.answers[0], code(fields), fields["search_wait"]) == (None, 0, waits)
        assert bench.answers[1] is not None, "it takes no port"
        assert fields["underway_wait"] == 1 << bench.cfg.write_ports
    fields = bench.step(ask=(1, 3))
    assert (bench.answers[0], code(fields)) == (None, ALLOCATE)
    bench.step(ask=(1,))
    assert bench.answers == [Mapped(1, 0, 0b1100)], "from W1 on the entry is right"


def test_a_look_up_of_another_warp_is_served() -> None:
    bench = a_bench()
    bench.step(evict=gives(1, warp=1))
    bench.step(ask=(1,))
    assert bench.answers == [UNMAPPED]


def sweep(bench: Bench) -> None:
    """The worked example: EXIT in the cycle in which X takes the eviction, its bank is taken in 3."""
    bench.file.launched(Launch(0, 0, 0, 0))
    bench.step()
    bench.fields.clear()
    bench.step(evict=gives(0))
    bench.file.issued(0, exit_of(bench))
    bench.steps(2)
    busy(bench, 0)
    bench.steps(20)
    assert bench.when("underway") == [1, 2, 3, 4] and bench.when("stored") == [4]
    assert bench.when("sweep_read") == [6] and bench.when("retired") == [7]
    assert bench.file.free.used_rows == 0 and bench.file.kernel_ready


def sweep_of_a_waiting_entry(bench: Bench) -> None:
    """W0 still waits for a higher port when the warp could be chosen: the slices would never have an owner again."""
    bench.file.launched(Launch(0, 0, 0, 0))
    bench.step()
    bench.step({2: a_result(6, 2, warp=1)}, evict=gives(0))
    bench.file.issued(0, exit_of(bench))
    bench.steps(20)
    assert bench.file.free.used_rows == 1 and bench.file.kernel_ready


def test_the_sweep_of_another_warp_goes_on() -> None:
    bench = a_bench()
    bench.settle(a_result(1, 1), a_result(2, 1))
    for warp in (0, 1):
        bench.file.launched(Launch(warp, 0, 0, 0))
    bench.step()
    bench.file.issued(0, exit_of(bench))
    bench.step()
    bench.fields.clear()
    bench.step(evict=gives(1, warp=1))
    bench.steps(3)
    assert bench.when("sweep_read") == [0, 1] and bench.when("sweep_free") == [1, 2]


def test_a_result_that_the_file_does_not_get_passes_its_row_by() -> None:
    bench = a_bench()
    bench.settle(a_result(1, 2, row=4))
    partly = a_result(1, 2, mask=0x5, row=5)
    bench.step({2: partly}, kept=[2])
    assert row_in_lanes(bench.copy(1), 0xA) == 5 and row_in_lanes(bench.copy(1), 0x1) == POISON
    bench.step({2: a_result(1, 2, row=6)}, kept=[2])
    assert row_in_lanes(bench.copy(1), 0x1) == POISON


def test_a_result_that_the_file_does_not_get_passes_an_eviction_by() -> None:
    for wait in range(4):
        bench = a_bench()
        bench.step({2: a_result(1, 2, row=4)}, kept=[2])
        bench.step(evict=gives(1, row=4))
        bench.steps(wait)
        bench.step({2: a_result(1, 2, mask=0x5, row=5)}, kept=[2])
        bench.steps(4)
        assert row_in_lanes(bench.copy(1), FULL & ~0x5) == 5 and row_in_lanes(bench.copy(1), 0x4) == POISON


def test_a_result_that_the_file_does_not_get_passes_a_register_by_that_is_nowhere() -> None:
    """Unwritten lanes are right, there and where a later result takes slices."""
    bench = a_bench()
    bench.step({2: a_result(1, 2, mask=0x5, row=5)}, kept=[2])
    assert row_in_lanes(bench.file.unmapped(0, 1), 0xA) == 5 and row_in_lanes(bench.file.unmapped(0, 1), 0x4) == POISON
    bench.settle(a_result(1, 2, mask=0x1, row=6))
    assert row_in_lanes(bench.copy(1), 0xB) == 6 and row_in_lanes(bench.copy(1), 0x4) == POISON


def test_with_pairs_the_partner_is_read_and_the_value_goes_beside_it() -> None:
    bench = a_bench(allocation="pairs")
    bench.file.metadata.partner[1], bench.file.metadata.partner[2] = 2, 1
    bench.settle(a_result(2, 2))
    fields = bench.step(evict=gives(1, 1))
    assert fields["table_reads"] == 1 | 1 << 2
    bench.step()
    assert bench.step()["with_partner"] == 1
    assert bench.entry(1) == Mapped(0, 0, 0b1000)


def meets_a_result(bench: Bench) -> None:
    """The worked example, had the result come in 0."""
    fields = bench.step({2: a_result(1, 2)}, evict=gives(1))
    assert (fields["write"], fields["taken"], fields["table_wait"]) == (0b100, 0, 1)
    assert fields["underway_wait"] == 0


def never(*anything: object) -> bool:
    """A rule that is forgotten."""
    return False


def everybody(under_way: UnderWay, warps: int) -> int:
    """A rule that is forgotten: every warp may be swept."""
    return warps


def blocks_its_port(stages: Stages, storing: Storing) -> None:
    """An eviction in W1 counts as a result that completes."""
    stages._completions._stored |= 1


#: A scenario, and what it finds out: an attribute and what a mistake puts there.
RULES: dict[str, tuple[Callable[[Bench], None], object, str, Callable[..., object]]] = {
    "another eviction": (two_evictions, UnderWay, "holds", never),
    "a result": (late_result, UnderWay, "holds", never),
    "an eviction beside a result": (meets_a_result, entrance, "_is_met", never),
    "a look-up": (look_ups, UnderWay, "hides", never),
    "the sweep": (sweep, UnderWay, "others", everybody),
    "the sweep of an entry that changes": (sweep_of_a_waiting_entry, UnderWay, "others", everybody),
    "a completion": (completion, Stages, "_store", blocks_its_port),
}


@pytest.mark.parametrize("rule", RULES)
def test_what_meets_an_eviction_comes_in_its_order(rule: str) -> None:
    RULES[rule][0](a_bench())


@pytest.mark.plain
@pytest.mark.parametrize("rule", RULES)
def test_what_does_not_is_caught(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario, owner, attribute, mistake = RULES[rule]
    monkeypatch.setattr(owner, attribute, mistake)
    with pytest.raises(AssertionError):
        scenario(a_bench())

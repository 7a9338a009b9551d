"""What becomes of a result, row by row of the table (docs/schemes/corf.md, section 5)."""

from __future__ import annotations

import pytest

from tests.golden.rf.packed.bench import Bench, a_result
from tests.golden.rf.packed.scenario import get, make, pairs, put, run_packed, sides, tell, valued
from tests.golden.scenario import run
from warpfile.golden.copies import POISON, merged
from warpfile.golden.rf.renaming import Mapped
from warpfile.schemes import find
from warpfile.spec.schemes.packed import ALLOCATE, IN_PLACE, LEFT, RESIZE, RIGHT, SHRINK
from warpfile.spec.stimulus import Result

HALF = 0x0000FFFF


def decided(bench: Bench, *results: Result) -> dict[int, int]:
    """Send results on ports 0, 1, ... at once; decisions by port."""
    start = len(bench.fields)
    bench.step(dict(enumerate(results)))
    while bench.pins or not bench.file.quiet:
        bench.step()
    codes = {}
    for fields in bench.fields[start:]:
        codes |= {port: code for port in range(3) if (code := fields["decision"] >> 3 * port & 7)}
    return codes


@pytest.mark.parametrize("old", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("full", [True, False])
def test_every_row_of_the_table(old: int, size: int, full: bool) -> None:
    bench = Bench(make("packing"))
    if old:
        bench.settle(a_result(3, old, row=1))
    codes = decided(bench, a_result(3, size, -1 & 0xFFFFFFFF if full else HALF, row=2))
    wanted = IN_PLACE if size == old or (size < old and not full) else SHRINK if size < old else RESIZE
    wanted = wanted if old else ALLOCATE
    assert codes == {0: wanted}
    slices = old if old > size and not full else size
    assert bench.entry(3) == Mapped(1, 0, (1 << slices) - 1)
    assert len(bench.when("merge")) == (wanted == RESIZE and not full)
    assert bench.file.free.used_rows == 1
    assert bench.copy(3) == (2 if full or not old else merged(1, 1, 2, HALF))


@pytest.mark.parametrize("full", [True, False])
def test_without_packing_every_value_has_four_bytes(full: bool) -> None:
    bench = Bench(make("virtualization"))
    bench.settle(a_result(3, 1))
    assert decided(bench, a_result(3, 1, 0xFFFFFFFF if full else HALF)) == {0: IN_PLACE}
    assert bench.entry(3) == Mapped(1, 0, 0b1111) and bench.file.counters["size_4"] == 2


def test_stages_take_a_cycle_each() -> None:
    bench = Bench(make())
    bench.step({0: a_result(3, 2)})
    bench.steps(4)
    probes = ("write", "size", "reading", "deciding", "search", "decision", "storing", "stored", "used_rows")
    at = {probe: bench.when(probe) for probe in probes}
    assert at == {
        **{"write": [0], "size": [0], "reading": [1], "deciding": [2], "search": [2], "decision": [2]},
        **{"storing": [3], "stored": [3], "used_rows": [3, 4]},
    }
    assert [fields["table_reads"] | fields["table_writes"] << 4 for fields in bench.fields] == [4, 0, 4 << 4, 0, 0]


def test_a_result_is_in_place_a_cycle_later_than_in_the_baseline() -> None:
    program = [put(3, 5), put(4, 6, sources=(3,)), get(4, 3)]
    cfg = make(alu_latency=4)
    mine = run_packed(cfg, valued(program))
    plain = run(
        find("baseline").configuration("tiny", **{name: getattr(cfg, name) for name in _COMMON}), valued(program)
    )
    first = mine.when("dispatch")[0], plain.when("dispatch")[0]
    assert mine.when("write")[0] - first[0] == 2 and mine.when("stored")[0] - first[0] == 5
    assert plain.when("write")[0] - first[1] == 4
    gaps = [[cycle - issues[0][0] for cycle, _ in issues] for issues in (mine.issues(), plain.issues())]
    assert [one - other for one, other in zip(*gaps, strict=True)][:3] == [0, 1, 2]


_COMMON = ("warps", "lanes", "source_slots", "rows", "alu_latency", "register_names")


def test_a_merge_asks_in_the_second_cycle_then_takes_one_and_searches_behind_it() -> None:
    bench = Bench(make())
    bench.settle(a_result(3, 1, row=1))
    bench.step({0: a_result(3, 3, HALF, row=2)})
    bench.steps(6)
    assert (bench.when("merge"), bench.when("search"), bench.when("stored")) == ([3], [5], [6])
    assert bench.copy(3) == merged(1, 1, 2, HALF)


def test_a_merge_waits_for_a_bank_that_a_higher_port_takes() -> None:
    """R3 is in bank 1, as R5 is."""
    bench = Bench(make())
    bench.settle(a_result(3, 1, row=1))
    bench.step({1: a_result(5, 1), 0: a_result(3, 3, HALF, row=2)})
    bench.steps(7)
    assert bench.when("stored") == [3, 7] and bench.when("merge") == [4]


def test_a_partial_write_of_a_register_that_is_nowhere_clears_other_lanes() -> None:
    """It held value 1 before it died; that is not read again."""
    bench = Bench(make("packing_virtual"))
    bench.settle(a_result(3, 1, row=1))
    bench.file.stages.release(bench.entry(3))
    bench.file.table.unmap(0, 3)
    bench.step()
    assert decided(bench, a_result(3, 2, HALF, row=2)) == {0: ALLOCATE}
    assert bench.copy(3) == merged(POISON, 1, 2, HALF)


def test_the_highest_port_searches_and_others_wait() -> None:
    bench = Bench(make())
    bench.step({0: a_result(3, 1), 1: a_result(4, 1), 2: a_result(6, 2)})
    bench.steps(5)
    assert [fields["search"] for fields in bench.fields[2:5]] == [0b100, 0b010, 0b001]
    assert [fields["search_wait"] for fields in bench.fields[2:5]] == [0b011, 0b001, 0]
    assert bench.file.counters["search_waits"] == 3
    assert [bench.entry(register) for register in (3, 4, 6)] == [
        Mapped(1, 0, 0b0001), Mapped(0, 0, 0b0100), Mapped(0, 0, 0b0011),
    ]  # fmt: skip


def test_writes_in_place_pass_a_change_and_another_change_waits() -> None:
    bench = Bench(make())
    bench.settle(a_result(2, 2), a_result(3, 4))
    bench.step({0: a_result(2, 2), 1: a_result(3, 1), 2: a_result(4, 1)})
    bench.step()
    fields = bench.step()
    assert fields["decision"] == IN_PLACE | ALLOCATE << 6 and fields["table_writes"] == 1
    assert (fields["search"], fields["search_wait"]) == (0b100, 0b010)
    fields = bench.step()
    assert fields["decision"] == SHRINK << 3 and fields["table_writes"] == 1 << 2 and fields["search"] == 0b010


def test_a_write_leaves_one_read_of_its_memory() -> None:
    """R1, R3 and R5 have their entries in memory 1."""
    bench = Bench(make())
    bench.step({2: a_result(5, 1)})
    bench.step()
    fields = bench.step({1: a_result(3, 1), 0: a_result(1, 1)})
    assert fields["table_writes"] == fields["table_reads"] == 1 << 2
    assert (fields["write"], fields["table_wait"]) == (0b010, 0b001), "the lower port waits"
    assert bench.step()["write"] == 0b001


def test_what_one_frees_the_next_one_takes() -> None:
    """R2 shrinks in a row in which R4 fits, if it comes later."""
    bench = Bench(make())
    bench.settle(a_result(2, 4))
    decided(bench, a_result(4, 1), a_result(2, 1))
    assert bench.entry(4) == Mapped(0, 0, 0b0010)
    bench.settle(a_result(2, 4))
    assert bench.entry(2) == Mapped(0, 1, 0b1111)
    decided(bench, a_result(2, 1), a_result(6, 4))
    assert bench.entry(6) == Mapped(0, 2, 0b1111), "it goes first"


def test_a_value_that_grows_may_return_to_its_row() -> None:
    bench = Bench(make())
    bench.settle(a_result(2, 3), a_result(4, 1))
    assert decided(bench, a_result(2, 4)) == {0: RESIZE}
    assert bench.entry(2) == Mapped(0, 1, 0b1111)
    assert decided(bench, a_result(4, 4)) == {0: RESIZE}
    assert bench.entry(4) == Mapped(0, 0, 0b1111), "its own slice is free for it, and those that R2 left"


@pytest.mark.parametrize(("side", "mask"), [(RIGHT, 0b0001), (LEFT, 0b1000)])
def test_a_register_shrinks_to_its_side(side: int, mask: int) -> None:
    cfg = make("corf_plus")
    result = run_packed(cfg, valued([tell(sides(0, {3: side})), put(3, 0x12345678), put(3, 1), get(3)]))
    masks = [fields["target"] >> cfg.bank_bits + cfg.row_bits & 15 for fields in result.fields if fields["decision"]]
    assert masks == [0b1111, mask] and result.model.operands_checked == 1


def test_both_registers_of_a_pair_grow_in_one_cycle() -> None:
    """The one that goes second goes by where its partner was."""
    bench = a_pair()
    bench.settle(a_result(2, 1), a_result(3, 1))
    assert (bench.entry(2), bench.entry(3)) == (Mapped(0, 0, 0b0001), Mapped(0, 0, 0b1000))
    assert decided(bench, a_result(2, 4), a_result(3, 4)) == {0: RESIZE, 1: RESIZE}
    assert bench.entry(3) == Mapped(1, 0, 0b1111), "beside R2 there is no room"
    assert bench.entry(2) == Mapped(0, 0, 0b1111)
    assert bench.file.counters["pair_failed"] == 1


def a_pair() -> Bench:
    """A file that knows that R2 and R3 are a pair."""
    bench = Bench(make("corf"))
    bench.file.operand(pairs(bench.cfg, (2, 3)).operand)
    bench.step()
    return bench


def test_a_result_waits_in_x_for_who_writes_its_partner() -> None:
    bench = a_pair()
    bench.step({0: a_result(2, 1)})
    bench.step()
    fields = bench.step({0: a_result(3, 1)})
    assert fields["decision"] == ALLOCATE and fields["table_wait"] == 1 and not fields["write"]
    assert bench.step()["write"] == 1
    bench.steps(4)
    assert bench.entry(3) == Mapped(0, 0, 0b1000)


def test_a_result_in_t_learns_where_its_partner_goes() -> None:
    """R2 changes in 2, when R3 is in T and goes on to W0. It has read that R2 is nowhere."""
    bench = a_pair()
    bench.step({0: a_result(2, 1)})
    assert bench.step({0: a_result(3, 1)})["write"] == 1
    assert bench.step()["decision"] == ALLOCATE
    assert bench.step()["with_partner"] == 1
    assert bench.entry(3) == Mapped(0, 0, 0b1000)


def test_a_result_that_stays_in_t_learns_it_too() -> None:
    """R5 waits in W0 for R4, R7 and R2, which change before it; R3 is behind it in T all the time.

    R2 leaves the row that it had with R3, and has the next free one alone. R3 could grow in the old row.
    """
    bench = a_pair()
    bench.settle(a_result(2, 3), a_result(3, 1))
    assert (bench.entry(2), bench.entry(3)) == (Mapped(0, 0, 0b0111), Mapped(0, 0, 0b1000))
    bench.step({0: a_result(5, 1), 1: a_result(2, 4), 2: a_result(4, 1)})
    bench.step({0: a_result(3, 2), 2: a_result(7, 1)})
    fields = bench.steps(3)
    assert [one["search"] for one in fields] == [0b100, 0b100, 0b010] and fields[-1]["reading"] == 1
    bench.steps(2)
    assert bench.entry(2) == Mapped(0, 2, 0b1111)
    assert bench.entry(3) == Mapped(1, 0, 0b1100), "beside R7 and R5, because there is no room beside R2"


def test_a_result_in_w0_goes_by_where_its_partner_was() -> None:
    """Both come at once, and R3 waits in W0 for R2."""
    bench = a_pair()
    bench.step({0: a_result(3, 1), 2: a_result(2, 1)})
    bench.steps(4)
    assert bench.entry(2) == Mapped(0, 0, 0b0001) and bench.entry(3) == Mapped(1, 0, 0b0001)


def test_a_partner_of_another_warp_does_not_matter_in_t() -> None:
    bench = a_pair()
    bench.step({0: a_result(2, 1, warp=1)})
    bench.step({0: a_result(3, 1)})
    bench.steps(3)
    assert bench.entry(2, warp=1) == Mapped(1, 0, 0b0001) and bench.entry(3) == Mapped(1, 1, 0b0001)


def test_a_result_without_a_register_completes_behind_what_is_stored() -> None:
    bench = Bench(make())
    bench.step({0: a_result(3, 1)})
    bench.steps(2)
    nothing = [Result(0, 0, False, 0, 1 << token, 0, -1) for token in range(2)]
    done = []
    for pins in ({0: nothing[0]}, {0: nothing[1]}, {}, {}):
        assert bench.step(pins)["write"] == (1 if pins else 0)
        done.append([result.tokens for result in bench.completed])
    assert done == [[0], [1], [2], []]
    assert bench.step({0: nothing[0]})["write"] and bench.completed == [nothing[0]]


def test_a_result_that_is_not_stored_completes_two_cycles_later_and_nothing_passes_it() -> None:
    bench = Bench(make("bow_wr+packed"), "bow_wr+packed")
    kept, nothing = a_result(3, 1), Result(0, 0, False, 0, 1, 0, -1)
    done = []
    for pins in ({0: kept}, {0: nothing}, {}, {}, {}):
        bench.step(pins, kept=[0])
        done.append(bench.completed)
    assert done == [[], [], [kept], [nothing], []]


def test_a_result_that_finds_nothing_sets_the_error_flag() -> None:
    """Two banks of two rows; a kernel of five registers would not be let in."""
    bench = Bench(make("virtualization", rows=2, warps=1, register_names=8))
    bench.settle(*[a_result(register, 4) for register in range(4)])
    bench.step({0: a_result(5, 4)})
    assert not any(fields["error"] for fields in bench.steps(2)) and bench.step()["error"]
    assert bench.steps(3)[-1]["deciding"] == 1 and bench.file.counters["error_cycles"] == 4

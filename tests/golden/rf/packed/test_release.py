"""Kills, sweeps, and the start and end of kernels (docs/schemes/corf.md, sections 7 and 8)."""

from __future__ import annotations

import pytest

from tests.golden.machines import Packed, layout_of
from tests.golden.rf.packed.bench import Bench, a_result
from tests.golden.rf.packed.scenario import NAMES, get, killing, make, pairs, put, run_packed, tell, valued
from warpfile.golden import StaleOperand
from warpfile.golden.entry import Entry
from warpfile.golden.rf.contract import Death
from warpfile.golden.rf.renaming import UNMAPPED, Mapped
from warpfile.golden.rf.sweep import Sweep
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.stimulus import Stimulus
from warpfile.spec.workload import Kernel, prepare


def exit_of(bench: Bench) -> Entry:
    """A warp's EXIT."""
    return Entry(prepare(make("packing"), valued([])).beats[0], bench.cfg.port_of)


def test_a_sweep_takes_a_cycle_for_every_mapped_register() -> None:
    bench = Bench(make())
    bench.settle(a_result(0, 1), a_result(7, 4))
    bench.file.launched(Launch(0, 0, 0, 0))
    bench.step()
    bench.file.issued(0, exit_of(bench))
    bench.fields.clear()
    bench.steps(6)
    assert bench.when("swept") == [0, 1, 2, 3], "from the cycle after the EXIT on"
    assert bench.when("sweep_read") == [1, 2] and bench.when("sweep_free") == bench.when("sweep_held") == [2, 3]
    assert [fields["sweep_register"] for fields in bench.fields] == [0, 0, 7, 0, 0, 0]
    assert bench.when("retired") == [3] and bench.fields[3]["retired"] == 1
    assert [fields["used_rows"] for fields in bench.fields] == [2, 2, 2, 1, 0, 0]


def test_warps_are_swept_one_after_the_other_the_lowest_first() -> None:
    bench = Bench(make())
    bench.settle(a_result(3, 1), a_result(3, 1, warp=2))
    for warp in (2, 1, 0):
        bench.file.launched(Launch(warp, 0, 0, 0))
    bench.step()
    for warp in (2, 1):
        bench.file.issued(warp, exit_of(bench))
    bench.fields.clear()
    bench.step()
    bench.file.issued(0, exit_of(bench))
    bench.steps(12)
    assert [(n, fields["retired"]) for n, fields in enumerate(bench.fields) if fields["retired"]] == [
        (1, 0b010), (4, 0b001), (7, 0b100),
    ]  # fmt: skip
    assert bench.when("sweep_read") == [3, 6], "the next one is chosen in the cycle after"


@pytest.mark.parametrize("another", [False, True])
def test_what_a_sweep_holds_goes_before_a_kill_and_the_kill_before_the_next_register(another: bool) -> None:
    sweep_meets_kill(another)


@pytest.mark.plain
def test_a_sweep_that_reads_on_while_a_kill_waits_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    step = Sweep.step
    monkeypatch.setattr(Sweep, "step", lambda sweep, reads, *rest: step(sweep, True, *rest))
    with pytest.raises(AssertionError):
        sweep_meets_kill(True)


def sweep_meets_kill(another: bool) -> Bench:
    """The worked example: warp 3 with R1, R4 and R6, and perhaps R8; a dead register is offered from 4 on."""
    bench = Bench(make("packing_virtual"))
    bench.settle(*[a_result(register, 1, warp=3) for register in (1, 4, 6, *([8] * another))], a_result(3, 1, warp=1))
    death = Death(1, 3, bench.entry(3, warp=1))
    bench.file.launched(Launch(3, 0, 0, 0))
    bench.step()
    bench.fields.clear()
    bench.step()
    bench.file.issued(3, exit_of(bench))
    bench.steps(3)
    while not bench.step(death=death)["killed"]:
        assert not bench.file.died and bench.entry(3, warp=1) != UNMAPPED
    assert bench.file.died and bench.entry(3, warp=1) == UNMAPPED
    bench.steps(4)
    assert bench.when("killed") == [6]
    assert bench.when("sweep_read") == [2, 3, 4, *([7] * another)]
    assert bench.when("sweep_free") == bench.when("sweep_held") == [3, 4, 5, *([8] * another)]
    assert bench.when("retired") == ([8] if another else [5])
    assert bench.file.free.used_rows == 0 and bench.file.counters["swept_registers"] == 3 + another
    return bench


def test_a_kill_needs_no_port_of_the_table() -> None:
    """R1, R3 and R5 of warp 0 have their entries in memory 1."""
    bench = Bench(make("packing_virtual"))
    bench.settle(a_result(1, 1))
    fields = bench.step({0: a_result(3, 1), 1: a_result(5, 1)}, death=Death(0, 1, bench.entry(1)))
    assert fields["killed"] and fields["table_reads"] == 2 << 2 and not fields["table_writes"] and bench.file.died


def test_a_result_waits_in_x_for_the_death_of_its_partner() -> None:
    bench = Bench(make("corf_virtual"))
    bench.file.metadata.partner[3], bench.file.metadata.partner[2] = 2, 3
    bench.settle(a_result(2, 1))
    fields = bench.step({0: a_result(3, 1)}, death=Death(0, 2, bench.entry(2)))
    assert fields["killed"] and fields["table_wait"] == 1 and not fields["table_reads"]
    bench.steps(4)
    assert bench.entry(3) == Mapped(1, 0, 0b0001), "the partner is nowhere: a wholly free row of its home bank"


def test_look_ups_come_last() -> None:
    bench = Bench(make())
    bench.settle(a_result(1, 1), a_result(2, 2))
    bench.step({0: a_result(3, 1)}, ask=(1, 5, 2))
    assert bench.answers == [Mapped(1, 0, 0b0001), None, Mapped(0, 0, 0b0011)]
    assert bench.fields[-1]["table_reads"] == 1 | 2 << 2
    bench.step()
    bench.step(ask=(1, 7, 5))
    assert bench.answers[1:] == [None, None] and bench.answers[0] is not None, "the search of R3 writes memory 1"


@pytest.mark.parametrize("scheme", ["packing", "corf_plus"])
def test_nothing_comes_before_the_first_kernel(scheme: str) -> None:
    cfg = make(scheme, warps=5)
    result = run_packed(cfg, valued([put(1, 1)]))
    assert not cfg.gives.starts and all(fields["started"] for fields in result.fields)
    assert result.when("kernel") == [0] and result.when("launch") == [1]


def test_a_register_of_the_warp_before_is_nowhere() -> None:
    """Two warps in one slot; the second one reads what it has not written."""
    cfg = make(warps=1, ctas=1)
    result = run_packed(cfg, valued([put(1, 5), get(1)], [get(1)], ctas=(0, 1)))
    assert result.model.counters["unmapped_reads"] == 1 and result.model.counters["swept_registers"] == 1


def test_a_kernel_waits_until_the_last_warp_is_swept() -> None:
    """It may be taken in the cycle after the last write."""
    cfg = make()
    layout = layout_of("corf", cfg)
    result = run_packed(cfg, valued([put(1, 1), get(1)]))
    machine = result.model
    assert isinstance(machine, Packed) and machine.file.kernel_ready
    (retired,) = result.when("retired")
    assert retired == result.when("swept")[-1] == result.cycles - 2, "quiet is seen in the cycle after"
    assert result.fields[-1]["quiet"] and not result.fields[retired]["quiet"]
    word = machine.step(Stimulus(results=[None] * cfg.write_ports, kernel=Kernel(3, {})))
    assert layout.unpack(word)["kernel"]


def test_readiness_says_what_is_under_way() -> None:
    bench = Bench(make())
    assert bench.file.kernel_ready and bench.file.launch_ready and bench.file.quiet
    bench.file.launched(Launch(0, 0, 0, 0))
    bench.step({0: a_result(3, 1)})
    assert not bench.file.kernel_ready and not bench.file.quiet
    assert not any((bench.step(), bench.file.quiet)[1] for _ in range(2)), "T and W0 are not empty"
    bench.step()
    assert bench.file.quiet and not bench.file.kernel_ready
    bench.file.issued(0, exit_of(bench))
    for _ in range(3):
        bench.step()
        assert bench.file.quiet == bench.file.kernel_ready == bool(bench.fields[-1]["retired"])
    assert bench.file.quiet and bench.file.kernel_ready


def test_a_new_kernel_forgets_metadata_in_the_cycle_after() -> None:
    bench = Bench(make("corf"))
    bench.file.metadata.partner[3] = 2
    bench.file.kernel(Kernel(5, {}))
    bench.step({0: a_result(3, 1)})
    assert bench.fields[-1]["table_reads"] == 1 | 1 << 2, "X still reads the entry of R2"
    bench.step({1: a_result(3, 1, warp=1)})
    assert bench.fields[-1]["table_reads"] == 1


@pytest.mark.parametrize("scheme", NAMES)
def test_no_slice_is_lost_over_many_warps(scheme: str) -> None:
    """Twelve warps in four slots, which leave registers of every size behind."""
    cfg = make(scheme, rows=32, ctas=4)
    program = [put(register, (1, 0x1234, 0x123456, 0x12345678)[register % 4]) for register in range(16)]
    trace = valued(*[program] * 12, ctas=range(12))
    result = run_packed(cfg, killing(cfg, trace) if cfg.virtualization else trace)
    assert isinstance(result.model, Packed)
    free = result.model.file.free
    assert free.used_rows == free.reserved_rows == 0 and result.model.counters["swept_registers"] == 12 * 16
    assert max(fields["used_rows"] for fields in result.fields) > 1
    assert not result.model.counters["error_cycles"]


def test_a_row_that_is_reserved_for_a_partner_that_never_comes_is_free_behind_the_exit() -> None:
    cfg = make("corf")
    result = run_packed(cfg, valued([tell(pairs(cfg, (1, 2))), put(1, 1), get(1)]))
    assert isinstance(result.model, Packed)
    assert {fields["reserved_rows"] for fields in result.fields} == {0, 1}
    free = result.model.file.free
    assert free.used_rows == free.reserved_rows == 0


def test_reading_a_register_that_was_given_up_is_no_value_of_the_trace() -> None:
    bench = Bench(make("packing_virtual"))
    bench.settle(a_result(3, 2, row=7))
    entry = bench.entry(3)
    assert bench.copy(3) == 7
    for mask in (0b0001, 0b0010, 0b0110, 0b0111):
        others = Mapped(entry.bank, entry.row, mask)
        assert bench.file.unpacked(others, 0, 3) < -1, "other slices than were written are no value"
    bench.file.stages.release(entry)
    assert bench.file.unpacked(entry, 0, 3) < -1


def test_a_register_that_is_killed_and_read_again_is_found_out() -> None:
    cfg = make("packing_virtual")
    program = [put(3, 0x1234), get(3), *[get()] * 12, get(3)]
    assert run_packed(cfg, killing(cfg, valued(program))).model.operands_checked == 2
    with pytest.raises(StaleOperand):
        run_packed(cfg, killing(cfg, valued(program), (1, 0)))

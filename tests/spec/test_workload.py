"""A trace becomes beats, or the message says why it cannot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.golden.scenario import BRA, EXIT, FULL, hand_trace, op
from warpfile.schemes import SCHEMES, find
from warpfile.spec.beat import NO_VALUE, BeatPacker, decode_fields, pack_beat, pack_fields
from warpfile.spec.config import Config
from warpfile.spec.stress import stress_trace
from warpfile.spec.trace import LANES, NO_ROW, Kind, Port, Trace
from warpfile.spec.workload import WorkloadError, prepare, streams


def test_sources_are_made_distinct_and_cut() -> None:
    wide = op((5, 2, 5, 9, 2, 7), 4, dest_count=2, token_reads=3, token_writes=8)
    beats = prepare(Config(source_slots=3), hand_trace([wide])).warps[0]
    assert [b.sources for b in beats] == [(5, 2, 9), (7,), ()]
    assert [(b.dest_count, b.token_writes, b.token_reads) for b in beats[:2]] == [(0, 0, 3), (2, 8, 3)]
    assert [(b.first, b.last) for b in beats] == [(True, False), (False, True), (True, True)]
    assert [b.payload for b in beats] == [0, 1, 2]


def test_operands_expect_the_value_written_last() -> None:
    first, second = op((), 4, dest_count=2), op((4,), 5)
    beats = prepare(Config(), hand_trace([first, second, op((4, 5, 6), 7)])).beats
    assert [b.expected for b in beats] == [(), (0,), (0, 2, NO_VALUE), ()]
    assert [b.result_row for b in beats] == [0, 2, 3, NO_VALUE]


def test_a_result_without_a_value_is_not_expected() -> None:
    writes = [op((), 4, dest_count=2), op((), 4), op((4, 5), 6)]
    trace = hand_trace(writes, value_row=np.array([0, NO_ROW, NO_ROW, NO_ROW]))
    assert [b.expected for b in prepare(Config(), trace).beats][2] == (NO_VALUE, 1)


@pytest.mark.parametrize("row", [NO_ROW, 7])
def test_an_instruction_that_no_lane_executes_changes_no_expectation(row: int) -> None:
    trace = hand_trace([op((), 4), (op((), 4), 0), op((4,), 6)], value_row=np.array([0, row, 1, NO_ROW]))
    beats = prepare(Config(), trace).beats
    assert beats[2].expected == (0,)
    assert beats[1].result_row == NO_VALUE


def test_only_the_last_exit_ends_a_warp() -> None:
    kinds = [b.kind for b in prepare(Config(), hand_trace([(EXIT, 1), op((2,), 3)])).beats]
    assert kinds == [Kind.BRANCH, Kind.NORMAL, Kind.EXIT]


def test_streams_are_fresh_copies() -> None:
    workload = prepare(Config(), hand_trace([BRA]))
    streams(workload)[0].clear()
    assert len(streams(workload)[0]) == 2


def test_a_stream_must_not_be_empty() -> None:
    trace = hand_trace([], [], warp_start=[0, 1, 1])
    with pytest.raises(WorkloadError, match="warp 1 of hand must execute at least an EXIT, but its stream is empty"):
        prepare(Config(), trace)


def test_a_stream_must_end_in_an_exit() -> None:
    trace = hand_trace([op((2,), 3, text="FADD", offset=32)], warp_start=[0, 1])
    with pytest.raises(WorkloadError, match="warp 0 of hand must end in an EXIT, not in 'FADD' at 0x20"):
        prepare(Config(), trace)


def test_a_guarded_exit_may_end_a_stream() -> None:
    guarded = op(port=Port.NONE, kind=Kind.BRANCH, opcode="EXIT", text="@P0 EXIT", token_reads=1)
    beats = prepare(Config(), hand_trace([guarded, guarded], warp_start=[0, 2])).beats
    assert [b.kind for b in beats[:2]] == [Kind.BRANCH, Kind.EXIT]


@pytest.mark.parametrize("opcode", ["BRA", "RET.REL.NODEC", "KILL"])
def test_no_other_branch_may_end_a_stream(opcode: str) -> None:
    trace = hand_trace([op(port=Port.NONE, kind=Kind.BRANCH, opcode=opcode, text=opcode)], warp_start=[0, 1])
    with pytest.raises(WorkloadError, match=f"warp 0 of hand must end in an EXIT, not in '{opcode}' at 0x0"):
        prepare(Config(), trace)


@pytest.mark.parametrize("kind", [Kind.EXIT, Kind.BRANCH])
def test_the_exit_of_a_warp_takes_no_port(kind: Kind) -> None:
    exits = op((2,), port=Port.LSU, kind=kind, opcode="EXIT", text="EXIT R2", offset=16)
    with pytest.raises(WorkloadError, match=r"warp 0 of hand must end on port NONE, not on LSU \('EXIT R2' at 0x10\)"):
        prepare(Config(), hand_trace([exits], warp_start=[0, 1]))


def test_registers_must_have_names() -> None:
    with pytest.raises(WorkloadError, match="register_names must be at least 10 for hand, not 8"):
        prepare(Config(register_names=8), hand_trace([op((9,), 1)]))


def test_a_cta_must_fit() -> None:
    with pytest.raises(WorkloadError, match="a CTA of hand has 3 warps of 4 registers, but only 2 such warps fit"):
        prepare(Config(warps=2), hand_trace([op((3,))], [], []))
    with pytest.raises(WorkloadError, match="but only 1 such warps fit"):
        prepare(Config(rows=2, banks=2), hand_trace([op((3,))], []))


def without_values(trace: Trace) -> Trace:
    rows, values = np.full(trace.records, NO_ROW), np.zeros((0, LANES), dtype=np.uint32)
    return replace(trace, source="accelsim", value_row=rows, values=values, written=np.zeros(0, dtype=np.uint32))


@pytest.mark.parametrize(
    ("scheme", "preset"),
    [
        ("corf", "fermi"),
        ("corf_plus", "fermi"),
        ("packing", "fermi"),
        ("packing_virtual", "fermi"),
        ("larf", "pascal_larf"),
    ],
)
def test_a_scheme_that_decides_by_values_needs_them(scheme: str, preset: str) -> None:
    cfg, trace = find(scheme).configuration(preset), without_values(hand_trace([op((1,), 2)]))
    with pytest.raises(
        WorkloadError, match="hand must have register values, by which this scheme decides, and this trace"
    ):
        prepare(cfg, find(scheme).annotated(cfg, trace))


@pytest.mark.parametrize("scheme", ["baseline", "virtualization"])
def test_others_do_not(scheme: str) -> None:
    cfg, trace = find(scheme).configuration("fermi"), without_values(hand_trace([op((1,), 2)]))
    assert prepare(cfg, find(scheme).annotated(cfg, trace)).beats


def test_shared_memory_must_suffice() -> None:
    with pytest.raises(WorkloadError, match="shared_bytes must be at least 100 for hand, not 99"):
        prepare(Config(shared_bytes=99), hand_trace([], shared_bytes=100))


@pytest.mark.parametrize(("dest", "count"), [(1, 2), (2, 4), (2, 3), (0, 5)])
def test_destinations_must_be_aligned(dest: int, count: int) -> None:
    with pytest.raises(WorkloadError, match="must write one, or an aligned two to four registers"):
        prepare(Config(), hand_trace([op((), dest, dest_count=count)]))


def test_payloads_must_number_all_beats() -> None:
    trace = stress_trace(0, length=40)
    assert prepare(Config(payload_bits=16), trace).beats[-1].payload < 1 << 16


def test_the_decode_record_holds_what_the_machine_needs() -> None:
    cfg = Config(source_slots=2, lanes=4, ports=1)
    beat = prepare(cfg, hand_trace([(op((5, 3), 4, port=Port.LSU), FULL << 4 & FULL)])).beats[0]
    word, values = pack_beat(cfg, beat, 6), {}
    for name, width in decode_fields(cfg):
        values[name] = word & ((1 << width) - 1)
        word >>= width
    assert (values["warp"], values["port"], values["executes"], values["mask"]) == (6, 0, 1, 0)
    assert (values["source_valid"], values["sources"]) == (3, 3 << 8 | 5)


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("changes", [{}, {"ports": 1, "lanes": 2}])
def test_beats_are_packed_in_the_same_way_by_both_packers(name: str, changes: dict[str, int]) -> None:
    scheme = SCHEMES[name]
    if name in ("modern", "larf", "sticky"):  # whose fixed latencies, or loads, have a port of their own
        changes = {one: value for one, value in changes.items() if one != "ports"}
    cfg = scheme.configuration("tiny", **changes)
    trace = stress_trace(1, warps_per_cta=[3], ctas=2, length=80)
    beats, packer = prepare(cfg, scheme.annotated(cfg, trace)).beats, BeatPacker(cfg)
    assert len({beat.offset for beat in beats}) < len(beats)
    for beat in beats:
        assert packer.pack(beat, beat.payload % cfg.warps) == pack_beat(cfg, beat, beat.payload % cfg.warps)


def test_a_branch_is_nothing_special_to_the_machine() -> None:
    cfg = Config()
    beats = prepare(cfg, hand_trace([BRA, op(port=Port.NONE)])).beats
    assert pack_beat(cfg, beats[0], 0) ^ pack_beat(cfg, beats[1], 0) == pack_fields(
        decode_fields(cfg), dict.fromkeys((name for name, _ in decode_fields(cfg)), 0) | {"payload": 1}
    )


def test_registers_need_an_execution_port() -> None:
    with pytest.raises(WorkloadError, match="must have an execution port"):
        prepare(Config(), hand_trace([op([1], port=Port.NONE)]))


def test_a_barrier_has_no_execution_port() -> None:
    with pytest.raises(WorkloadError, match="must have no execution port"):
        prepare(Config(), hand_trace([op([1], kind=Kind.BARRIER)]))

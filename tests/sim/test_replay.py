"""The replayed lockstep finds what the interactive one finds, and lets nothing pass that it has not compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import warpfile.sim.build as build
import warpfile.sim.harness as harness_module
import warpfile.sim.runner as runner
from tests.golden.scenario import hand_trace, op
from warpfile.schemes import SCHEMES, Scheme
from warpfile.sim.build import Harness, build_harness
from warpfile.sim.harness import write_values
from warpfile.sim.initial_state import PLAIN, InitialState
from warpfile.sim.plan import HANG_CYCLES, Outcome
from warpfile.sim.records import StreamFormat
from warpfile.sim.replay import FOUND_VARIABLE, Found
from warpfile.sim.replay_host import Replayed, outcome_of, replay
from warpfile.sim.runner import run_module, simulate
from warpfile.sim.simulators import SimulatorError
from warpfile.sim.stimulus import sections
from warpfile.sim.stream import GoldenSide
from warpfile.spec.annotation import on_last_beat
from warpfile.spec.beat import dispatch_fields, field_bits
from warpfile.spec.pins import rules
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stress import stress_trace
from warpfile.spec.workload import Workload, prepare

BASELINE = SCHEMES["baseline"]
CFG = BASELINE.configuration("tiny")
LAYOUT = ProbeLayout(BASELINE.probes(CFG))
FORMAT = StreamFormat(CFG, LAYOUT)
#: Cycle from which on a planted difference is there; no beat goes to the last warp in it, which would break a rule.
PLANTED = 200


@pytest.fixture(scope="module")
def workload() -> Workload:
    return prepare(CFG, stress_trace(7, warps_per_cta=[2, 3], ctas=3, length=40, profile="mixed"))


@pytest.fixture(scope="module")
def harness(root: Path, workload: Workload) -> Harness:
    return build_harness(BASELINE, CFG, workload, "icarus", root / "build")


def golden_side(workload: Workload, scheme: Scheme = BASELINE) -> GoldenSide:
    return GoldenSide(scheme, CFG, workload, HANG_CYCLES)


@pytest.fixture(scope="module")
def records(workload: Workload) -> list[bytes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warpfile.sim.stream.BLOCK", 1)
        return list(golden_side(workload).blocks())


def silent(*words: object) -> None:
    """Progress that is not shown."""


@pytest.fixture
def found(harness: Harness, workload: Workload, tmp_path: Path) -> Callable[[list[bytes]], Found]:
    """Runs the harness on a stream that is a file."""

    def run(stream: list[bytes]) -> Found:
        (tmp_path / "stream").write_bytes(b"".join(stream))
        plusargs = [write_values(CFG, workload, tmp_path / "values"), f"+feed={tmp_path / 'stream'}"]
        result = tmp_path / "found.json"
        run_module(harness, "warpfile.sim.replay", tmp_path, plusargs, {FOUND_VARIABLE: str(result)}, result)
        return Found.load(result)

    return run


# What differs is found, and explained as before.


@pytest.fixture
def objections(monkeypatch: pytest.MonkeyPatch) -> list[Replayed]:
    """What the replayed runs had to say."""
    seen: list[Replayed] = []
    monkeypatch.setattr(runner, "replay", lambda *rest: seen.append(replay(*rest)) or seen[-1])
    return seen


def both_modes(
    harness: Harness, workload: Workload, objections: list[Replayed], hang_cycles: int = HANG_CYCLES
) -> Outcome:
    """The outcome of a run that the replay objects to: it has to be that of the interactive run."""
    outcome, _ = simulate(harness, workload, silent, hang_cycles=hang_cycles)
    interactive, _ = simulate(harness, workload, silent, hang_cycles=hang_cycles, interactive=True)
    assert len(objections) == 1 and objections[0].outcome is None
    ours, theirs = dataclasses.asdict(outcome), dataclasses.asdict(interactive)
    assert ours["mismatches"] == 1
    assert {name for name in ours if ours[name] != theirs[name]} <= {"seconds"}
    return outcome


def planted(name: str, width: int, flipped: int) -> Callable[[str], str]:
    """A change of the harness: what comes from a pin has some bits flipped."""
    raw = f"  wire [{width - 1}:0] raw_{name};\n"
    wire = f"  wire [{width - 1}:0] {name} = raw_{name} ^ (cycle >= {PLANTED} ? {width}'h{flipped:x} : {width}'h0);\n"

    def change(text: str) -> str:
        declared = f"  wire [{width - 1}:0] {name};\n"
        # The machine comes first; a checker beside it sees what it sees.
        assert text.count(declared) == 1 and text.index(f"({name})") > text.index("dut (")
        changed = text.replace(declared, raw + wire.replace("cycle >=", "late >="))
        return changed.replace(f"({name})", f"(raw_{name})", 1)

    return lambda text: (
        change(text)
        .replace("  reg [31:0] cycle = 0;\n", "")
        .replace(
            "  reg [STIMULUS-1:0] inputs = 1;\n",
            "  reg [31:0] cycle = 0;\n  wire [31:0] late = cycle;\n  reg [STIMULUS-1:0] inputs = 1;\n",
        )
    )


RECORD_BITS = field_bits(dispatch_fields(CFG))


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize(
    ("name", "width", "flipped", "field"),
    [
        ("probe", LAYOUT.width, 1 << LAYOUT.offset["resident"], "resident"),
        ("probe", LAYOUT.width, 1 << LAYOUT.width - 1, LAYOUT.probes[-1].name),
        ("operands0", CFG.data_bits * CFG.source_slots, 1 << 32 + 5, "operand"),
        ("operands0", CFG.data_bits * CFG.source_slots, 1 << CFG.data_bits + 31, "operand"),
        ("dispatch0", RECORD_BITS, 1 << CFG.warp_bits, "dispatched record"),
        ("pin_decode_ready", CFG.warps, 1 << CFG.warps - 1, "integration ports"),
        ("pin_issue_warp", CFG.warp_bits, 1, "integration ports"),
        ("pin_retired", CFG.warps, 2, "integration ports"),
    ],
    ids="first_probe last_probe lane_1 second_operand record decode_ready issue_warp retired".split(),
)
def test_a_planted_difference_is_reported_as_by_the_interactive_run(
    root: Path,
    workload: Workload,
    objections: list[Replayed],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    width: int,
    flipped: int,
    field: str,
) -> None:
    change, original = planted(name, width, flipped), harness_module.harness_verilog
    monkeypatch.setattr(build, "harness_verilog", lambda *given: change(original(*given)))
    harness = build_harness(BASELINE, CFG, workload, "icarus", root / "build")
    outcome = both_modes(harness, workload, objections)
    assert outcome.first_mismatch and field in outcome.first_mismatch["fields"]  # type: ignore[operator]
    assert objections[0].cycle == outcome.first_mismatch["cycle"] >= PLANTED  # type: ignore[operator]


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize(
    ("pin", "lie", "rule"),
    [
        ("decode_ready", "0", "decode_room"),
        ("resident", "0", "decode_slot"),
        ("retired", "0", "launch_slot launch_cta"),  # for it the CTA before is still there, too
        ("launch__ready", "1'b0", "launch_held"),
        ("result__0__ready", "1'b0", "result_held"),
    ],
)
def test_a_driver_that_breaks_a_rule_of_the_pins_is_found(
    root: Path,
    workload: Workload,
    objections: list[Replayed],
    monkeypatch: pytest.MonkeyPatch,
    pin: str,
    lie: str,
    rule: str,
) -> None:
    """The checker is told another level than the driver goes by, so that for it the driver is wrong."""
    original = harness_module.harness_verilog

    def lied(*given: Any) -> str:
        machine, checker, rest = original(*given).partition("_checks #")
        assert rest.count(f".{pin}(pin_{pin})") == 1
        return machine + checker + rest.replace(f"(pin_{pin})", f"({lie})")

    monkeypatch.setattr(build, "harness_verilog", lied)
    outcome = both_modes(build_harness(BASELINE, CFG, workload, "icarus", root / "build"), workload, objections)
    assert outcome.first_mismatch
    fault = outcome.first_mismatch["fields"]["rules of the pins"]  # type: ignore[index]
    assert fault["lanes"] == sum(1 << rules(CFG).index(one) for one in rule.split())


@pytest.mark.needs("iverilog")
def test_a_hang_is_reported_as_by_the_interactive_run(
    harness: Harness, workload: Workload, objections: list[Replayed]
) -> None:
    outcome = both_modes(harness, workload, objections, hang_cycles=1)
    assert outcome.first_mismatch and "hang" in outcome.first_mismatch["fields"]  # type: ignore[operator]


@pytest.mark.needs("iverilog")
def test_an_objection_of_the_golden_model_is_reported_as_by_the_interactive_run(
    root: Path, objections: list[Replayed]
) -> None:
    """A result that was meant for the window only is read when it has left it."""
    scheme = SCHEMES["bow_wr"]
    cfg = scheme.configuration("tiny")
    trace = hand_trace([op((), 5), *(op((), 6 + k) for k in range(4)), op((5,), 1)])
    words = [2, *[3] * (trace.instructions - 1)]
    hinted = dataclasses.replace(
        trace,
        hints=on_last_beat(trace, cfg.source_slots, words),
        annotation=scheme.annotated(cfg, trace).annotation,
    )
    workload = prepare(cfg, hinted)
    harness = build_harness(scheme, cfg, workload, "icarus", root / "build")
    outcome = both_modes(harness, workload, objections)
    assert outcome.first_mismatch and "golden" in outcome.first_mismatch["fields"]  # type: ignore[operator]
    assert "value" in objections[0].objection


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize("initial_state", [PLAIN, InitialState(reset_after=100), InitialState(reset_after=10_000)])
def test_a_run_without_a_difference_has_the_same_outcome_in_both_modes(
    harness: Harness, workload: Workload, initial_state: InitialState
) -> None:
    replayed, _ = simulate(harness, workload, silent, initial_state=initial_state)
    interactive, _ = simulate(harness, workload, silent, interactive=True, initial_state=initial_state)
    assert not replayed.mismatches and replayed.lanes_checked
    ours, theirs = dataclasses.asdict(replayed), dataclasses.asdict(interactive)
    assert {name for name in ours if ours[name] != theirs[name]} <= {"seconds"}


def test_two_runs_that_do_not_agree_are_an_error() -> None:
    replayed = Replayed(None, "cycle 7 differs", 7)
    replayed.must_agree(Outcome(mismatches=1, first_mismatch={"cycle": 7}))
    with pytest.raises(SimulatorError, match="cycle 7 differs; the interactive run finds no difference"):
        replayed.must_agree(Outcome())
    with pytest.raises(SimulatorError, match="differs in cycle 8"):
        replayed.must_agree(Outcome(mismatches=1, first_mismatch={"cycle": 8}))


# Streams that are not what they should be.


def flipped(record: bytes, bit: int) -> bytes:
    """A record with one bit of its head flipped."""
    size = FORMAT.head_size
    head = int.from_bytes(record[:size], "big") ^ 1 << bit
    return head.to_bytes(size, "big") + record[size:]


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize("place", [0, 0.4, 1])
def test_one_flipped_bit_of_a_stream_is_found_in_its_cycle(
    found: Callable[[list[bytes]], Found], records: list[bytes], place: float
) -> None:
    cycle = int(place * (len(records) - 2))
    bit = int(place * (LAYOUT.width - 1))
    changed = flipped(records[cycle], FORMAT.want_at + bit)
    result = found([*records[:cycle], changed, *records[cycle + 1 :]])
    assert result.differs and result.compared == cycle and not result.equal
    assert int(result.rtl, 2) ^ int(result.golden, 2) == 1 << bit


@pytest.mark.needs("iverilog")
def test_a_whole_stream_is_equal_and_a_wrong_row_is_not(
    found: Callable[[list[bytes]], Found], records: list[bytes]
) -> None:
    result = found(records)
    assert result.equal and result.compared == len(records) - 1
    changed = {cycle: wrong for cycle, record in enumerate(records) if (wrong := with_wrong_row(record))}
    result = found([changed.get(cycle, record) for cycle, record in enumerate(records)])
    assert result.differs and result.rtl.startswith("1") and result.compared - 1 in changed
    assert result.fault["slot"] == 0 and result.fault["port"] == 0


def with_wrong_row(record: bytes) -> bytes | None:
    """A record that ends with what leaves at port 0, with another row for its first operand."""
    head, word = int.from_bytes(record[: FORMAT.head_size], "big"), int.from_bytes(record, "big")
    first = head >> list(sections(CFG)).index("due0") & (1 << CFG.ports) - 1
    if first != 1 or not word >> RECORD_BITS & 0xFFFFFFFE:
        return None
    return (word ^ 1 << RECORD_BITS).to_bytes(len(record), "big")


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize("lost", ["end", "half", "most", "all"])
def test_a_stream_that_was_cut_short_is_not_a_pass(
    found: Callable[[list[bytes]], Found], records: list[bytes], lost: str
) -> None:
    whole = b"".join(records[:-1])
    kept = {"end": whole, "half": whole[: len(whole) // 2 + 1], "most": b"".join(records[:3]), "all": b""}[lost]
    result = found([kept])
    assert not result.equal and not result.ended and not result.differs


@pytest.mark.needs("iverilog")
def test_a_stream_that_promises_more_cycles_is_not_a_pass(
    found: Callable[[list[bytes]], Found], records: list[bytes]
) -> None:
    result = found([*records[:-1], FORMAT.end(len(records))])
    assert result.ended and not result.equal


# Sides that fail.


@pytest.fixture
def ended(workload: Workload) -> GoldenSide:
    side = golden_side(workload)
    for _ in side.blocks():
        pass
    return side


def whole(side: GoldenSide) -> Found:
    """What a harness finds that has compared everything."""
    cycles, operands = side.environment.cycle, side.model.operands_checked
    return Found(cycles, True, cycles, False, "0", "0", False, {}, operands, operands, 1.0)


def test_only_a_run_in_which_everything_was_compared_is_a_pass(ended: GoldenSide) -> None:
    good = whole(ended)
    assert outcome_of(ended, good).outcome
    for change in (
        {"compared": good.compared - 1},
        {"compared": good.compared - 1, "announced": good.announced - 1},
        {"ended": False},
        {"differs": True},
        {"faulty": True},
        {"operands_checked": good.operands_checked - 1},
    ):
        judged = outcome_of(ended, dataclasses.replace(good, **change))  # type: ignore[arg-type]
        assert judged.outcome is None and judged.objection, change


def test_a_counter_that_the_observation_words_do_not_confirm_is_no_pass(ended: GoldenSide) -> None:
    good = whole(ended)
    ended.model.counts.beats += 1  # type: ignore[attr-defined]
    assert outcome_of(ended, good).objection == "counters are wrong: beats"


@pytest.mark.needs("iverilog")
def test_a_golden_side_that_dies_is_an_error(harness: Harness, workload: Workload, tmp_path: Path) -> None:
    side = golden_side(workload)
    blocks = side.blocks

    def dying() -> Iterator[bytes]:
        yield next(blocks())[:1000]
        raise RuntimeError("out of memory")

    side.blocks = dying  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="out of memory"):
        replay(harness, side, tmp_path, [write_values(CFG, workload, tmp_path / "values")], silent, run_module)


@pytest.mark.needs("iverilog")
def test_a_simulation_that_does_not_start_is_an_error(harness: Harness, workload: Workload, tmp_path: Path) -> None:
    def broken(*given: object) -> None:
        raise SimulatorError("no simulator")

    with pytest.raises(SimulatorError, match="no simulator"):
        replay(harness, golden_side(workload), tmp_path, [], silent, broken)


@pytest.mark.needs("iverilog")
def test_a_simulation_that_does_not_read_everything_is_no_pass(
    harness: Harness, workload: Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warpfile.sim.stream.BLOCK", 2)

    def lazy(harness: Harness, module: str, scratch: Path, plusargs: list[str], env: dict, result: Path) -> None:
        with Path(plusargs[-1].removeprefix("+feed=")).open("rb", buffering=0) as stream:
            stream.read(100)
        Found(2, True, 2, False, "0", "0", False, {}, 0, 0, 1.0).save(result)

    side = golden_side(workload)
    judged = replay(harness, side, tmp_path, [], silent, lazy)
    assert judged.outcome is None
    # What the pipe holds may be written before the reader is known to be gone.
    assert not side.complete or judged.objection == f"2 of {side.environment.cycle} cycles were compared"


# One harness for all traces.


@pytest.mark.needs("iverilog")
def test_one_build_serves_short_and_long_traces(root: Path, harness: Harness) -> None:
    long = prepare(CFG, stress_trace(1, warps_per_cta=[3, 1, 2, 4], ctas=60, length=200))
    assert len(long.trace.values) > harness_module.LINES
    assert build_harness(BASELINE, CFG, long, "icarus", root / "build") == harness


@pytest.mark.needs("iverilog")
def test_rows_that_are_not_remembered_are_read_again(
    root: Path, workload: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness_module, "LINES", 2)
    harness = build_harness(BASELINE, CFG, workload, "icarus", root / "build")
    outcome, _ = simulate(harness, workload, silent)
    assert not outcome.mismatches and outcome.operands_checked == outcome.golden_operands_checked > 0

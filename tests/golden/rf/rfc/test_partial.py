"""Lines that know their lanes (docs/schemes/rfc.md, section 3): cycle by cycle, and with one mistake each."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.machines import Rfc
from tests.golden.rf.rfc.scenario import one_warp, rfc_config
from tests.golden.rf.rfc.test_mutants import CAUGHT
from tests.golden.rf.rfc.test_random import partial_case, random_case, watch_rfc
from tests.golden.scenario import NOP, Run, Step, op
from warpfile.golden.copies import ALL_LANES, row_of
from warpfile.golden.rf.banks import Write
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.rfc import RfcConfig

LOW, HIGH = 0x0000FFFF, 0xFFFF0000
CFG = rfc_config(
    warps=4, active_warps=2, cache_entries=4, alu_latency=4, banks=4, collectors=4, partial_results="lanes"
)


def go(*program: Step, **changes: Any) -> Run:
    return one_warp(CFG.replace(**changes), program)


def test_half_a_register_enters_and_serves_who_reads_no_more() -> None:
    result = go((op((), 4), LOW), (op((4,), 5), LOW & 0xFF))
    assert result.when("cache_write")[0] == 7
    assert result.fields[8]["line_lanes"] == LOW
    assert (result.events("check"), result.events("hit")) == ([(9, 1)], [(9, 1)])
    assert not result.when("defer")


def test_who_reads_more_waits_until_the_half_is_in_its_bank() -> None:
    # Looked up in 9, where the line is sent; looked up again in 10, when its row is queued; written in 10, read in 11.
    result = go((op((), 4), LOW), op((4,), 5))
    assert result.when("defer") == result.when("recall") == [9]
    assert (result.events("flush"), result.fields[10]["held"]) == ([(9, 0b0001)], 0)
    assert (result.events("check"), result.events("miss")) == ([(10, 1)], [(10, 1)])
    assert (result.when("bank_write")[0], result.when("grant")) == (10, [11])
    assert not result.when("interlock")
    # Where the bank is slow to take it, its row holds the reader back.
    late = go(op((), 8), (op((), 4), LOW), op((4,), 5), banks=1, bank_cycles=3, cache_entries=1)
    assert late.when("interlock")
    assert late.model.operands_checked == 1


def test_the_other_half_completes_the_line() -> None:
    result = go((op((), 4), LOW), (op((), 4), HIGH), op((4,), 5))
    assert result.when("cache_write_hit") and not result.when("defer")
    assert any(f["line_lanes"] & 0xFFFFFFFF == ALL_LANES for f in result.fields)


def test_a_line_that_is_pinned_is_recalled_after_its_reader() -> None:
    # The first reader finds its lanes and reads in the cycle in which the second one must wait for it.
    result = go((op((), 4), LOW), (op((4,), 5), LOW), op((4,), 6))
    (pinned,) = result.when("near_read")[:1]
    assert result.when("defer") == [pinned, pinned + 1]
    assert result.when("recall") == [pinned + 1]


def test_the_rest_of_a_victims_row_stays() -> None:
    # R4 is written whole, then half of it again; R5 drives that half out, and all of R4 is right.
    changes = {"cache_entries": 1}
    program = [op((), 4), op((), 5), (op((), 4), LOW), op((), 5), *[NOP] * 4, op((4,), 6)]
    assert go(*program, **changes).model.operands_checked == 1


def test_without_lines_both_choices_are_one() -> None:
    program = [(op((), 4), LOW), op((4,), 5)]
    runs = [go(*program, cache_entries=0, partial_results=choice) for choice in ("bypass", "lanes")]
    assert runs[0].fields == runs[1].fields


class ServesWhatItLacks(Rfc):
    """A hit does not ask for lanes."""

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.file.deferred = lambda warp, sources, lanes: False  # type: ignore[method-assign]


class SavesWholeLines(Rfc):
    """A line overwrites the whole row of its register."""

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        lines = self.file.lines
        lines.saved = lambda line, row: Write(row, lines.copy[line])  # type: ignore[method-assign]


class SavesTooFew(Rfc):
    """A line gives its bank the lower half of its lanes only."""

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        lines = self.file.lines

        def saved(line: int, row: int) -> Write:
            return Write(row, row_of(lines.copy[line]), lines._before[line], lines.lanes[line] & LOW)

        lines.saved = saved  # type: ignore[method-assign]


class KeepsOldLanes(Rfc):
    """A register that takes a line keeps the lanes of the one before."""

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        lines, enter = self.file.lines, self.file.lines.enter

        def careless(line: int, register: int, copy: int, lanes_: int = ALL_LANES, before: int = -1) -> None:
            enter(line, register, copy, lanes_ | (lines.lanes[line] if lines.held >> line & 1 else 0), before)

        lines.enter = careless  # type: ignore[method-assign]


class RecallsPinnedLines(Rfc):
    """A line is sent that somebody has yet to read."""

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        flush = self.file.flush

        def recall(lacking: int) -> None:
            flush.recalled = (lacking & -lacking).bit_length() - 1

        flush.recall = recall  # type: ignore[method-assign]


class ForgetsToRecall(Rfc):
    """Who lacks lanes waits for ever."""

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.file.flush.recall = lambda lacking: None  # type: ignore[method-assign]


class SendsFlushesFirst(Rfc):
    """A line of a released place goes before the recalled one."""

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        flush, send = self.file.flush, self.file.flush.send

        def wrong(ports: int, written: int) -> None:
            if flush.releasing:
                flush.recalled = -1
            send(ports, written)

        flush.send = wrong  # type: ignore[method-assign]


MUTANTS = (ServesWhatItLacks, SavesWholeLines, SavesTooFew, KeepsOldLanes, RecallsPinnedLines, ForgetsToRecall)


@pytest.mark.plain
@pytest.mark.parametrize("mutant", (*MUTANTS, SendsFlushesFirst))
def test_a_mutant_is_caught(mutant: type[Rfc]) -> None:
    for seed in range(80):
        cfg, trace = partial_case(seed)
        try:
            watch_rfc(cfg, trace, mutant, limit=30_000)
        except CAUGHT as error:
            print(f"seed {seed}: {error!r}")
            return
    pytest.fail(f"{mutant.__name__} passed")


def test_values_are_those_of_the_other_choice() -> None:
    for seed in range(3):
        cfg, trace = random_case(seed)
        cfg = cfg.replace(lanes=32)  # type: ignore[assignment]
        runs = [watch_rfc(cfg.replace(partial_results=choice), trace) for choice in ("bypass", "lanes")]  # type: ignore[arg-type]
        assert runs[0].operands_checked == runs[1].operands_checked
        assert runs[0].counters["dispatches"] == runs[1].counters["dispatches"]

"""Machines with one mistake each, which the watcher or the operands must catch."""

from __future__ import annotations

import pytest

from tests.golden.invariants import Broken
from tests.golden.machines import Baseline
from tests.golden.scenario import NOP, hand_trace, op
from tests.golden.test_random import watch
from warpfile.golden import StaleOperand
from warpfile.golden.entry import Entry
from warpfile.schemes import SCHEMES
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment, Result
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stress import stress_trace
from warpfile.spec.trace import Port
from warpfile.spec.workload import prepare

pytestmark = pytest.mark.plain


class IgnoresPending(Baseline):
    """No read-after-write and write-after-write check."""

    def _state(self, room: int) -> int:
        self.frame.clear = self.frame.buffered & self.frame.resident
        return super()._state(room)


class ForgetsOrder(Baseline):
    """Beats of one warp overtake each other."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        units = self.collectors.units
        allocate = units.allocate

        def forget(number: int, warp: int, entry: Entry) -> None:
            allocate(number, warp, entry)
            units.units[number].waits = 0

        units.allocate = forget  # type: ignore[method-assign]


class OpensBarriers(Baseline):
    """A barrier opens in the cycle after the first arrival."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.frame.release_barriers = lambda: setattr(self.frame, "waiting", 0)  # type: ignore[method-assign]


class ReadsBesideWrites(Baseline):
    """Reads do not notice that a single port is taken."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.file.banks._read_free = list(self.file.banks._read_free)


class LosesPartialWrites(Baseline):
    """A result with some lanes off never reaches its bank."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        file, store = self.file, self.file._store
        file._store = lambda r, *at: store(r, *at) if r.mask == 0xFFFFFFFF else None  # type: ignore[method-assign]


class SharesRows(Baseline):
    """All warps start at place 0."""

    def _launch(self, launch):  # type: ignore[no-untyped-def]
        word = super()._launch(launch)
        self.file.location.launched(launch.warp, 0)
        return word


class CompletesAtOnce(Baseline):
    """Results complete when they are accepted, however long their access takes."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        completion, add = self.file.completion, self.file.completion.add
        completion.add = lambda cycle, result: add(self.cycle, result)  # type: ignore[method-assign]


class HasRoomForNobody(Baseline):
    """Without a free unit, beats that need none find no room either."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        collectors, room = self.collectors, self.collectors.room
        collectors.room = lambda heads, ready: room(heads, ready) if collectors.units.free else 0  # type: ignore[method-assign]


class HidesRoom(Baseline):
    """A buffer that holds any beat says that it has no room."""

    def _state(self, room: int) -> int:
        return super()._state(room) & ~(self.frame.buffered << self._at_ready)


class Hesitates(Baseline):
    """Refuses a beat although it has to accept all of them."""

    def _choose(self, candidates: int, room: int) -> int:
        return -1 if self.cycle % 16 == 0 else super()._choose(candidates, room)


CAUGHT = (Broken, StaleOperand, AssertionError, KeyError, IndexError)
MUTANTS = {
    IgnoresPending: "mixed",
    ForgetsOrder: "bank",
    OpensBarriers: "control",
    ReadsBesideWrites: "bank",
    LosesPartialWrites: "mask",
    SharesRows: "mixed",
    CompletesAtOnce: "chain",
    HasRoomForNobody: "mixed",
    HidesRoom: "mixed",
    Hesitates: "mixed",
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_caught(mutant: type[Baseline]) -> None:
    cfg = Config(bank_skew="none", collectors=8, alu_latency=1, sfu_latency=1, branch_delay=0)
    if mutant is CompletesAtOnce:
        cfg = cfg.replace(bank_cycles=3)
    if mutant is HasRoomForNobody:
        cfg = cfg.replace(collectors=2)
    caught = 0
    for seed in range(4):
        trace = stress_trace(seed, profile=MUTANTS[mutant], length=80, warps_per_cta=[4, 3])
        watch(cfg, trace)
        try:
            watch(cfg, trace, mutant)
        except CAUGHT as error:
            print(f"seed {seed}: {error!r}")
            caught += 1
    assert caught, f"{mutant.__name__} passed"


class IgnoresUnread(Baseline):
    """No write-after-read check."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.collectors.unread = lambda warp: 0


def test_a_forgotten_read_is_caught_when_a_write_overtakes_it() -> None:
    reader, writer = op((2, 4, 6), 8), op((), 6, port=Port.SFU)
    trace = hand_trace([op((), 6), NOP, NOP, NOP, NOP, reader, writer, op((8,), 9)])
    cfg = Config(banks=2, collect="lowest", alu_latency=1, sfu_latency=1)
    watch(cfg, trace)
    with pytest.raises(StaleOperand, match="in R6"):
        watch(cfg, trace, IgnoresUnread)


def test_a_corrupted_row_is_a_stale_operand() -> None:
    class Corrupts(Baseline):
        def step(self, stimulus):  # type: ignore[no-untyped-def]
            if self.cycle == 8:
                self.file.banks.rows[0][2] += 1
            return super().step(stimulus)

    trace = hand_trace([op((), 4, offset=16), op((4, 5), 6, offset=32)])
    cfg = Config(banks=2)
    watch(cfg, trace)
    with pytest.raises(StaleOperand, match=r"cycle 12: warp 0 .* at 0x20 .* value 1 in R4, .* value 0 there"):
        watch(cfg, trace, Corrupts)


def test_a_flipped_probe_is_noticed() -> None:
    class Flips(Baseline):
        def step(self, stimulus):  # type: ignore[no-untyped-def]
            return super().step(stimulus) ^ (self.cycle == 9) << self.collectors._at + self.collectors._at_grant

    with pytest.raises((Broken, KeyError)):
        watch(Config(), hand_trace([op((2, 3), 4)] * 4), Flips)


def test_a_result_without_a_waiting_beat_is_refused() -> None:
    cfg = Config()
    layout = ProbeLayout(SCHEMES["baseline"].probes(cfg))
    environment, model = Environment(cfg, prepare(cfg, hand_trace([])), layout), Baseline(cfg, layout)
    stimulus = environment.stimulus()
    stimulus.results[0] = Result(0, 0, True, 5, 0, 1, 0)
    with pytest.raises(AssertionError, match="R5 of warp 0 is released but not pending"):
        model.step(stimulus)

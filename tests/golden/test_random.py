"""Random programs on random machines, every cycle under the eye of the watcher; and mutants that it must catch."""

from __future__ import annotations

import random

import pytest

from golden import Baseline, StaleOperand
from golden.run import Stuck
from spec.baseline import baseline_probes
from spec.config import Config
from spec.environment import Environment, Result
from spec.probe import ProbeLayout
from spec.stress import stress_trace
from spec.stress_program import PROFILES
from spec.trace import Port, Trace
from spec.workload import prepare
from tests.golden.invariants import Broken, Watcher
from tests.golden.scenario import NOP, hand_trace, op


def random_config(rng: random.Random) -> Config:
    """A machine with small and awkward numbers, large enough for a CTA of four warps of 24 registers."""
    return Config(
        lanes=rng.choice((1, 4, 32)),
        warps=rng.choice((4, 5, 8)),
        ctas=rng.choice((1, 2, 8)),
        shared_bytes=rng.choice((2048, 65536)),
        buffer_depth=rng.randint(1, 4),
        banks=rng.choice((1, 2, 4, 8)),
        rows=rng.choice((128, 256)),
        bank_ports=rng.choice(("1RW", "1R1W")),
        bank_cycles=rng.choice((1, 1, 2, 3)),
        bank_skew=rng.choice(("none", "warp", "row")),
        collectors=rng.choice((1, 2, 3, 4, 8)),
        source_slots=rng.choice((1, 2, 3, 8)),
        collect=rng.choice(("lowest", "one", "all")),
        bank_arbitration=rng.choice(("round_robin", "oldest")),
        dispatch_arbitration=rng.choice(("round_robin", "oldest")),
        scheduler=rng.choice(("gto", "lrr")),
        ports=rng.choice((1, 3)),
        branch_delay=rng.choice((0, 1, 4)),
        alu_latency=rng.choice((1, 2, 6)),
        alu_interval=rng.choice((1, 2)),
        sfu_latency=rng.choice((1, 21)),
        miss_latency=rng.choice((40, 100)),
        cache_lines=rng.choice((0, 4, 64)),
        uniform_latency=rng.choice((1, 6)),
        result_queue=rng.choice((1, 2, 8)),
    )


def watch(cfg: Config, trace: Trace, model: type[Baseline] = Baseline, limit: int = 30_000) -> list[int]:
    """Run to the end under the watcher and return the observation words."""
    layout = ProbeLayout(baseline_probes(cfg))
    workload = prepare(cfg, trace)
    environment, machine, watcher = Environment(cfg, workload, layout), model(cfg, layout), Watcher(cfg, workload)
    words = []
    while not environment.done:
        if len(words) >= limit:
            raise Stuck(f"no end within {limit} cycles")
        stimulus = environment.stimulus()
        words.append(machine.step(stimulus))
        watcher.check(stimulus, layout.unpack(words[-1]))
        environment.observe(words[-1])
    watcher.check_end(machine.counters)
    return words


def random_run(seed: int, model: type[Baseline] = Baseline) -> list[int]:
    """One random machine with one random program."""
    rng = random.Random(seed)
    cfg, profile = random_config(rng), rng.choice(list(PROFILES))
    sizes = rng.choice(([4], [1, 4], [3, 2, 1]))
    return watch(cfg, stress_trace(seed, profile=profile, warps_per_cta=sizes, ctas=4, length=40), model)


@pytest.mark.parametrize("seed", range(120))
def test_a_random_program_keeps_every_invariant(seed: int) -> None:
    print(f"seed {seed}")
    random_run(seed)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("slots", [1, 3, 8])
def test_every_profile_runs(profile: str, slots: int) -> None:
    watch(Config(source_slots=slots, collectors=4), stress_trace(5, profile=profile, length=80))


def test_runs_are_repeatable() -> None:
    assert random_run(7) == random_run(7)


def test_values_flow_through_the_banks() -> None:
    cfg = Config()
    layout = ProbeLayout(baseline_probes(cfg))
    model = Baseline(cfg, layout)
    environment = Environment(cfg, prepare(cfg, stress_trace(1, profile="chain", length=200)), layout)
    while not environment.done:
        environment.observe(model.step(environment.stimulus()))
    assert model.operands_checked > 500


class IgnoresPending(Baseline):
    """No read-after-write and write-after-write check."""

    def _state(self) -> int:
        self.frame.clear = self.frame.buffered & self.frame.resident
        return super()._state()


class ForgetsOrder(Baseline):
    """Beats of one warp overtake each other."""

    def _issue(self, warp: int, unit: int) -> int:
        word = super()._issue(warp, unit)
        if unit >= 0 and self.collectors.units[unit].waits:
            self.collectors.units[unit].waits = 0
        return word


class OpensBarriers(Baseline):
    """A barrier opens in the cycle after the first arrival."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.frame.release_barriers = lambda: setattr(self.frame, "waiting", 0)  # type: ignore[method-assign]


class ReadsBesideWrites(Baseline):
    """Reads do not notice that a single port is taken."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.banks._read_free = list(self.banks._read_free)


class LosesPartialWrites(Baseline):
    """A result with some lanes off never reaches its bank."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        store = self.banks.store
        self.banks.store = lambda r: store(r) if r.mask == 0xFFFFFFFF else None  # type: ignore[method-assign]


class SharesRows(Baseline):
    """All warps start at row 0."""

    def _launch(self, launch):  # type: ignore[no-untyped-def]
        word = super()._launch(launch)
        self.location.launched(launch.warp, 0)
        return word


CAUGHT = (Broken, StaleOperand, AssertionError, KeyError, IndexError)
MUTANTS = {
    IgnoresPending: "mixed",
    ForgetsOrder: "bank",
    OpensBarriers: "control",
    ReadsBesideWrites: "bank",
    LosesPartialWrites: "mask",
    SharesRows: "mixed",
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_caught(mutant: type[Baseline]) -> None:
    cfg = Config(collect="lowest", collectors=8, bank_skew="none", alu_latency=1, sfu_latency=1, branch_delay=0)
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
        self.collectors.unread = lambda warp: 0  # type: ignore[method-assign]


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
                self.banks.rows[0][2] += 1
            return super().step(stimulus)

    trace = hand_trace([op((), 4, offset=16), op((4, 5), 6, offset=32)])
    cfg = Config(banks=2)
    watch(cfg, trace)
    with pytest.raises(StaleOperand, match=r"cycle 12: warp 0 .* at 0x20 .* value 1 in R4, .* value 0 there"):
        watch(cfg, trace, Corrupts)


def test_a_flipped_probe_is_noticed() -> None:
    class Flips(Baseline):
        def step(self, stimulus):  # type: ignore[no-untyped-def]
            return super().step(stimulus) ^ (self.cycle == 9) << self._at_grant

    with pytest.raises((Broken, KeyError)):
        watch(Config(), hand_trace([op((2, 3), 4)] * 4), Flips)


def test_a_result_that_nobody_waits_for_is_refused() -> None:
    cfg = Config()
    layout = ProbeLayout(baseline_probes(cfg))
    environment, model = Environment(cfg, prepare(cfg, hand_trace([])), layout), Baseline(cfg, layout)
    stimulus = environment.stimulus()
    stimulus.results[0] = Result(0, 0, 0, True, 5, 0, 1, 0)
    with pytest.raises(AssertionError, match="R5 of warp 0 is released but not pending"):
        model.step(stimulus)


def test_a_machine_that_stands_still_is_reported() -> None:
    class Stands(Baseline):
        def _choose(self) -> tuple[int, int]:
            return -1, -1

    with pytest.raises(Stuck, match="no end within 100 cycles"):
        watch(Config(), hand_trace([op((2,), 4)]), Stands, limit=100)

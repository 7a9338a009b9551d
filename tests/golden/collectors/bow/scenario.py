"""Machines with operand windows over hand-written and stress traces."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.golden.machines import Bow, layout_of
from tests.golden.scenario import Step, hand_trace, op
from warpfile.compiler.passes.bow.exact import exact_classes, weakened
from warpfile.golden.run import observations
from warpfile.spec.annotation import on_last_beat
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment, Stimulus
from warpfile.spec.presets import PRESETS
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.bow import BowConfig
from warpfile.spec.trace import Access, Port, Space, StaticInstruction, Trace
from warpfile.spec.workload import prepare

MODES = ("through", "back", "hints")


def bow_config(common: Config, **changes: object) -> BowConfig:
    """A machine with operand windows around which everything is as in ``common``."""
    return BowConfig(**BowConfig.adapted({**common.to_json(), **changes}))  # type: ignore[arg-type]


def bow_layout(cfg: BowConfig) -> ProbeLayout:
    """All probes of the scheme."""
    return layout_of("bow", cfg)


def hinted(cfg: BowConfig, trace: Trace, classes: Sequence[int] | np.ndarray) -> Trace:
    """A trace with a write class per record; records after the last given one have class 0."""
    words = np.zeros(trace.instructions, dtype=np.uint32)
    words[: len(classes)] = classes
    return dataclasses.replace(trace, hints=on_last_beat(trace, cfg.source_slots, words), annotation="by hand")


def exactly_hinted(cfg: BowConfig, trace: Trace, seed: int | None = None) -> Trace:
    """A trace with sound hints if the machine uses any; with a seed, some are replaced by others that are sound too."""
    if not cfg.hint_bits:
        return trace
    classes = exact_classes(trace, window=cfg.window, source_slots=cfg.source_slots)
    return hinted(cfg, trace, classes if seed is None else weakened(classes, seed))


@dataclass
class BowRun:
    """Every cycle's probes by name, and the model that made them."""

    cfg: BowConfig
    model: Bow
    fields: list[dict[str, int]] = field(default_factory=list)

    def events(self, probe: str) -> list[tuple[int, int]]:
        """Cycle and value wherever a probe is not zero."""
        return [(cycle, f[probe]) for cycle, f in enumerate(self.fields) if f[probe]]

    def when(self, probe: str) -> list[int]:
        """Cycles in which a probe is not zero."""
        return [cycle for cycle, _ in self.events(probe)]

    def issues(self) -> list[int]:
        """Cycles in which something issues."""
        return self.when("issue")

    def spans(self, probe: str) -> list[tuple[int, int, int]]:
        """First cycle, last cycle and value of every stretch in which a probe keeps a value that is not zero."""
        spans: list[tuple[int, int, int]] = []
        for cycle, value in self.events(probe):
            if spans and spans[-1][1:] == (cycle - 1, value):
                spans[-1] = (spans[-1][0], cycle, value)
            else:
                spans.append((cycle, cycle, value))
        return spans


def bow_run(cfg: BowConfig, trace: Trace, model: type[Bow] = Bow, limit: int = 100_000) -> BowRun:
    """Simulate a trace to its end."""
    layout = bow_layout(cfg)
    result = BowRun(cfg, model(cfg, layout))
    environment = Environment(cfg, prepare(cfg, trace), layout)
    result.fields = [layout.unpack(word) for word in observations(result.model, environment, limit)]
    return result


def busy(bank: int, *cycles: int) -> type[Bow]:
    """A machine in which somebody else writes a bank in these cycles."""

    class Busy(Bow):
        def step(self, stimulus: Stimulus) -> int:
            if self.cycle in cycles:
                assert self.file.banks.claim(self.cycle, bank)
            return super().step(stimulus)

    return Busy


#: The machine of the hand-written programs. Bank of a register of warp 0: its number modulo two. A miss of a beat that
#: enters in t is granted in t + 1 and fills in t + 2; the beat dispatches in t + 3, with hits only in t + 1; an ALU
#: result follows 4 cycles later.
PLAIN = Config(banks=2, bank_ports="1RW", alu_latency=4, sfu_latency=3, hit_latency=4, uniform_latency=6)


def machine(**changes: object) -> BowConfig:
    """``PLAIN`` with twelve entries for three beats, written back."""
    return bow_config(PLAIN, **{"window": 3, "window_entries": 12, "window_writes": "back"} | changes)


def run_hinted(steps: Sequence[Step], classes: Sequence[int], model: type[Bow] = Bow, **changes: object) -> BowRun:
    """A lone warp whose instructions have these write classes."""
    cfg = machine(**{"window_writes": "hints"} | changes)
    return bow_run(cfg, hinted(cfg, hand_trace(steps), classes), model)


def load(sources: tuple[int, ...], dest: int) -> StaticInstruction:
    """A load that hits in the cache."""
    return op(sources, dest, port=Port.LSU, space=Space.GLOBAL, access=Access.LOAD)


def random_bow_config(rng: random.Random, mode: str) -> BowConfig:
    """A machine with small and awkward numbers, large enough for a CTA of four warps of 24 registers."""
    slots = rng.choice((1, 2, 3, 3, 7))
    common = PRESETS["pascal"].config.replace(
        domains=1,
        lanes=rng.choice((1, 4, 32)),
        warps=rng.choice((4, 5, 8)),
        ctas=rng.choice((1, 2, 4)),
        buffer_depth=rng.randint(1, 4),
        banks=rng.choice((1, 2, 4, 8)),
        rows=256,
        bank_ports=rng.choice(("1RW", "1R1W")),
        bank_cycles=rng.choice((1, 1, 2, 3)),
        bank_skew=rng.choice(("none", "warp", "row")),
        source_slots=slots,
        scheduler=rng.choice(("gto", "lrr", "oldest")),
        ports=rng.choice((1, 3, 4, 6)),
        write_back_ports=rng.choice((1, 3, 6)),
        branch_delay=rng.choice((0, 1, 4)),
        alu_latency=rng.choice((1, 2, 6)),
        alu_interval=rng.choice((1, 2)),
        sfu_latency=rng.choice((1, 21)),
        hit_latency=rng.choice((5, 32)),
        miss_latency=rng.choice((40, 100)),
        cache_lines=rng.choice((0, 4, 64)),
        uniform_latency=rng.choice((1, 6)),
        result_queue=rng.choice((1, 2, 8)),
    )
    window = rng.choice((2, 3, 3, 4, 7))
    entries = rng.choice((slots, slots + 1, 2 * window, 4 * window))
    common = common.replace(bank_occupancy=rng.choice(("length", "one")))
    return bow_config(common, window=window, window_entries=max(slots, entries), window_writes=mode)

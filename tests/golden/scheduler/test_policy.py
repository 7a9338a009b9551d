"""Greedy, then youngest (docs/schemes/modern.md, section 11)."""

from __future__ import annotations

from tests.golden.machines import Baseline, layout_of
from tests.golden.scenario import NOP, hand_trace
from warpfile.golden.scheduler.policy import Cggty
from warpfile.schemes import find
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.workload import prepare


def launched(*warps: int) -> Cggty:
    cggty = Cggty(Config())
    for warp in warps:
        cggty.launched(warp)
    return cggty


def test_it_stays_with_the_last_issuer_then_takes_the_youngest() -> None:
    cggty = launched(2, 0, 1)
    assert cggty.choose(0b111) == 1
    cggty.issued(2)
    assert cggty.choose(0b111) == 2
    assert cggty.choose(0b011) == 1
    assert cggty.choose(0b001) == 0


def test_a_warp_on_a_slot_that_was_used_before_is_the_youngest() -> None:
    cggty = launched(0, 1)
    cggty.issued(0)
    cggty.exited(0)
    assert cggty.choose(0b10) == 1
    cggty.launched(0)
    assert cggty.choose(0b11) == 0


class Youngest(Baseline):
    """The baseline with this scheduler."""

    scheme = "baseline+cggty"


def test_it_goes_with_the_baseline() -> None:
    cfg = find(Youngest.scheme).configuration("tiny", domains=1)
    layout = layout_of(Youngest.scheme, cfg)
    work = prepare(cfg, hand_trace([NOP], [NOP], [NOP]))
    model, environment = Youngest(cfg, layout), Environment(cfg, work, layout)
    exits = []
    while not environment.done:
        model.file.hold = 0b111 if environment.cycle < 20 else 0  # until every buffer is full
        word = model.step(environment.stimulus())
        environment.observe(word)
        fields = layout.unpack(word)
        exits += [fields["issue_warp"]] if fields["exit"] else []
    assert isinstance(model.scheduler, Cggty)
    assert exits == [2, 1, 0]

"""Pseudo-instructions issue when their drain class says so (docs/machine.md, sections 2 and 4)."""

from __future__ import annotations

import pytest

from tests.golden.scenario import BAR, NOP, Run, Step, hand_trace, op
from tests.golden.scenario import run as run_model
from warpfile.golden import Machine
from warpfile.golden.rf.banked.file import BankedFile
from warpfile.schemes import SCHEMES
from warpfile.schemes.part import load_object
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.trace import Access, Drain, Kind, Port, Space, StaticInstruction, Trace
from warpfile.spec.workload import prepare


class Taker(Config):
    """Takes pseudo-instructions."""

    @property
    def operand_bits(self) -> int:
        """Width of the operand."""
        return 8


class Deaf(BankedFile):
    """Does nothing with an operand."""

    def operand(self, operand: int) -> None:
        """Take no notice."""


def deaf(cfg: Config, layout: ProbeLayout) -> Machine:
    """The baseline over such a file."""
    scheduler, collectors, _ = SCHEMES["baseline"].parts(cfg)
    return Machine(cfg, layout, load_object(scheduler.golden), load_object(collectors.golden), Deaf)


def run(cfg: Config, trace: Trace) -> Run:
    """Simulate a trace to its end."""
    return run_model(cfg, trace, deaf)  # type: ignore[arg-type]


CFG = Taker(hit_latency=30, uniform_latency=12, warps=4, banks=4)
LOAD = op((2,), 4, port=Port.LSU, space=Space.GLOBAL, access=Access.LOAD, bytes=4)
UNIFORM = op(port=Port.NONE, token_writes=8)


def pseudo(drain: Drain, operand: int = 1) -> StaticInstruction:
    return op(port=Port.NONE, kind=Kind.SCHEME, text="PSEUDO", drain=drain, operand=operand, inserted=True)


def issues(*steps: Step) -> dict[str, list[int]]:
    """Cycles of the issues and of what they may wait for."""
    result = run(CFG, hand_trace(steps))
    return {name: result.when(name) for name in ("issue", "dispatch", "write")}


def test_one_that_drains_nothing_issues_behind_a_load() -> None:
    found = issues(LOAD, pseudo(Drain.NONE))
    assert found["issue"][1] == found["issue"][0] + 1
    assert found["issue"][1] < found["dispatch"][0]


def test_one_may_wait_for_the_dispatch_of_what_is_older() -> None:
    found = issues(LOAD, pseudo(Drain.DISPATCHED), NOP)
    assert found["issue"][1] == found["dispatch"][0] + 1
    assert found["issue"][2] == found["issue"][1] + 1 < found["write"][0]


@pytest.mark.parametrize("drain", [Drain.DISPATCHED, Drain.EMPTY])
def test_a_drained_warp_waits_no_more(drain: Drain) -> None:
    store = op((2,), port=Port.LSU, space=Space.GLOBAL, access=Access.STORE, bytes=4)
    found = issues(store, pseudo(drain))
    assert found["issue"][1] == found["dispatch"][0] + 1


def test_one_may_wait_for_the_last_result() -> None:
    found = issues(LOAD, op((2,), 5), pseudo(Drain.EMPTY))
    assert found["issue"][2] == max(found["write"]) + 1


def test_one_may_wait_for_tokens() -> None:
    found = issues(UNIFORM, pseudo(Drain.EMPTY))
    assert found["issue"][1] == found["write"][0] + 1 > found["issue"][0] + CFG.uniform_latency
    assert issues(UNIFORM, pseudo(Drain.DISPATCHED))["issue"][1] == found["issue"][0] + 1


def test_other_warps_go_on_meanwhile() -> None:
    result = run(CFG, hand_trace([LOAD, pseudo(Drain.EMPTY)], [NOP] * 3))
    own = [cycle for cycle, warp in result.issues() if warp == 0]
    others = [cycle for cycle, warp in result.issues() if warp == 1]
    assert own[1] - own[0] > CFG.hit_latency > others[-1] - others[0]


def test_it_takes_effect_whatever_its_mask_and_counts_as_no_instruction() -> None:
    trace = hand_trace([(pseudo(Drain.NONE, 7), 0), NOP])
    layout = ProbeLayout(SCHEMES["baseline"].probes(CFG))
    model, environment = deaf(CFG, layout), Environment(CFG, prepare(CFG, trace), layout)
    seen, issued = [], []
    while not environment.done:
        stimulus = environment.stimulus()
        seen.append(stimulus.operand)
        word = model.step(stimulus)
        issued.append(layout.unpack(word)["issue"])
        environment.observe(word)
    first = issued.index(1)
    assert [cycle for cycle, operand in enumerate(seen) if operand is not None] == [first + 1]
    assert seen[first + 1] == 7
    assert (environment.instructions, model.counters["instructions"], model.counters["beats"]) == (2, 2, 3)


def test_a_barrier_does_not_care() -> None:
    result = run(CFG, hand_trace([pseudo(Drain.EMPTY), BAR, NOP], [LOAD, pseudo(Drain.EMPTY), BAR, NOP]))
    waits = [f["waiting"] for f in result.fields]
    assert 0b01 in waits and 0b11 in waits
    assert waits[-1] == 0


def suspensions(*steps: Step) -> int:
    cfg = Taker(**CFG.replace(scheduler="two_level", active_warps=1).to_json())
    return run(cfg, hand_trace(steps, [NOP])).model.counters["suspends_long"]


def test_one_that_waits_for_a_load_gives_up_its_place() -> None:
    assert suspensions(LOAD, pseudo(Drain.EMPTY)) == 1
    assert suspensions(LOAD, pseudo(Drain.DISPATCHED)) == 0
    assert suspensions(LOAD, pseudo(Drain.NONE)) == 0
    assert suspensions(op((2,), 4), pseudo(Drain.EMPTY)) == 0
    assert suspensions(LOAD) == 0  # the EXIT

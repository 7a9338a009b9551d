"""Kernel, retirement, rest and values: what the environment does for machines that want more than launches."""

from __future__ import annotations

import numpy as np
import pytest

from tests.golden.scenario import EXIT, hand_trace, op
from warpfile.sim.stimulus import StimulusPacker, stimulus_fields
from warpfile.spec.beat import kernel_fields, pack_fields
from warpfile.spec.config import Config
from warpfile.spec.contract import Gives
from warpfile.spec.environment import Environment
from warpfile.spec.frame import frame_probes
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.rewrite import rewritten
from warpfile.spec.stimulus import Stimulus
from warpfile.spec.trace import NO_ROW, Trace
from warpfile.spec.workload import WorkloadError, prepare


class Asking(Config):
    """Wants to know the kernel, gives slots back late, and looks at values."""

    values = True

    @property
    def gives(self) -> Gives:
        """Handshake and sweeps."""
        return Gives(kernel=True, sweeps=True)

    @property
    def descriptor(self) -> tuple[tuple[str, int], ...]:
        """Places that a warp takes."""
        return (("base", 4),)

    @property
    def operand_bits(self) -> int:
        """Width of the operand."""
        return 12

    def places_per_warp(self, registers, descriptor=None):  # type: ignore[no-untyped-def]
        """Only the base set."""
        return descriptor["base"]


CFG = Asking(warps=2, banks=1, rows=8, lanes=2, ctas=2)


class Side:
    """An environment whose machine is a script."""

    def __init__(self, trace: Trace, cfg: Config = CFG) -> None:
        self.layout = ProbeLayout(frame_probes(cfg))
        self.environment = Environment(cfg, prepare(cfg, trace), self.layout)
        self.stimulus = self.environment.stimulus()

    def cycle(self, **fields: int) -> Stimulus:
        """End the cycle with these observations; the inputs of the next one."""
        self.environment.observe(self.layout.pack(fields))
        self.stimulus = self.environment.stimulus()
        return self.stimulus


def exits(*warps: int, base: int = 4) -> Trace:
    """So many warps, each a CTA that ends at once."""
    trace = hand_trace(*[[] for _ in warps], ctas=list(warps), registers=6)
    return rewritten(trace, descriptor={"base": base})


def test_the_kernel_is_offered_alone_until_it_is_taken() -> None:
    side = Side(exits(0))
    for _ in range(3):
        kernel = side.stimulus.kernel
        assert kernel is not None
        assert (kernel.registers, kernel.descriptor, side.stimulus.launch) == (6, {"base": 4}, None)
        side.cycle(quiet=1)
    side.cycle(kernel=1)
    assert side.stimulus.kernel is None
    assert side.stimulus.launch is not None


def test_a_launch_stays_until_it_is_accepted() -> None:
    side = Side(exits(0, 1))
    first = side.cycle(kernel=1).launch
    assert side.cycle().launch is first
    assert side.cycle(quiet=1).launch is first
    second = side.cycle(launch=1).launch
    assert (first.warp, first.base, second.warp, second.base) == (0, 0, 1, 4)


def test_a_slot_is_free_when_it_is_given_back() -> None:
    side = Side(exits(0, 1, 2))
    side.cycle(kernel=1)
    side.cycle(launch=1)
    side.cycle(launch=1)
    assert side.stimulus.launch is None
    side.cycle(issue=1, issue_warp=1, exit=1)
    assert side.stimulus.launch is None
    assert side.cycle(quiet=1).launch is None
    launch = side.cycle(retired=0b10).launch
    assert (launch.warp, launch.base) == (1, 4)


def test_a_slot_may_be_given_back_with_the_exit_and_several_at_once() -> None:
    side = Side(exits(0, 1, 2))
    side.cycle(kernel=1)
    side.cycle(launch=1)
    side.cycle(launch=1)
    side.cycle()
    side.cycle(issue=1, issue_warp=0, exit=1)
    assert side.cycle(issue=1, issue_warp=1, exit=1, retired=0b11).launch.warp == 0


def test_only_a_warp_that_ended_can_be_given_back() -> None:
    side = Side(exits(0))
    side.cycle(kernel=1)
    side.cycle(launch=1)
    with pytest.raises(AssertionError, match="warp slot 0 is given back, but its warp has not ended"):
        side.cycle(retired=1)


def test_a_run_ends_when_the_machine_has_come_to_rest() -> None:
    side = Side(exits(0))
    side.cycle(kernel=1, quiet=1)
    side.cycle(launch=1, quiet=1)
    side.cycle(quiet=1)
    side.cycle(issue=1, exit=1, quiet=1)
    assert not side.environment.done
    side.cycle(retired=1, quiet=1)
    assert not side.environment.done  # what the end began may still be under way
    side.cycle()
    assert not side.environment.done
    side.cycle(quiet=1)
    assert side.environment.done


def test_the_places_of_a_warp_decide_how_many_there_are() -> None:
    side = Side(exits(0, 1, base=8))
    side.cycle(kernel=1)
    assert side.cycle(launch=1).launch is None
    with pytest.raises(WorkloadError, match="but only 0 such warps fit"):
        prepare(CFG, exits(0, base=9))


def test_the_operand_follows_its_issue() -> None:
    pseudo = op(port=3, kind=4, operand=0xABC, inserted=True)
    side = Side(rewritten(hand_trace([pseudo, pseudo], registers=6), descriptor={"base": 4}))
    side.cycle(kernel=1)
    side.cycle(launch=1)
    side.cycle()
    assert side.cycle(issue=1).operand == 0xABC
    assert side.cycle(issue=1).operand == 0xABC
    assert side.cycle().operand is None


def test_results_carry_their_value_where_a_part_asks_for_it() -> None:
    trace = hand_trace([op((), 4), op((), 5)], value_row=np.array([0, NO_ROW, NO_ROW]))
    trace.values[0, :3] = 0x11111111, 0x22222222, 0x33333333
    trace = rewritten(trace, descriptor={"base": 4})
    for cfg, wanted in ((CFG, [0x2222222211111111, None]), (Config(warps=2, lanes=2), [None, None])):
        side = Side(trace, cfg)
        found = []
        side.cycle(kernel=1) if cfg is CFG else None
        side.cycle(launch=1)
        for _ in range(2):
            side.cycle()
        side.cycle(issue=1)
        side.cycle(dispatch=1, issue=1, dispatch_payload0=0)
        side.cycle(dispatch=1, dispatch_payload0=1)
        for _ in range(12):
            result = side.stimulus.results[0]
            found += [result.data] if result else []
            side.cycle(write=int(result is not None))
        assert found == wanted


def test_the_input_word_has_kernel_and_operand_where_they_are_declared() -> None:
    fields = stimulus_fields(CFG)
    plain = stimulus_fields(Config(warps=2, banks=1, rows=8, lanes=2, ctas=2))
    assert [name for name, _ in fields[len(plain) :]] == ["kernel_valid", "kernel", "operand_valid", "operand"]
    assert dict(fields)["kernel"] == 9 + 4  # 0 to 256 registers
    workload = prepare(CFG, exits(0))
    stimulus = Stimulus(results=[None] * CFG.ports, kernel=workload.kernel, operand=5)
    word, values = StimulusPacker(CFG).pack(stimulus), {}
    for name, width in fields:
        values[name] = word & ((1 << width) - 1)
        word >>= width
    assert (values["kernel_valid"], values["operand_valid"], values["operand"]) == (1, 1, 5)
    assert values["kernel"] == pack_fields(kernel_fields(CFG), {"registers": 6, "base": 4})
    assert StimulusPacker(CFG).pack(Stimulus(results=[None] * CFG.ports)) == 0
    assert EXIT.operand == 0

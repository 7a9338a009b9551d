"""What is declared of the toy."""

from __future__ import annotations

import dataclasses
import random

import numpy as np

from tests.golden.scenario import op
from warpfile.schemes import PARTS, Part, Scheme
from warpfile.spec.config import Config
from warpfile.spec.contract import Gives
from warpfile.spec.rewrite import Insertion, copied, rewritten
from warpfile.spec.trace import Drain, Kind, Port, StaticInstruction, Trace


class ToyConfig(Config):
    """Asks for a start, kernel, operands and sweeps."""

    @property
    def gives(self) -> Gives:
        """Accesses as in the plain register file."""
        return Gives(cycles=self.bank_cycles, kernel=True, sweeps=True, starts=True)

    @property
    def operand_bits(self) -> int:
        """Cycles for which a pseudo-instruction holds its warp."""
        return 5

    @property
    def descriptor(self) -> tuple[tuple[str, int], ...]:
        """Cycles from an EXIT to the end of the sweep."""
        return (("pause", 3),)


FILE = Part(
    name="toy",
    slot="rf",
    summary="for tests",
    golden="tests.toy.golden:ToyFile",
    rtl="tests.toy.rtl:ToyFile",
    parameters=ToyConfig,
)
TOY = Scheme(name="toy", summary="for tests", preset="tiny", collectors=PARTS["units"], rf=FILE)


def pseudo(operand: int, drain: Drain = Drain.NONE) -> StaticInstruction:
    """A pseudo-instruction of the toy."""
    return op(port=Port.NONE, kind=Kind.SCHEME, text=f"HOLD {operand}", operand=operand, drain=drain)


def toyed(trace: Trace, seed: int) -> Trace:
    """The trace with pseudo-instructions and moves to registers of their own in it."""
    rng = random.Random(seed)
    spare = trace.registers
    wider = dataclasses.replace(trace, registers=spare + 2, descriptor={"pause": rng.randrange(8)})
    found, ends = [], set((trace.warp_start[1:] - 1).tolist())
    for record in np.flatnonzero(np.array([rng.random() < 0.15 for _ in range(trace.records)])).tolist():
        after = record not in ends and rng.random() < 0.5
        if rng.random() < 0.5:
            move = op((rng.randrange(spare),), spare + rng.randrange(2), text="MOV", opcode="MOV")
            found.append(Insertion(record, move, after, copied))
        found.append(Insertion(record, pseudo(rng.choice((0, 0, 1, 2, 31)), rng.choice(list(Drain))), after))
    return rewritten(wider, found, annotation="toy")

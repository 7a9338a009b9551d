"""The lockstep bench with a golden model that does not look at operands, so that the harness alone can find one."""

from collections.abc import Sequence

import warpfile.golden.machine as machine
from tests.movers.scheme import FILE as MOVERS
from tests.striped.scheme import FILE as STRIPED
from warpfile.schemes import PARTS
from warpfile.sim.bench import lockstep
from warpfile.spec.beat import Beat

__all__ = ["lockstep"]

PARTS.update({file.name: file for file in (MOVERS, STRIPED)})


def _counted(cycle: int, warp: int, beat: Beat, values: Sequence[int]) -> int:
    return sum(expected >= 0 for expected in beat.expected)


machine.check_operands = _counted

"""The lockstep bench, in a process that knows the file that moves rows."""

from tests.movers.scheme import FILE
from warpfile.schemes import PARTS
from warpfile.sim.bench import lockstep

PARTS[FILE.name] = FILE

__all__ = ["lockstep"]

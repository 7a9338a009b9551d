"""The lockstep bench, in a process that knows the toy."""

from tests.toy.scheme import TOY
from warpfile.sim.bench import lockstep

__all__ = ["TOY", "lockstep"]

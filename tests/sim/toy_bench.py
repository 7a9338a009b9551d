"""The lockstep bench, in a process that knows the toy."""

from tests.toy.scheme import TOY
from warpfile.schemes import SCHEMES
from warpfile.sim.bench import lockstep

SCHEMES[TOY.name] = TOY

__all__ = ["lockstep"]

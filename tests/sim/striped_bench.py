"""The lockstep bench, in a process that knows the striped register file."""

from tests.striped.scheme import FILE
from warpfile.schemes import PARTS
from warpfile.sim.bench import lockstep

PARTS[FILE.name] = FILE

__all__ = ["lockstep"]

"""Which two instructions no lane executes both of."""

from __future__ import annotations

from dataclasses import replace

from warpfile.compiler.cfg import Cfg
from warpfile.compiler.liveness import PREDICATE_BIT, UNIFORM_PREDICATE_BIT
from warpfile.compiler.reaching import may_define


def exclusive(graph: Cfg, first: int, second: int) -> bool:
    """Whether two instructions of one block have opposite guards, and nothing between them may write the predicate.

    ``first`` and ``second`` are indices. The answer is no if ``second`` does not come behind ``first``.
    """
    code = graph.function.instructions
    one, other = code[first].guard, code[second].guard
    if one is None or other is None or replace(one, negate=not one.negate) != other:
        return False
    if first >= second or graph.block_of[first] != graph.block_of[second]:
        return False
    bit = 1 << one.number + (UNIFORM_PREDICATE_BIT if one.uniform else PREDICATE_BIT)
    return not any(may_define(code[index]) & bit for index in range(first, second))

"""Which registers hold one value in all lanes that run together, and which branches are proven warp-uniform.

Lattice, for every register at every point: uniform (equal in all active lanes, proven) below divergent. A point's
element is the set of divergent registers; join is union; the least solution of

    in(x)  = union of out(y) over the predecessors y, at a kernel's start everything but the uniform files;
             where lanes of two sides of a divergent branch may come together, that is at its rejoin block and at
             every block in the regions of two sides, also every register defined in its influence region
    out(x) = in(x) - kills(x) | varying(x)

where varying(x) are x's definitions if x is not a function of its operands alone (see below), if an operand or the
guard is divergent, or if x is in the region of a divergent branch whose lanes never surely meet again; else none.
Under a uniform guard a definition keeps the old element too, because it does not kill.

Uniform are literals, constants at uniform places, uniform registers and predicates, CTA numbers, votes, results of
CTA reductions and read-only loads from uniform addresses. Other loads, atomics, shuffles, matrix operations, local
memory, thread and lane numbers, clocks, textures and opaque opcodes are divergent. BRA.DIV and BRA.CONV ask about the
warp as a whole and are uniform.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpfile.compiler.cfg import Cfg
from warpfile.compiler.liveness import EVERYTHING, UNIFORM_BIT, effects_of_guard, goes_anywhere, transfer, used
from warpfile.compiler.model import Instruction, Name
from warpfile.compiler.opcodes import FORMS, Dest
from warpfile.compiler.reaching import may_define
from warpfile.compiler.rejoin import Influence, influence, rejoins
from warpfile.spec.trace import Access

VECTOR = (1 << UNIFORM_BIT) - 1  #: general registers and predicates, the files that can diverge
_UNIFORM_SPECIAL = ("SR_CTAID", "SR_NCTAID", "SR_NTID", "SRZ")
_CROSS_LANE = frozenset(
    "SHFL MATCH HMMA IMMA BMMA DMMA MOVM FSWZADD LDSM BMOV TEX TLD TLD4 TXD TMML SULD SUATOM".split()
)
_SAME_FOR_ALL = frozenset("VOTE LEPC".split())


@dataclass(frozen=True)
class Branch:
    """The branch that ends a block, and whether it is proven that all active lanes go the same way."""

    block: int
    is_uniform: bool
    influence: Influence


@dataclass(frozen=True)
class Divergence:
    """Divergent registers before every instruction as bit sets of ``compiler.liveness``, and all branches."""

    divergent_in: tuple[int, ...]
    branches: tuple[Branch, ...]


def divergence(cfg: Cfg) -> Divergence:
    """Least solution of the module's equations. More divergent branches make more divergent registers: iterated."""
    joins = rejoins(cfg)
    candidates = {
        block.index: influence(cfg, joins, block.index) for block in cfg.blocks if _is_branch(cfg, block.index)
    }
    divergent: set[int] = set()
    while True:
        before = _solve(cfg, [candidates[block] for block in sorted(divergent)])
        found = {block for block in candidates if _conditions(cfg, block) & before[cfg.blocks[block].end - 1]}
        if found <= divergent:
            branches = (Branch(block, block not in divergent, candidates[block]) for block in sorted(candidates))
            return Divergence(before, tuple(branches))
        divergent |= found


def _is_branch(cfg: Cfg, block: int) -> bool:
    """Whether lanes can part behind a block: more than one way to go on that is not an end."""
    last = cfg.last(cfg.blocks[block])
    if last.opcode in ("BRA", "BRX"):
        return len(set(cfg.successors[block])) > 1 or goes_anywhere(last)
    if last.opcode == "RET" or (last.opcode == "CALL" and last.is_conditional):
        return len({target for source, target in cfg.flow_edges if source == block}) > 1
    return False


def _conditions(cfg: Cfg, block: int) -> int:
    """Registers that decide where lanes go behind a block."""
    last = cfg.last(cfg.blocks[block])
    if {"DIV", "CONV"} & set(last.modifiers):
        return 0
    return transfer(last).uses & VECTOR


def _solve(cfg: Cfg, divergent: list[Influence]) -> tuple[int, ...]:
    """Divergent registers before every instruction, for given divergent branches."""
    instructions = cfg.function.instructions
    ins, torn = _sources(cfg, divergent)
    before, work = [0] * len(instructions), list(range(len(cfg.blocks)))
    successors: list[list[int]] = [[] for _ in cfg.blocks]
    for source, target in cfg.flow_edges:
        successors[source].append(target)
    while work:
        block = cfg.blocks[work.pop()]
        state = ins[block.index]
        for index in block.instructions:
            instruction, before[index] = instructions[index], state
            varies = block.index in torn or _varies(instruction, state)
            state &= ~transfer(instruction).kills
            state |= may_define(instruction) & VECTOR if varies else 0
        for target in successors[block.index]:
            if state & ~ins[target]:
                ins[target] |= state
                work.append(target)
    return tuple(before)


def _sources(cfg: Cfg, divergent: list[Influence]) -> tuple[list[int], set[int]]:
    """What is divergent at the start of every block in any case, and the blocks where every definition is."""
    ins, torn = [0] * len(cfg.blocks), set[int]()
    for branch in divergent:
        if branch.rejoin is None:
            torn |= branch.region
            continue
        changed = 0
        for block in branch.region:
            for index in cfg.blocks[block].instructions:
                changed |= may_define(cfg.function.instructions[index]) & VECTOR
        shared = {block for block in branch.region if sum(block in region for region in branch.regions) > 1}
        for block in shared | {branch.rejoin}:
            ins[block] |= changed
    entries = set(range(len(cfg.blocks))) - {target for _, target in cfg.flow_edges}
    for entry in entries | set(cfg.entries.values() if cfg.has_indirect_calls else ()):
        ins[entry] = EVERYTHING & VECTOR
    ins[0] = EVERYTHING & VECTOR
    return ins, torn


def _varies(instruction: Instruction, divergent: int) -> bool:
    """Whether the definitions may differ between the executing lanes, or between those and the skipping ones."""
    opcode, form = instruction.opcode, FORMS.get(instruction.opcode)
    if form is None or opcode in _CROSS_LANE or opcode == "CALL":
        return True
    if used(effects_of_guard(instruction)) & divergent:
        return True
    if opcode in _SAME_FOR_ALL or form.dest is Dest.UNIFORM:
        return False
    if opcode in ("S2R", "CS2R", "B2R"):
        return not _reads_uniform(instruction)
    if form.access is not Access.NONE and opcode != "LDC" and "CONSTANT" not in instruction.modifiers:
        return True
    return bool(transfer(instruction).uses & divergent)


def _reads_uniform(instruction: Instruction) -> bool:
    if instruction.opcode == "B2R":
        return "RESULT" in instruction.modifiers
    names = [operand.text for operand in instruction.operands if isinstance(operand, Name)]
    return bool(names) and names[0].startswith(_UNIFORM_SPECIAL)

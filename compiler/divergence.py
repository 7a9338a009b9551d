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

from warpfile.compiler.cfg import Block, Cfg
from warpfile.compiler.liveness import EVERYTHING, UNIFORM_BIT, effects_of_guard, goes_anywhere, transfer, used
from warpfile.compiler.memoized import memoized
from warpfile.compiler.model import Instruction, Name
from warpfile.compiler.opcodes import FORMS, Dest
from warpfile.compiler.reaching import may_define
from warpfile.compiler.reconvergence import Influence, influence, reconvergence_points
from warpfile.compiler.regions import Regions, by_rejoin
from warpfile.compiler.worklist import Worklist
from warpfile.spec.trace import Access

VECTOR = (1 << UNIFORM_BIT) - 1  #: general registers and predicates, the files that can diverge
_UNIFORM_SPECIAL = ("SR_CTAID", "SR_NCTAID", "SR_NTID", "SRZ", "SR_CgaCtaId", "SR_SWINHI")
_CROSS_LANE = frozenset(
    "ELECT SHFL MATCH HMMA IMMA BMMA DMMA MOVM FSWZADD LDSM BMOV TEX TLD TLD4 TXD TMML SULD SUATOM".split()
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


@memoized
def divergence(cfg: Cfg) -> Divergence:
    """Least solution of the module's equations."""
    joins = reconvergence_points(cfg)
    candidates = {b.index: influence(cfg, joins, b.index) for b in cfg.blocks if _is_branch(cfg, b.index)}
    solver = _Solver(cfg, candidates)
    solver.solve()
    branches = (Branch(block, block not in solver.divergent, candidates[block]) for block in sorted(candidates))
    return Divergence(tuple(solver.before), tuple(branches))


def _is_branch(cfg: Cfg, block: int) -> bool:
    """Whether lanes can part behind a block: more than one way to go on that is not an end."""
    last = cfg.last(cfg.blocks[block])
    if last.opcode in ("BRA", "BRX"):
        return len(set(cfg.successors[block])) > 1 or goes_anywhere(last)
    if last.opcode == "RET" or (last.opcode == "CALL" and last.is_conditional):
        return len(set(cfg.flow_successors[block])) > 1
    return False


def _conditions(cfg: Cfg, block: int) -> int:
    """Registers that decide where lanes go behind a block."""
    last = cfg.last(cfg.blocks[block])
    if {"DIV", "CONV"} & set(last.modifiers):
        return 0
    return transfer(last).uses & VECTOR


class _Solver:
    """Visits blocks until nothing changes; a branch that turns out to be divergent adds to what holds elsewhere."""

    def __init__(self, cfg: Cfg, candidates: dict[int, Influence]) -> None:
        self.cfg, self.candidates = cfg, candidates
        self.before = [0] * len(cfg.function.instructions)
        self.divergent: set[int] = set()
        self.torn: set[int] = set()  #: blocks where every definition is divergent
        self.conditions = {block: _conditions(cfg, block) for block in candidates}
        self.groups = {one.block: of for of, group in by_rejoin(cfg, candidates.values()) for one in group}
        self.defined: dict[Regions, dict[int, int]] = {}
        self.joined: dict[tuple[Regions, int], int] = {}
        self.work = Worklist(cfg.flow_order)
        self.ins = [0] * len(cfg.blocks)
        entries = set(range(len(cfg.blocks))) - {target for _, target in cfg.flow_edges} | {0}
        for entry in entries.union(cfg.entries.values() if cfg.has_indirect_calls else ()):
            self.ins[entry] = EVERYTHING & VECTOR

    def solve(self) -> None:
        """Find the solution."""
        while self.work:
            index = self.work.pop()
            state = self._after(self.cfg.blocks[index])
            for target in self.cfg.flow_successors[index]:
                self._add(target, state)
            decides = self.conditions.get(index, 0) & self.before[self.cfg.blocks[index].end - 1]
            if decides and index not in self.divergent:
                self.divergent.add(index)
                self._part(self.candidates[index])

    def _after(self, block: Block) -> int:
        state, is_torn = self.ins[block.index], block.index in self.torn
        for index in block.instructions:
            self.before[index] = state
            step = _step(self.cfg.function.instructions[index])
            state = state & ~step.kills | (step.defines if is_torn or step.varies or step.depends & state else 0)
        return state

    def _add(self, block: int, registers: int) -> None:
        if registers & ~self.ins[block]:
            self.ins[block] |= registers
            self.work.push(block)

    def _part(self, branch: Influence) -> None:
        """Lanes may part at this branch."""
        if not branch.sides:
            torn = [block.index for block in self.cfg.blocks if block.index not in self.torn]
            self.torn.update(torn)
        elif branch.rejoin is None:
            torn = self.groups[branch.block].spread_from(branch.sides, self.torn)
        else:
            self._join(branch, branch.rejoin)
            return
        for block in torn:
            self.work.push(block)

    def _join(self, branch: Influence, rejoin: int) -> None:
        """Where lanes of two sides may come together, what they have defined differs."""
        regions = self.groups[branch.block]
        if regions not in self.defined:
            self.defined[regions] = regions.gathered(lambda block: _defines(self.cfg, block))
        changed = seen = shared = 0
        for side in branch.sides:
            changed |= self.defined[regions].get(side, 0)
            shared |= seen & regions.region(side)
            seen |= regions.region(side)
        known = self.joined.get((regions, changed), 0)
        self.joined[regions, changed] = known | shared
        for block in (rejoin, *regions.members(shared & ~known)):
            self._add(block, changed)


def _defines(cfg: Cfg, block: int) -> int:
    """Registers of the diverging files that a block may define."""
    registers = 0
    for index in cfg.blocks[block].instructions:
        registers |= may_define(cfg.function.instructions[index]) & VECTOR
    return registers


@dataclass(frozen=True)
class _Step:
    """One instruction: it ``defines`` divergent values if it ``varies`` or one of the registers ``depends`` does."""

    kills: int
    defines: int
    varies: bool
    depends: int


@memoized
def _step(instruction: Instruction) -> _Step:
    """Whether the definitions may differ between the executing lanes, or between those and the skipping ones."""
    opcode, form, found = instruction.opcode, FORMS.get(instruction.opcode), transfer(instruction)
    varies, depends = False, used(effects_of_guard(instruction))
    if form is None or opcode in _CROSS_LANE or opcode == "CALL":
        varies = True
    elif opcode in _SAME_FOR_ALL or form.dest is Dest.UNIFORM:
        pass
    elif opcode in ("S2R", "CS2R", "B2R"):
        varies = not _reads_uniform(instruction)
    elif form.access is not Access.NONE and opcode != "LDC" and "CONSTANT" not in instruction.modifiers:
        varies = True
    else:
        depends |= found.uses
    return _Step(found.kills, may_define(instruction) & VECTOR, varies, depends)


def _reads_uniform(instruction: Instruction) -> bool:
    if instruction.opcode == "B2R":
        return "RESULT" in instruction.modifiers
    names = [operand.text for operand in instruction.operands if isinstance(operand, Name)]
    return bool(names) and names[0].startswith(_UNIFORM_SPECIAL)

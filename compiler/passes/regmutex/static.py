"""What the pass does with a function of a listing: sizes of both sets, stretches, names and inserted code."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial

from warpfile.compiler.cfg import STEP, build_cfg
from warpfile.compiler.memoized import memoized
from warpfile.compiler.model import Function, Immediate, Instruction, Label
from warpfile.compiler.passes.regmutex.choice import Limits, choose, overridden
from warpfile.compiler.passes.regmutex.groups import Groups, find_groups
from warpfile.compiler.passes.regmutex.layout import Rewriting, rewriting
from warpfile.compiler.passes.regmutex.stretches import Code, Stretches, find_stretches
from warpfile.compiler.passes.unknown_code import unknown
from warpfile.spec.schemes.regmutex import RegMutexConfig

_MEETINGS = ("BAR", "BSYNC", "WARPSYNC")


@dataclass(frozen=True)
class Plan:
    """Sizes of the sets, and the code for them; ``reason`` says why there is no extended set."""

    base: int
    extended: int = 0
    reason: str = ""
    rewriting: Rewriting = field(default_factory=Rewriting)
    stretches: Stretches | None = None

    @property
    def counts(self) -> dict[str, int]:
        """Instructions that are inserted into the code, by kind."""
        found = Counter(static.opcode for static in self.rewriting.inserted)
        moves = found["MOV"] + found["LOP3.LUT"]
        return {"inserted_acq": found["ACQ"], "inserted_rel": found["REL"], "inserted_mov": moves}


def unsuitable(function: Function) -> str:
    """Why nothing can be said of where warps of a function wait, or of what they need; empty if it can."""
    for one in function.instructions:
        if reason := unknown(one):
            return reason
        where = f"{one.full_opcode} at {one.offset:#x}"
        if one.opcode in _MEETINGS and (one.is_conditional or not _for_all(one)):
            return f"{where} is not for all lanes"
        targets = [operand.offset for operand in one.operands if isinstance(operand, Label)]
        if one.opcode == "BRA" and one.is_conditional and targets == [one.offset + STEP]:
            return f"{where} parts lanes that go to one place"
    return ""


def _for_all(meeting: Instruction) -> bool:
    """Whether lanes that come together go on together."""
    masks = [operand.value for operand in meeting.operands if isinstance(operand, Immediate)]
    return meeting.opcode != "WARPSYNC" or masks == [0xFFFFFFFF] or "ALL" in meeting.modifiers


def planned(function: Function, registers: int, limits: Limits, cfg: RegMutexConfig) -> Plan:
    """The plan for a kernel of so many registers.

    Raises ``ValueError`` where what the configuration asks for cannot be: ``es_override`` that the places or the code
    do not allow, one bit per pair with code for which it is not known whether the warp has its section.
    """
    problem = unsuitable(function)
    if cfg.es_override:
        base = overridden(registers, limits, cfg.es_override)
        if problem:
            raise ValueError(f"es_override must be 0 for {function.name}: {problem}")
        try:
            return _planner(function, registers, cfg).plan(base)
        except _Unfit as unfit:
            size = f"es_override must be less than {cfg.es_override} for {function.name}"
            raise ValueError(f"{size}, with a base set of {base}: {unfit}") from None
    if problem:
        return Plan(cfg.allocated(registers), reason=problem)
    planner = _planner(function, registers, cfg)
    extended = choose(registers, limits, cfg, planner.fits)
    if not extended:
        return Plan(planner.total, reason=planner.refused or "registers do not limit the warps, or no size fits")
    return planner.plan(planner.total - extended)


class _Unfit(ValueError):
    """A base set that the code cannot do with."""


@memoized
def _planners(function: Function) -> dict[tuple[int, int, int, str], _Planner]:
    """Planners of a function, by all that their plans depend on: schemes that agree in it share them."""
    return {}


def _planner(function: Function, registers: int, cfg: RegMutexConfig) -> _Planner:
    known, key = _planners(function), (registers, cfg.merge_gap, cfg.hoist, cfg.pair_state)
    if key not in known:
        known[key] = _Planner(function, registers, cfg)
    known[key].refused = ""
    return known[key]


class _Planner:
    """Plans of one function, by base set."""

    def __init__(self, function: Function, registers: int, cfg: RegMutexConfig) -> None:
        self.code, self.registers, self.cfg = Code(build_cfg(function)), registers, cfg
        self.total = cfg.allocated(registers)
        self.groups: Groups | None = None
        self.plans: dict[int, Plan] = {}
        self.unfit: dict[int, str] = {}
        self.refused = ""

    def fits(self, base: int) -> bool:
        """Whether the code can do with a base set."""
        try:
            self.plan(base)
        except _Unfit as unfit:
            self.refused = str(unfit)
            return False
        return True

    def plan(self, base: int) -> Plan:
        """The plan for a base set."""
        if base not in self.plans and base not in self.unfit:
            try:
                self.plans[base] = self._plan(base)
            except _Unfit as unfit:
                self.unfit[base] = str(unfit)
        if base in self.unfit:
            raise _Unfit(self.unfit[base])
        return self.plans[base]

    def _plan(self, base: int) -> Plan:
        proven = self.cfg.pair_state == "pair"
        if self.code.at_barriers > base:
            raise _Unfit(f"the code needs {self.code.at_barriers} registers at a barrier")
        try:
            groups = self.groups = self.groups or find_groups(self.code.cfg)
            stretches = partial(self._stretches, base)
            found, code = rewriting(stretches, groups, base, self.registers, again=not proven)
        except ValueError as error:
            raise _Unfit(str(error)) from None
        if proven:
            _prove(found)
        return Plan(base, self.total - base, "", code, found)

    def _stretches(self, base: int, forced: frozenset[int]) -> Stretches:
        found = find_stretches(self.code, base, self.cfg.merge_gap, bool(self.cfg.hoist), forced)
        trouble = found.trouble()
        if trouble:
            raise ValueError(trouble)
        return found


def _prove(found: Stretches) -> None:
    """Refuse code of which it is not certain that an ACQ finds the warp without its section, and no way out with it.

    A REL always finds the warp with it: it stands behind a point with S = 1.
    """
    crowded = found.crowded()
    for block in found.rises():
        if block in crowded:
            offset = 16 * found.code.cfg.blocks[block].start
            raise ValueError(f"pair_state must be warp for this code: an ACQ at {offset:#x} may find the section held")
    for index in sorted(found.code.exits):
        if found.held[index]:
            raise ValueError(f"pair_state must be warp for this code: lanes end with the section at {16 * index:#x}")

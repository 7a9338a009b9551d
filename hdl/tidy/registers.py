"""What registers become, and blocks as choices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from warpfile.hdl.expressions import Ref
from warpfile.hdl.netlist import Case, If, Set, Statement, chosen, parts
from warpfile.hdl.tidy.work import Work


def join_registers(work: Work) -> None:
    """A register's next value is set where the register is."""
    module = work.module
    of = {_target(block): block for block in module.blocks}
    read_by = Counter(ref.name for ref in work.all_reads())
    joined = []
    for register in module.clocked:
        (one,) = register.statements
        assert isinstance(one, Set)
        if not (isinstance(one.value, Ref) and one.value.high is None and isinstance(one.target, Ref)):
            continue
        block = of.get(one.value.name)
        if block is None or read_by[one.value.name] > 1 or one.target.high is not None:
            continue
        joined.append(id(block))
        statements = _retargeted(block, one.target.name)
        hold = statements[0]
        if isinstance(hold, Set) and hold.target == hold.value == one.target:
            statements = statements[1:]
        register.statements = _reset_first(statements, one.target)
    module.blocks = [block for block in module.blocks if id(block) not in joined]


def blocks_as_choices(work: Work) -> None:
    """Blocks that set a whole net, as its driver."""
    kept = []
    for block in work.module.blocks:
        found = chosen(block, work.module)
        target = _target(block)
        if found is None or target is None:
            kept.append(block)
        else:
            work.module.drivers.append(Set(Ref(target), found))
            work.module.starts.pop(target, None)
    work.module.blocks = kept


def _target(block: tuple[Statement, ...]) -> str | None:
    """The one net that a block sets."""
    found = {one.target.name if isinstance(one.target, Ref) else "" for one in parts(block)}
    return found.pop() if len(found) == 1 else None


def _retargeted(statements: Iterable[Statement], name: str) -> tuple[Statement, ...]:
    done: list[Statement] = []
    for one in statements:
        if isinstance(one, Set):
            assert isinstance(one.target, Ref)
            done.append(Set(Ref(name, one.target.high, one.target.low), one.value))
        elif isinstance(one, Case):
            done.append(Case(one.subject, tuple((labels, _retargeted(body, name)) for labels, body in one.branches)))
        else:
            done.append(If(tuple((condition, _retargeted(body, name)) for condition, body in one.branches)))
    return tuple(done)


def _reset_first(statements: tuple[Statement, ...], whole: Ref) -> tuple[Statement, ...]:
    """What sets the whole register in the end, whatever happened before, said first."""
    last = statements[-1]
    if len(statements) > 1 and isinstance(last, If) and len(last.branches) == 1:
        (condition, body), *_ = last.branches
        if len(body) == 1 and isinstance(body[0], Set) and body[0].target == whole and condition == Ref("rst"):
            rest = statements[:-1]
            if len(rest) == 1 and isinstance(rest[0], If):
                return (If((*last.branches, *rest[0].branches)),)
            return (If((*last.branches, (None, rest))),)
    return statements

"""Modules of the Verilog that yosys writes, as ports, nets, drivers, registers and instances."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from warpfile.hdl.expressions import Const as Number
from warpfile.hdl.expressions import Expression, Op, Ref, UnknownTextError, number, parsed, refs, value, width

#: Registers that only make a block run at time 0.
START = "\\$auto$verilog_backend"
_HEAD = re.compile(r"module (\\\S+|\w+) ?\(([^;]*)\);$", re.DOTALL)
_DECLARED = re.compile(r"  (wire|reg|input|output) (?:\[(\d+):0\] )?(\\\S+|\w+) *(?:= ([^;]+))?;$")
_ASSIGN = re.compile(r"  assign (.+?) = (.+);$")
_CLOCKED = re.compile(r"  always @\(posedge (\w+)\)$")
_SET = re.compile(r" +(.+?) (<?=) (.+);$")
_INSTANCE = re.compile(r"  (\\\S+|\w+) +(\\\S+|\w+) +\($")
_PIN = re.compile(r"    \.(\\\S+|\w+) ?\((.*)\),?$")
_CASE = re.compile(r" +case[xz]? \((.+)\)$")
_IF = re.compile(r" +(?:end else )?if \((.+)\) begin$")


@dataclass(frozen=True, slots=True)
class Set:
    """A target gets a value."""

    target: Expression
    value: Expression


@dataclass(frozen=True, slots=True)
class If:
    """Branches in the order in which they are tried: a condition and what is done; None always holds."""

    branches: tuple[tuple[Expression | None, tuple[Statement, ...]], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """What is done for which values; no values stands for all others."""

    subject: Expression
    branches: tuple[tuple[tuple[Expression, ...], tuple[Statement, ...]], ...]


Statement = Set | If | Case


@dataclass(slots=True)
class Register:
    """Statements at a clock's rising edge."""

    clock: str
    statements: tuple[Statement, ...]


@dataclass(slots=True)
class Instance:
    """A module in this one; None is a pin left open."""

    module: str
    name: str
    pins: dict[str, Expression | None]


@dataclass
class Netlist:
    """One module."""

    name: str
    ports: list[str]
    directions: dict[str, str] = field(default_factory=dict)
    widths: dict[str, int] = field(default_factory=dict)
    starts: dict[str, str | None] = field(default_factory=dict)  #: registers, with the value at time 0
    drivers: list[Set] = field(default_factory=list)
    clocked: list[Register] = field(default_factory=list)
    blocks: list[tuple[Statement, ...]] = field(default_factory=list)  #: combinational, one target each
    instances: list[Instance] = field(default_factory=list)


def read(text: str) -> Netlist:
    """The module that a text is. Raises :class:`UnknownTextError` where yosys would not have written it."""
    found = re.search(r"^module .*?\);$", text, re.MULTILINE | re.DOTALL)
    head = _HEAD.match(found[0]) if found else None
    if not found or not head:
        raise UnknownTextError(text[:80])
    netlist = Netlist(_name(head[1]), [_name(port) for port in head[2].split(",")])
    _Lines(text[found.end() :].split("\n"), netlist).read()
    return netlist


def _name(text: str) -> str:
    return text.strip()


@dataclass
class _Lines:
    """The lines of a module's body, read from the front."""

    lines: list[str]
    netlist: Netlist
    at: int = 0

    def read(self) -> None:
        alone: list[Set] = []  # of a net of which a block sets other bits
        while self.lines[self.at] != "endmodule":
            line = self.lines[self.at]
            self.at += 1
            if line.startswith("  assign ") and (found := _ASSIGN.match(line)):
                self.netlist.drivers.append(Set(parsed(found[1]), parsed(found[2])))
            elif found := _DECLARED.match(line):
                self._declare(*found.groups())
            elif found := _CLOCKED.match(line):
                statement = self._set()
                self.netlist.clocked.append(Register(found[1], (statement,)))
            elif line == "  always @* begin":
                self.netlist.blocks.append(self._block())
            elif line == "  always @*":
                alone.append(self._set())
            elif found := _INSTANCE.match(line):
                self._instance(found[1], found[2])
            elif line and not re.fullmatch(r"  \(\*.*\*\)", line):
                raise UnknownTextError(line)
        for one in alone:
            self._put_to_its_block(one)

    def _put_to_its_block(self, one: Set) -> None:
        """A net has one block that sets it."""
        names = {ref.name for ref in refs(one.target)}
        for at, block in enumerate(self.netlist.blocks):
            if names & {ref.name for other in parts(block) for ref in refs(other.target)}:
                self.netlist.blocks[at] = (one, *block)
                return
        self.netlist.blocks.append((one,))

    def _declare(self, kind: str, high: str | None, name: str, start: str | None) -> None:
        self.netlist.widths[name] = int(high or 0) + 1
        if kind == "reg":
            if not name.startswith(START):
                self.netlist.starts[name] = start
        elif kind != "wire":
            self.netlist.directions[name] = kind

    def _set(self) -> Set:
        found = _SET.match(self.lines[self.at])
        if not found:
            raise UnknownTextError(self.lines[self.at])
        self.at += 1
        return Set(parsed(found[1]), parsed(found[3]))

    def _instance(self, module: str, name: str) -> None:
        pins: dict[str, Expression | None] = {}
        while self.lines[self.at] != "  );":
            found = _PIN.match(self.lines[self.at])
            if not found:
                raise UnknownTextError(self.lines[self.at])
            pins[found[1]] = parsed(found[2]) if found[2].strip() else None
            self.at += 1
        self.at += 1
        self.netlist.instances.append(Instance(module, name, pins))

    def _block(self) -> tuple[Statement, ...]:
        if self.lines[self.at].lstrip().startswith(f"if ({START}"):
            self.at += 1
        statements = tuple(self._statements())
        self.at += 1  # end
        return statements

    def _statements(self) -> Iterator[Statement]:
        while not re.match(r" *(end\b|endcase|default:|[^=]*:$)", line := self.lines[self.at]):
            if line.lstrip().startswith(("(*", "/* empty */")):
                self.at += 1
            elif found := _IF.match(line):
                yield self._if()
            elif found := _CASE.match(line):
                self.at += 1
                yield self._case(parsed(found[1]))
            else:
                yield self._set()

    def _if(self) -> If:
        branches: list[tuple[Expression | None, tuple[Statement, ...]]] = []
        while (line := self.lines[self.at]).strip() != "end":
            found = _IF.match(line)
            if not found and line.strip() != "end else begin":
                raise UnknownTextError(line)
            self.at += 1
            branches.append((parsed(found[1]) if found else None, tuple(self._statements())))
        self.at += 1
        return If(tuple(branches))

    def _case(self, subject: Expression) -> Case:
        branches: list[tuple[tuple[Expression, ...], tuple[Statement, ...]]] = []
        while (line := self.lines[self.at].strip()) != "endcase":
            if not line.endswith(":"):
                raise UnknownTextError(line)
            self.at += 1
            labels = () if line == "default:" else tuple(parsed(one) for one in line[:-1].split(", "))
            body = tuple(self._statements())
            branches.append((labels, body))
        self.at += 1
        return Case(subject, tuple(branches))


def parts(statements: Iterable[Statement]) -> Iterator[Set]:
    """All assignments among statements."""
    for one in statements:
        if isinstance(one, Set):
            yield one
        else:
            for _, body in one.branches:
                yield from parts(body)


def reads(statements: Iterable[Statement]) -> Iterator[Ref]:
    """All names that statements read."""
    for one in statements:
        if isinstance(one, Set):
            yield from refs(one.value)
            continue
        if isinstance(one, Case):
            yield from refs(one.subject)
        for condition, body in one.branches:
            if condition is not None and not isinstance(condition, tuple):
                yield from refs(condition)
            yield from reads(body)


def chosen(statements: Iterable[Statement], netlist: Netlist, before: Expression | None = None) -> Expression | None:
    """The value that a target has behind statements, as choices; None if one of them sets a part of it or nothing is
    set."""
    for one in statements:
        if isinstance(one, Set):
            if not isinstance(one.target, Ref) or one.target.high is not None:
                return None
            before = one.value
        elif isinstance(one, If):
            before = _choice(list(one.branches), netlist, before)
        else:
            before = _choice(_tests(one, netlist), netlist, before)
        if before is None:
            return None
    return before


_Branches = list[tuple[Expression | None, tuple[Statement, ...]]]


def _tests(case: Case, netlist: Netlist) -> _Branches:
    """A case as conditions, none for the last one if all values have a branch; empty where a value has unknown bits."""
    bits = width(case.subject, netlist.widths)
    branches: _Branches = []
    known: set[int] = set()
    for labels, body in case.branches:
        tests: list[Expression] = []
        for label in labels:
            amount = value(label) if isinstance(label, Number) else None
            if amount is None:
                return []
            known.add(amount)
            tests.append(Op("==", (case.subject, number(bits, amount))))
        if not tests or len(known) == 1 << bits:
            return [*branches, (None, body)]
        test = tests[0]
        for other in tests[1:]:
            test = Op("|", (test, other))
        branches.append((test, body))
    return branches


def _choice(branches: _Branches, netlist: Netlist, before: Expression | None) -> Expression | None:
    found = before
    if branches and branches[-1][0] is None:
        found = chosen(branches[-1][1], netlist, before)
        branches = branches[:-1]
    elif not branches:
        return None
    for condition, body in reversed(branches):
        then = chosen(body, netlist, before)
        if found is None or then is None or condition is None:
            return None
        if then != found:
            found = Op("?", (condition, then, found))
    return found

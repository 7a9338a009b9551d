"""Generated Verilog without what nobody reads, with operations where they are used, and fields by their names.

yosys gives every operation a wire, every field of a record a name that nothing reads, and every register a block of its
next value. Here

* a register's block says directly what it becomes, other blocks are choices;
* a numbered wire that is a named one takes its name; one that is read once, or is short, is written where it is read,
  if the rules of the language for widths give the same value there;
* bits of a net are read by the name of the field that they are, elements of an array by their place;
* nets that nobody reads, and resets that a module does not use, are left out.

What a module does stays the same; ``tests/hdl/test_tidy.py`` proves it of every module. A module that yosys would not
have written, such as that of an SRAM, stays as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from warpfile.hdl.expressions import (
    ARITHMETIC,
    COMPARISONS,
    SHIFTS,
    Bit,
    Cat,
    Const,
    Expression,
    Op,
    Ref,
    UnknownTextError,
    complete,
    greatest,
    number,
    refs,
    sliced,
    value,
    width,
    written,
)
from warpfile.hdl.fields import Fields, indexed
from warpfile.hdl.netlist import Case, If, Instance, Netlist, Set, Statement, chosen, parts, read, reads

#: Names and numbers of an operation that is written where it is read.
MOST = 12
SHORT = 3  #: of one that is read more than once
LONGEST_NAME = 40
LONGEST = 64  #: of a row of the same operation
_MODULE = re.compile(r"^module (\\\S+|\w+)", re.MULTILINE)
_DIRECTION = re.compile(r"^ +(input|output) (?:reg )? *(?:\[.*?\])? *(\\\S+|\w+)", re.MULTILINE)
_OPTIONAL = ("clk", "rst")  #: ports that a module has only if it uses them


def tidied(text: str, top: str) -> str:
    """The same modules for people; ``top`` keeps all its ports."""
    bodies = [one for one in re.split(r"(?<=^endmodule\n)", text, flags=re.MULTILINE) if one.strip()]
    modules: dict[str, Netlist | str] = {}
    for body in bodies:
        found = _MODULE.search(body)
        try:
            modules[found[1] if found else ""] = read(body)
        except UnknownTextError:
            modules[found[1] if found else ""] = body
    outputs = {name: _outputs(module) for name, module in modules.items()}
    used: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for name in _below_first(modules):
        module = modules[name]
        if isinstance(module, str):
            texts[name] = module
            continue
        for instance in module.instances:
            kept = used.get(instance.module, instance.pins)
            instance.pins = {pin: one for pin, one in instance.pins.items() if pin in kept or pin not in _OPTIONAL}
        texts[name] = _Tidy(module, outputs).text(all_ports=name == top)
        used[name] = module.ports
    return "\n".join(texts[name] for name in modules)


def _outputs(module: Netlist | str) -> set[str]:
    found = (
        ((two, one) for one, two in _DIRECTION.findall(module))
        if isinstance(module, str)
        else module.directions.items()
    )
    return {name for name, direction in found if direction == "output"}


def _below_first(modules: Mapping[str, Netlist | str]) -> list[str]:
    order: dict[str, None] = {}

    def visit(name: str) -> None:
        module = modules.get(name)
        if module is None or name in order:
            return
        for instance in module.instances if isinstance(module, Netlist) else ():
            visit(instance.module)
        order[name] = None

    for name in modules:
        visit(name)
    return list(order)


def _numbered(name: str) -> bool:
    return name.startswith("\\$")


@dataclass
class _Tidy:
    """One module on its way."""

    module: Netlist
    outputs: Mapping[str, set[str]]
    names: dict[str, str] = field(default_factory=dict)  #: of numbered wires, those that they are
    fields: dict[str, Fields] = field(default_factory=dict)  #: names of the bits of a net
    aliases: set[str] = field(default_factory=set)
    values: dict[str, Expression] = field(default_factory=dict)  #: what drives a whole net
    counts: Counter[str] = field(default_factory=Counter)
    placed: set[str] = field(default_factory=set)  #: nets whose operations have been put in place

    def text(self, *, all_ports: bool) -> str:
        """The module's text."""
        self._join_registers()
        self._blocks_as_choices()
        self._name()
        self._resolve()
        for name in self._needed():
            bits = self.module.widths[name]
            self.values[name] = self._simple(self._placed(self.values[name], bits), bits)
            self.placed.add(name)
        self._place_elsewhere()
        kept = self._called(self._needed())
        if not all_ports:
            self._leave_out_ports(kept)
        elements = {name: bits for one in self.fields.values() for name, bits in one.elements.items()}
        return "\n".join(indexed(line, elements) for line in self._lines(kept))

    def _join_registers(self) -> None:
        """A register's next value is set where the register is."""
        module = self.module
        of = {_target(block): block for block in module.blocks}
        read_by = Counter(ref.name for ref in self._all_reads())
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

    def _all_reads(self) -> Iterator[Ref]:
        module = self.module
        for driver in module.drivers:
            yield from refs(driver.value)
        for register in module.clocked:
            yield Ref(register.clock)
            yield from reads(register.statements)
        for block in module.blocks:
            yield from reads(block)
        for instance in module.instances:
            for pin, one in instance.pins.items():
                if one is not None and pin not in self.outputs[instance.module]:
                    yield from refs(one)

    def _blocks_as_choices(self) -> None:
        kept = []
        for block in self.module.blocks:
            found = chosen(block, self.module)
            target = _target(block)
            if found is None or target is None:
                kept.append(block)
            else:
                self.module.drivers.append(Set(Ref(target), found))
                self.module.starts.pop(target, None)
        self.module.blocks = kept

    def _name(self) -> None:
        """Find which names are others' bits."""
        widths = self.module.widths
        whole: dict[str, list[str]] = {}
        for driver in self.module.drivers:
            target, one = driver.target, driver.value
            if isinstance(target, Ref) and isinstance(one, Ref) and target.high is None:
                self.aliases.add(target.name)
                if one.high is None and widths[one.name] == widths[target.name]:
                    if _numbered(target.name):
                        self.names[target.name] = one.name
                    elif _numbered(one.name):
                        whole.setdefault(one.name, []).append(target.name)
        for numbered, known in whole.items():
            if numbered not in self.names:
                self.names[numbered] = min(known, key=self._rank)
        for numbered in self.names:
            while self.names[numbered] in self.names:
                self.names[numbered] = self.names[self.names[numbered]]
        for driver in self.module.drivers:
            target, one = driver.target, driver.value
            if (
                isinstance(target, Ref)
                and target.name in self.aliases
                and isinstance(one, Ref)
                and one.high is not None
            ):
                net = self.names.get(one.name, one.name)
                found = self.fields.setdefault(net, Fields(widths[net]))
                found.add(one.high, one.low, target.name, self._rank(target.name, net))

    def _rank(self, name: str, net: str = "") -> tuple[object, ...]:
        stem = net.strip("\\").partition("$")[0]
        plain = name.strip("\\")
        output = self.module.directions.get(name) == "output"
        return (not output if not net else not plain.startswith(stem), plain.count("$"), len(plain), plain)

    def _resolve(self) -> None:
        """Everything in the names found; drivers of whole nets by their net."""
        module, others = self.module, []
        for name in module.directions:
            if module.directions[name] == "output":
                self.aliases.discard(name)
        for driver in module.drivers:
            target, alias = self._mapped(driver.target, self._renamed), isinstance(driver.value, Ref)
            if alias and target == self._mapped(driver.value, self._renamed):
                continue  # the numbered wire has its name now
            one = self._mapped(driver.value, self._renamed if alias else self._field)
            if isinstance(target, Ref) and target.high is None:
                self.values[target.name] = self._simple(one, module.widths[target.name])
            else:
                others.append(Set(target, one))
        module.drivers = others
        for register in module.clocked:
            register.statements = tuple(self._statement(one) for one in register.statements)
        module.blocks = [tuple(self._statement(one) for one in block) for block in module.blocks]
        for instance in module.instances:
            ends = self.outputs[instance.module]
            for pin, end in instance.pins.items():
                if end is not None:
                    instance.pins[pin] = self._mapped(end, self._renamed if pin in ends else self._field)
        for numbered, name in self.names.items():
            if numbered in module.starts:
                module.starts[name] = module.starts.pop(numbered)

    def _renamed(self, ref: Ref) -> Expression:
        name = self.names.get(ref.name)
        return ref if name is None else Ref(name, ref.high, ref.low)

    def _field(self, ref: Ref) -> Expression:
        name = self.names.get(ref.name, ref.name)
        if ref.high is not None and name in self.fields:
            return self.fields[name].named(name, ref.high, ref.low)
        return ref if name == ref.name else Ref(name, ref.high, ref.low)

    def _mapped(self, one: Expression, change: Callable[[Ref], Expression]) -> Expression:
        if isinstance(one, Ref):
            return change(one)
        if isinstance(one, Const):
            return one
        if isinstance(one, Bit):
            return Bit(self.names.get(one.name, one.name), self._mapped(one.place, change), one.count)
        if isinstance(one, Cat):
            return Cat(tuple(self._mapped(item, change) for item in one.items))
        args = tuple(self._mapped(arg, change) for arg in one.args)
        if one.sign == "!x":
            bits = width(args[0], self.module.widths)
            return Op("~x", args) if bits == 1 else Op("==", (args[0], number(bits, 0)))
        if one.sign in COMPARISONS or one.sign in ARITHMETIC:
            args = _as_wide(args, self.module.widths)
        settled = _settled(one.sign, args, self.module.widths)
        return Op(one.sign, args) if settled is None else number(1, settled)

    def _statement(self, one: Statement, change: Callable[[Expression], Expression] | None = None) -> Statement:
        """A statement with other expressions."""
        change = change or (lambda expression: self._mapped(expression, self._field))
        if isinstance(one, Set):
            return Set(self._mapped(one.target, self._renamed), change(one.value))
        if isinstance(one, Case):
            branches = tuple(
                (labels, tuple(self._statement(part, change) for part in body)) for labels, body in one.branches
            )
            return Case(change(one.subject), branches)
        return If(
            tuple(
                (condition and change(condition), tuple(self._statement(part, change) for part in body))
                for condition, body in one.branches
            )
        )

    def _simple(self, one: Expression, bits: int) -> Expression:
        """A product with a power of two as its bits and zeros; a shift of which the lowest bits are read as
        these bits, or zero above the highest one."""
        if not isinstance(one, Op) or len(one.args) != 2:
            return one
        first, second = one.args
        if one.sign == "+" and isinstance(first, Const) and value(first) == 0:
            return sliced(second, bits - 1, 0, self.module.widths) or one
        if one.sign == ">>" and isinstance(first, Ref) and first.high is None and not _signed(second):
            have, highest = self.module.widths[first.name], greatest(second, self.module.widths)
            place = sliced(second, (have - 1).bit_length() - 1, 0, self.module.widths) if have > 1 else None
            if place and highest + bits <= have:
                return Bit(first.name, place, bits)
            if place and bits == 1 and highest >= have and isinstance(second, Ref):
                within = Op("<", (second, number(width(second, self.module.widths), have)))
                return Op("&", (within, Bit(first.name, place)))
        if one.sign == "*" and isinstance(second, Const) and (factor := value(second)) and not factor & (factor - 1):
            zeros, have = factor.bit_length() - 1, width(first, self.module.widths)
            if isinstance(first, Op):
                return one
            if have + zeros <= bits:
                above = (number(bits - have - zeros, 0),) if bits > have + zeros else ()
                below = (number(zeros, 0),) if zeros else ()
                return Cat((*above, first, *below))
        return one

    def _needed(self) -> list[str]:
        """As :meth:`_alive`, without drivers of bits that nobody reads."""
        module = self.module
        while True:
            order, drivers = self._alive(), module.drivers
            module.drivers = [one for one in drivers if any(self._is_read(ref.name) for ref in refs(one.target))]
            if len(module.drivers) == len(drivers):
                return order

    def _is_read(self, name: str) -> bool:
        return self.counts[name] > 0 or self.module.directions.get(name) == "output"

    def _alive(self) -> list[str]:
        """Nets that somebody reads, those that a net depends on before it; how often each is read."""
        self.counts.clear()
        order: list[str] = []
        seen: set[str] = set()
        roots = [name for name, way in self.module.directions.items() if way == "output"]
        for ref in self._all_reads():
            self.counts[ref.name] += 1
            roots.append(ref.name)
        for root in roots:
            if root in seen or root not in self.values:
                continue
            seen.add(root)
            path = [(root, self._below(root))]
            while path:
                name, below = path[-1]
                for child in below:
                    if child not in seen and child in self.values:
                        seen.add(child)
                        path.append((child, self._below(child)))
                        break
                else:
                    order.append(name)
                    path.pop()
        for name in order:
            for ref in refs(self.values[name]):
                self.counts[ref.name] += 1
        return order

    def _below(self, name: str) -> Iterator[str]:
        return (ref.name for ref in refs(self.values[name]))

    def _placed(self, one: Expression, context: int = 0, outer: str = "") -> Expression:
        """An expression with operations in it that nothing else reads; ``context``: bits of what reads its value,
        ``outer``: the operator that does."""
        if isinstance(one, Const):
            return one
        if isinstance(one, Ref):
            return self._place(one, context, outer)
        if isinstance(one, Bit):
            return Bit(one.name, self._placed(one.place), one.count)
        if isinstance(one, Cat):
            return Cat(tuple(self._placed(item) for item in one.items))
        if one.sign == "$signed" or any(isinstance(arg, Op) and arg.sign == "$signed" for arg in one.args):
            return one
        widths, args, sign = self.module.widths, one.args, one.sign
        wide = max(context, width(one, widths))
        if sign in ARITHMETIC or sign in ("~x", "-x"):
            return Op(sign, tuple(self._placed(arg, wide, sign) for arg in args))
        if sign in SHIFTS:
            return Op(sign, (self._placed(args[0], wide), self._placed(args[1])))
        if sign in COMPARISONS:
            wide = max(width(arg, widths) for arg in args)
            return Op(sign, tuple(self._placed(arg, wide) for arg in args))
        if sign == "?":
            return Op(sign, (self._placed(args[0]), self._placed(args[1], wide), self._placed(args[2], wide)))
        return Op(sign, tuple(self._placed(arg) for arg in args))

    def _place(self, ref: Ref, context: int, outer: str) -> Expression:
        name, widths = ref.name, self.module.widths
        if not _numbered(name) or name not in self.placed or _signed(self.values[name]):
            return ref
        most = MOST if self.counts[name] == 1 else SHORT
        high = widths[name] - 1 if ref.high is None else ref.high
        found = sliced(self.values[name], high, ref.low, widths)
        bits = high - ref.low + 1
        if found is None or width(found, widths) != bits or not (complete(found, widths) or context in (0, bits)):
            return ref
        chain = isinstance(found, Op) and found.sign == outer
        if sum(1 for _ in _leaves(found)) > (LONGEST if chain and self.counts[name] == 1 else most):
            return ref
        return found

    def _place_elsewhere(self) -> None:
        """Operations into all but drivers of whole nets."""
        module = self.module
        module.drivers = [
            Set(one.target, self._placed(one.value, width(one.target, module.widths))) for one in module.drivers
        ]
        for register in module.clocked:
            register.statements = tuple(self._statement(one, self._alone) for one in register.statements)
        for instance in module.instances:
            for pin, end in instance.pins.items():
                if end is not None and pin not in self.outputs[instance.module]:
                    instance.pins[pin] = self._placed(end)

    def _called(self, nets: Iterable[str]) -> list[str]:
        """Numbered nets after what they are, if that is short; of those that are the same, one stays."""
        module, widths = self.module, self.module.widths
        found: dict[str, str] = {}
        same: dict[tuple[Expression, int], str] = {}
        self.names, kept = found, []
        for name in nets:
            one, new = self._mapped(self.values.pop(name), self._renamed), name
            if _numbered(name):
                if twin := same.get((one, widths[name])):
                    found[name] = twin
                    continue
                said = _said(one)
                if said and len(said) <= LONGEST_NAME:
                    new = found[name] = f"\\{said}${name[2:]}"
                    widths[new] = widths[name]
                same[one, widths[name]] = new
            self.values[new] = one
            kept.append(new)
        module.drivers = [Set(one.target, self._mapped(one.value, self._renamed)) for one in module.drivers]
        for register in module.clocked:
            register.statements = tuple(
                self._statement(one, lambda part: self._mapped(part, self._renamed)) for one in register.statements
            )
        module.blocks = [
            tuple(self._statement(one, lambda part: self._mapped(part, self._renamed)) for one in block)
            for block in module.blocks
        ]
        for instance in module.instances:
            for pin, end in instance.pins.items():
                if end is not None:
                    instance.pins[pin] = self._mapped(end, self._renamed)
        module.widths = {name: bits for name, bits in widths.items() if name not in found}
        return kept

    def _alone(self, one: Expression) -> Expression:
        """Of a condition, or of a value as wide as its target."""
        return self._placed(one, width(one, self.module.widths))

    def _leave_out_ports(self, kept: Iterable[str]) -> None:
        module = self.module
        known = {ref.name for name in kept for ref in refs(self.values[name])}
        known |= {ref.name for ref in self._all_reads()} | {register.clock for register in module.clocked}
        module.ports = [port for port in module.ports if port in known or port not in _OPTIONAL]

    def _lines(self, kept: list[str]) -> Iterator[str]:
        module = self.module
        yield f"module {_spaced(module.name)}({', '.join(map(_spaced, module.ports))});"
        yield from self._declarations(kept)
        for name in kept:
            yield f"  assign {_spaced(name)} = {written(self.values[name])};"
        for driver in module.drivers:
            yield f"  assign {written(driver.target)} = {written(driver.value)};"
        for register in module.clocked:
            yield f"  always @(posedge {register.clock})" + " begin" * (len(register.statements) != 1)
            yield from _statements(register.statements, 4, "<=")
            if len(register.statements) != 1:
                yield "  end"
        for block in module.blocks:
            yield "  always @* begin"
            yield "    if (\\$auto$verilog_backend ) begin end"
            yield from _statements(block, 4, "=")
            yield "  end"
        for instance in module.instances:
            yield from _instance(instance)
        yield "endmodule\n"

    def _declarations(self, kept: list[str]) -> Iterator[str]:
        module = self.module
        known = {*kept, *module.ports}
        known |= {ref.name for name in kept for ref in refs(self.values[name])}
        known |= {ref.name for ref in self._all_reads()}
        known |= {ref.name for driver in module.drivers for ref in refs(driver.target)}
        for register in module.clocked:
            known |= {ref.name for one in parts(register.statements) for ref in refs(one.target)}
        for block in module.blocks:
            known |= {ref.name for one in parts(block) for ref in refs(one.target)}
        for instance in module.instances:
            for pin, end in instance.pins.items():
                if end is not None and pin in self.outputs[instance.module]:
                    if isinstance(end, Ref) and end.high is None and end.name not in known:
                        instance.pins[pin] = None
                    else:
                        known |= {ref.name for ref in refs(end)}
        if module.blocks:
            yield "  reg \\$auto$verilog_backend = 0;"
        for name, bits in module.widths.items():
            if name not in known or (name in module.directions and name not in module.ports):
                continue
            said = f"{f'[{bits - 1}:0] ' if bits > 1 else ''}{_spaced(name)}"
            if name in module.directions:
                yield f"  {module.directions[name]} {said};"
            if name in module.starts:
                start = module.starts[name]
                yield f"  reg {said}{'' if start is None else f'= {start}' if said[-1] == ' ' else f' = {start}'};"
            elif name not in module.directions:
                yield f"  wire {said};"


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


def _as_wide(args: tuple[Expression, ...], widths: Mapping[str, int]) -> tuple[Expression, ...]:
    """Numbers and names as wide as what they are compared with or added to."""
    wide = max(width(arg, widths) for arg in args)
    if any(map(_signed, args)):
        return args
    return tuple(arg if isinstance(arg, Op) else sliced(arg, wide - 1, 0, widths) or arg for arg in args)


def _settled(sign: str, args: tuple[Expression, ...], widths: Mapping[str, int]) -> bool | None:
    """What a comparison with the least or the greatest number of a width always is; None if that depends."""
    if sign not in ("<", ">=", "<=", ">") or not isinstance(args[1], Const) or any(map(_signed, args)):
        return None
    if sign in ("<", ">="):
        return sign == ">=" if value(args[1]) == 0 else None
    return sign == "<=" if value(args[1]) == (1 << width(args[0], widths)) - 1 else None


#: Of operations of which a net takes its name, the word between the operands.
_WORDS = {
    "&": "and",
    "|": "or",
    "^": "xor",
    "==": "is",
    "!=": "is_not",
    "+": "plus",
    "-": "minus",
    "~x": "not",
    "|x": "any",
    "&x": "all",
}


def _said(one: Expression) -> str | None:
    """An operation in words, of which names of nets are some."""
    if isinstance(one, Ref):
        if _numbered(one.name):
            return None
        base = re.sub(r"\W+", "_", one.name.strip("\\").partition("$")[0]).strip("_")
        bits = "" if one.high is None else f"_{one.low}" if one.high == one.low else f"_{one.high}_{one.low}"
        return base + bits
    if isinstance(one, Const):
        return None if (amount := value(one)) is None else str(amount)
    if isinstance(one, Cat):
        zeros = isinstance(one.items[0], Const) and value(one.items[0]) == 0 and len(one.items) == 2
        return _said(one.items[-1]) if zeros or len(set(one.items)) == 1 else None
    if isinstance(one, Bit) or one.sign not in _WORDS:
        return None
    operands = [_said(arg) for arg in one.args]
    if None in operands or (one.sign in COMPARISONS and any(isinstance(arg, Op) for arg in one.args)):
        return None
    word = _WORDS[one.sign]
    if isinstance(one.args[0], Const):
        return None
    return f"{word}_{operands[0]}" if len(operands) == 1 else f"_{word}_".join(map(str, operands))


def _signed(one: Expression) -> bool:
    return isinstance(one, Op) and (one.sign == "$signed" or any(map(_signed, one.args)))


def _leaves(one: Expression) -> Iterator[Expression]:
    if isinstance(one, Ref | Const):
        yield one
    elif isinstance(one, Bit):
        yield Ref(one.name)
        yield from _leaves(one.place)
    elif isinstance(one, Cat) and len(set(one.items)) == 1:
        yield from _leaves(one.items[0])
    else:
        for part in one.items if isinstance(one, Cat) else one.args:
            yield from _leaves(part)


def _spaced(name: str) -> str:
    return f"{name} " if name[0] == "\\" else name


def _statements(statements: Iterable[Statement], indent: int, sign: str) -> Iterator[str]:
    blank = " " * indent
    for one in statements:
        if isinstance(one, Set):
            yield f"{blank}{written(one.target)} {sign} {written(one.value)};"
        elif isinstance(one, If):
            for place, (condition, body) in enumerate(one.branches):
                start = "end else " if place else ""
                yield f"{blank}{start}{'' if condition is None else f'if ({written(condition)}) '}begin"
                yield from _statements(body, indent + 2, sign)
            yield f"{blank}end"
        else:
            yield f"{blank}casez ({written(one.subject)})"
            for labels, body in one.branches:
                yield f"{blank}  {', '.join(map(written, labels)) if labels else 'default'}: begin"
                yield from _statements(body, indent + 4, sign)
                yield f"{blank}  end"
            if all(labels for labels, _ in one.branches):
                yield f"{blank}  default: begin end"
            yield f"{blank}endcase"


def _instance(instance: Instance) -> Iterator[str]:
    yield f"  {_spaced(instance.module)} {_spaced(instance.name)} ("
    last = len(instance.pins)
    for place, (pin, end) in enumerate(instance.pins.items(), 1):
        yield f"    .{_spaced(pin)}({'' if end is None else written(end)}){',' * (place != last)}"
    yield "  );"

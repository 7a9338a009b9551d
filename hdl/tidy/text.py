"""The text of a module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from warpfile.hdl.expressions import Ref, refs, written
from warpfile.hdl.fields import indexed
from warpfile.hdl.netlist import If, Instance, Set, Statement, parts
from warpfile.hdl.tidy.work import Work

OPTIONAL = ("clk", "rst")  #: ports that a module has only if it uses them


def leave_out_ports(work: Work, kept: Iterable[str]) -> None:
    """Clock and reset where nothing uses them."""
    module = work.module
    known = {ref.name for name in kept for ref in refs(work.values[name])}
    known |= {ref.name for ref in work.all_reads()} | {register.clock for register in module.clocked}
    module.ports = [port for port in module.ports if port in known or port not in OPTIONAL]


def lines(work: Work, kept: list[str]) -> str:
    """The module's text; ``kept``: nets that stay."""
    elements = {name: bits for one in work.fields.values() for name, bits in one.elements.items()}
    return "\n".join(indexed(line, elements) for line in _lines(work, kept))


def _lines(work: Work, kept: list[str]) -> Iterator[str]:
    module = work.module
    yield f"module {_spaced(module.name)}({', '.join(map(_spaced, module.ports))});"
    yield from _declarations(work, kept)
    for name in kept:
        yield f"  assign {_spaced(name)} = {written(work.values[name])};"
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


def _declarations(work: Work, kept: list[str]) -> Iterator[str]:
    module = work.module
    known = {*kept, *module.ports}
    known |= {ref.name for name in kept for ref in refs(work.values[name])}
    known |= {ref.name for ref in work.all_reads()}
    known |= {ref.name for driver in module.drivers for ref in refs(driver.target)}
    for register in module.clocked:
        known |= {ref.name for one in parts(register.statements) for ref in refs(one.target)}
    for block in module.blocks:
        known |= {ref.name for one in parts(block) for ref in refs(one.target)}
    for instance in module.instances:
        for pin, end in instance.pins.items():
            if end is not None and pin in work.outputs[instance.module]:
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

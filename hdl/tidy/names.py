"""Numbered wires that are named ones, and bits that have names."""

from __future__ import annotations

from warpfile.hdl.expressions import Ref
from warpfile.hdl.fields import Fields
from warpfile.hdl.netlist import Set
from warpfile.hdl.tidy.places import simple
from warpfile.hdl.tidy.work import Work, numbered


def find_names(work: Work) -> None:
    """Find which names are others' bits."""
    widths = work.module.widths
    whole: dict[str, list[str]] = {}
    for driver in work.module.drivers:
        target, one = driver.target, driver.value
        if isinstance(target, Ref) and isinstance(one, Ref) and target.high is None:
            work.aliases.add(target.name)
            if one.high is None and widths[one.name] == widths[target.name]:
                if numbered(target.name):
                    work.names[target.name] = one.name
                elif numbered(one.name):
                    whole.setdefault(one.name, []).append(target.name)
    for number, known in whole.items():
        if number not in work.names:
            work.names[number] = min(known, key=lambda name: _rank(work, name))
    for number in work.names:
        while work.names[number] in work.names:
            work.names[number] = work.names[work.names[number]]
    for driver in work.module.drivers:
        target, one = driver.target, driver.value
        if isinstance(target, Ref) and target.name in work.aliases and isinstance(one, Ref) and one.high is not None:
            net = work.names.get(one.name, one.name)
            found = work.fields.setdefault(net, Fields(widths[net]))
            found.add(one.high, one.low, target.name, _rank(work, target.name, net))


def _rank(work: Work, name: str, net: str = "") -> tuple[object, ...]:
    stem = net.strip("\\").partition("$")[0]
    plain = name.strip("\\")
    output = work.module.directions.get(name) == "output"
    return (not output if not net else not plain.startswith(stem), plain.count("$"), len(plain), plain)


def resolve(work: Work) -> None:
    """Everything in the names found; drivers of whole nets by their net."""
    module, others = work.module, []
    for name in module.directions:
        if module.directions[name] == "output":
            work.aliases.discard(name)
    for driver in module.drivers:
        target, alias = work.mapped(driver.target, work.renamed), isinstance(driver.value, Ref)
        if alias and target == work.mapped(driver.value, work.renamed):
            continue  # the numbered wire has its name now
        one = work.mapped(driver.value, work.renamed if alias else work.field_of)
        if isinstance(target, Ref) and target.high is None:
            work.values[target.name] = simple(work, one, module.widths[target.name])
        else:
            others.append(Set(target, one))
    module.drivers = others
    for register in module.clocked:
        register.statements = tuple(work.statement(one) for one in register.statements)
    module.blocks = [tuple(work.statement(one) for one in block) for block in module.blocks]
    for instance in module.instances:
        ends = work.outputs[instance.module]
        for pin, end in instance.pins.items():
            if end is not None:
                instance.pins[pin] = work.mapped(end, work.renamed if pin in ends else work.field_of)
    for number, name in work.names.items():
        if number in module.starts:
            module.starts[name] = module.starts.pop(number)

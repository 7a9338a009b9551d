"""Numbered wires that are bits of a named net.

A net that a part puts together from single values (``named(m, "fits", Cat(...))``) is in the netlist only a second name
for them, and what reads it reads wires without a name. Those that are too long to be written where they are read become
bits of that net, so ``fits[3]`` is read, and the net is driven bit by bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from warpfile.hdl.expressions import Cat, Expression, Op, Ref, refs, width
from warpfile.hdl.netlist import Set, parts, reads
from warpfile.hdl.tidy.places import MOST, SHORT, leaves
from warpfile.hdl.tidy.work import Work, numbered


def find_elements(work: Work) -> None:
    """Find the wires that become bits of a net, and split that net's driver into those of its bits."""
    values = {
        driver.target.name: driver.value
        for driver in work.module.drivers
        if isinstance(driver.target, Ref) and driver.target.high is None
    }
    long = _long(work, values)
    nets: dict[str, dict[str, Ref]] = {}
    taken: set[str] = set()
    joined = {name: one for name, one in values.items() if isinstance(one, Cat) and not numbered(name)}
    for name in sorted(joined, key=lambda one: (work.module.widths[one], one)):
        found = {wire: ref for wire, ref in _bits(work, name, joined[name]) if wire in long and wire not in taken}
        if found:
            nets[name] = found
            taken |= found.keys()
    _leave_out_loops(work, values, nets)
    for found in nets.values():
        work.elements |= found
    work.module.drivers = [one for driver in work.module.drivers for one in _split(work, driver, nets)]


def _bits(work: Work, name: str, cat: Cat) -> Iterator[tuple[str, Ref]]:
    """Whole wires among the items of a net, with the bits that they are."""
    at = 0
    for item in reversed(cat.items):
        bits = width(item, work.module.widths)
        if isinstance(item, Ref) and item.high is None:
            yield item.name, Ref(name, at + bits - 1, at)
        at += bits


def _long(work: Work, values: Mapping[str, Expression]) -> set[str]:
    """Numbered wires without a name that are read and that would not be written there."""
    counts = Counter(ref.name for ref in work.all_reads())
    counts -= Counter(ref.name for name, one in values.items() if not _is_real(work, name, one) for ref in refs(one))
    sizes: dict[str, int] = {}
    for name in _below_first(values):
        sizes[name] = sum(
            sizes[leaf.name] if isinstance(leaf, Ref) and _is_short(leaf.name, sizes, counts) else 1
            for leaf in leaves(values[name])
        )
    return {
        name
        for name, one in values.items()
        if numbered(name)
        and name not in work.names
        and isinstance(one, Op)
        and counts[name]
        and not _is_short(name, sizes, counts, more=1)
    }


def _is_short(name: str, sizes: Mapping[str, int], counts: Mapping[str, int], more: int = 0) -> bool:
    return numbered(name) and name in sizes and sizes[name] <= (MOST if counts[name] + more == 1 else SHORT)


def _is_real(work: Work, name: str, one: Expression) -> bool:
    """Whether a driver is more than another name."""
    return numbered(name) or work.module.directions.get(name) == "output" or not isinstance(one, Cat | Ref)


def _below_first(values: Mapping[str, Expression]) -> Iterable[str]:
    return TopologicalSorter(
        {name: [ref.name for ref in refs(one) if ref.name in values] for name, one in values.items()}
    ).static_order()


def _leave_out_loops(work: Work, values: Mapping[str, Expression], nets: dict[str, dict[str, Ref]]) -> None:
    """Nets of which a bit depends on another one stay apart: simulators take a net as a whole.

    Everything is visited in an order of its own, so that of several loops the same one is found in every process.
    """
    below = {name: {ref.name for ref in refs(one)} for name, one in values.items()}
    for block in work.module.blocks:
        for one in parts(block):
            for target in refs(one.target):
                below.setdefault(target.name, set()).update(ref.name for ref in reads(block))
    for instance in work.module.instances:
        ends = {pin: {ref.name for ref in refs(end)} for pin, end in instance.pins.items() if end is not None}
        for pin in sorted(ends.keys() & work.outputs[instance.module]):
            for name in sorted(ends[pin]):
                below.setdefault(name, set()).add(instance.name)
        below[instance.name] = {name for pin in ends.keys() - work.outputs[instance.module] for name in ends[pin]}
    while True:
        whole = {wire: name for name, found in nets.items() for wire in found}
        graph: dict[str, set[str]] = {}
        for name, sources in below.items():
            ends = {whole.get(one, one) for one in sources if whole.get(one) != name}
            graph.setdefault(whole.get(name, name), set()).update(ends)
        try:
            return TopologicalSorter({name: sorted(ends) for name, ends in graph.items()}).prepare()
        except CycleError as error:
            loop = error.args[1]
        found = [name for name in loop if nets.pop(name, None)]
        if not found:
            below[next(name for name in loop if name not in values)].clear()  # of an instance, whose paths are unknown


def _split(work: Work, driver: Set, nets: Mapping[str, Mapping[str, Ref]]) -> Iterator[Set]:
    """Of a net with wires that are its bits, the drivers of all others."""
    if not isinstance(driver.target, Ref) or driver.target.name not in nets or not isinstance(driver.value, Cat):
        yield driver
        return
    name, at = driver.target.name, 0
    for item in reversed(driver.value.items):
        bits = width(item, work.module.widths)
        ref = Ref(name, at + bits - 1, at)
        if not isinstance(item, Ref) or work.elements.get(item.name) != ref:
            yield Set(ref, item)
        at += bits

"""Which nets are read."""

from __future__ import annotations

from collections.abc import Iterator

from warpfile.hdl.expressions import refs
from warpfile.hdl.tidy.work import Work


def needed(work: Work) -> list[str]:
    """As :meth:`_alive`, without drivers of bits that are not read."""
    module = work.module
    while True:
        order, drivers = _alive(work), module.drivers
        module.drivers = [one for one in drivers if any(_is_read(work, ref.name) for ref in refs(one.target))]
        if len(module.drivers) == len(drivers):
            return order


def _is_read(work: Work, name: str) -> bool:
    return work.counts[name] > 0 or work.module.directions.get(name) == "output"


def _alive(work: Work) -> list[str]:
    """Nets that are read, those that a net depends on before it; how often each is read."""
    work.counts.clear()
    order: list[str] = []
    seen: set[str] = set()
    roots = [name for name, way in work.module.directions.items() if way == "output"]
    for ref in work.all_reads():
        work.counts[ref.name] += 1
        roots.append(ref.name)
    for root in roots:
        if root in seen or root not in work.values:
            continue
        seen.add(root)
        path = [(root, _below(work, root))]
        while path:
            name, below = path[-1]
            for child in below:
                if child not in seen and child in work.values:
                    seen.add(child)
                    path.append((child, _below(work, child)))
                    break
            else:
                order.append(name)
                path.pop()
    for name in order:
        for ref in refs(work.values[name]):
            work.counts[ref.name] += 1
    return order


def _below(work: Work, name: str) -> Iterator[str]:
    return (ref.name for ref in refs(work.values[name]))

"""Which collector unit takes the offered beat, and what warps have to wait for."""

from collections.abc import Sequence

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import wiring

from warpfile.hdl.arbiter import any_of, lowest_one
from warpfile.hdl.beat import needs_unit
from warpfile.hdl.collectors.write_after_read import WriteAfterRead
from warpfile.hdl.naming import named
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import Config


def owned_units(m: Module, cfg: Config, units: list) -> list[Value]:
    """Per warp the units that have a beat of it, one bit each."""
    return [
        named(m, f"mine{warp}", Cat(unit.occupied & (unit.out.warp == warp) for unit in units))
        for warp in range(cfg.warps)
    ]


def wants_unit(m: Module, collectors: wiring.Component) -> Value:
    """Whether a beat is offered that needs a unit. The choice of the warp is late, so every head is asked before it."""
    needy = named(m, "needy", Cat(needs_unit(head) for head in collectors.heads))
    return named(m, "wanted", (collectors.offer_warp & needy).any())


def allocate_units(
    m: Module,
    cfg: Config,
    collectors: wiring.Component,
    units: list,
    owned: Sequence[Value],
    leaving: Value,
    holding: Sequence[Value],
    places: Value | None = None,
) -> None:
    """The lowest free unit takes every beat that needs one.

    ``owned``: :func:`owned_units`. ``leaving``: units whose beat leaves. ``holding``: whether each unit has a beat that
    has yet to leave. A beat waits for those of its warp and port. ``places``: where its sources live, if that is known
    at once. Drives ``occupied``, ``accept`` and ``allocate`` of collectors, and what the units need to know.
    """
    wanted = wants_unit(m, collectors)
    following = named(m, "following", _next_unit(m, cfg, collectors, units, leaving))
    allocated = following & wanted.replicate(len(units))
    give_beats(m, collectors, units, owned, leaving, holding, following, allocated, places)


def give_beats(
    m: Module,
    collectors: wiring.Component,
    units: list,
    owned: Sequence[Value],
    leaving: Value,
    holding: Sequence[Value],
    following: Value,
    allocated: Value,
    places: Value | None = None,
    same: Sequence[Value] | None = None,
) -> None:
    """Units get the offered beat; every beat that needs one is taken. Drives what :func:`allocate_units` does.

    ``allocated``: the unit that takes the offered beat, one-hot. ``following``: units that may take it, known earlier.
    ``same``: whether each unit has a beat of the offered one's warp and port, where that is not found out here.
    """
    m.d.comb += [
        collectors.occupied.eq(Cat(unit.occupied for unit in units)),
        collectors.accept.eq(1),
        collectors.allocate.eq(allocated),
    ]
    wait_for = Signal(len(units), name="wait_for")
    for number, unit in enumerate(units):
        if same is None:
            owner = named(m, f"owner{number}", Cat(mine[number] for mine in owned))
            meets = (owner & collectors.offer_warp).any() & (unit.port == collectors.offer.port)
        else:
            meets = same[number]
        m.d.comb += [
            wait_for[number].eq(holding[number] & ~leaving[number] & meets),
            unit.follows.eq(following[number]),
            unit.allocate.eq(collectors.allocate[number]),
            unit.beat.eq(collectors.offer),
            unit.wait_for.eq(wait_for),
            unit.leaving.eq(leaving),
            unit.dispatch.eq(leaving[number]),
        ]
        m.d.comb += [] if places is None else unit.places.eq(places)


def _next_unit(m: Module, cfg: Config, collectors: wiring.Component, units: list, leaving: Value) -> Value:
    """The free unit that takes the next beat, one-hot: the lowest that is empty, or else the lowest that is left.

    What leaves through a register file that absorbs loads does so too late in the cycle.
    """
    empty = lowest_one(~collectors.occupied)
    if cfg.retake == "next":
        return empty
    if cfg.gives.absorbs:
        leaving = leaving & ~collectors.chosen[-1]
    left = named(m, "left", _emptied(cfg, units, leaving))
    return empty | (lowest_one(left) & collectors.occupied.all().replicate(len(left)))


def _emptied(cfg: Config, units: list, leaving: Value) -> Value:
    """Of units whose beat leaves, or would, those that are free then: one with a dead register may not be."""
    return leaving & ~Cat(unit.kills.any() for unit in units) if cfg.gives.deaths else leaving


def _none_free(m: Module, cfg: Config, collectors: wiring.Component, units: list) -> Value:
    """Whether no unit is free.

    The scheduler waits for it, so it waits for no arbiter where any unit will do: some beat leaves by a port if that is
    ready and some unit is ready for it.
    """
    full = collectors.occupied.all()
    if cfg.retake == "next":
        return full
    leaves = [Cat(unit.ready & (unit.port == port) for unit in units) for port in range(cfg.ports)]
    if cfg.gives.deaths:
        leaves = [_emptied(cfg, units, chosen) for chosen in collectors.chosen]
    ports = list(zip(leaves, collectors.dispatch, strict=True))[: cfg.ports - cfg.gives.absorbs]
    left = any_of(some.any() & out.ready for some, out in ports)
    return full & ~named(m, "some_left", left)


def watch_units(m: Module, cfg: Config, collectors: wiring.Component, units: list, owned: Sequence[Value]) -> None:
    """Drive ``lacking``, ``blocked``, ``collecting`` and ``room`` of collectors; ``owned``: :func:`owned_units`.

    Every unit has ``lacking``, ``registers`` and ``uncollected``: source slots whose register must not be written yet.
    """
    m.d.comb += collectors.lacking.eq(Cat(unit.lacking for unit in units))
    slots, full = cfg.source_slots, named(m, "full", _none_free(m, cfg, collectors, units))
    registers = named(m, "registers", Cat(unit.registers.as_value() for unit in units))
    for warp, mine in enumerate(owned):
        check = stamp(
            m,
            f"write_after_read{warp}",
            "write_after_read",
            lambda: WriteAfterRead(cfg, len(units) * slots),
            clocked=False,
        )
        m.d.comb += [
            check.dest.eq(collectors.heads[warp].dest),
            check.dest_count.eq(collectors.heads[warp].dest_count),
            check.unread.eq(Cat(unit.uncollected & mine[n].replicate(slots) for n, unit in enumerate(units))),
            check.registers.eq(registers),
            collectors.blocked[warp].eq(check.blocked),
            collectors.collecting[warp].eq(mine.any()),
            collectors.room[warp].eq(collectors.buffered[warp] & ~(full & needs_unit(collectors.heads[warp]))),
        ]

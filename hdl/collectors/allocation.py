"""Which collector unit takes the offered beat, and what warps have to wait for."""

from collections.abc import Sequence

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import wiring

from warpfile.hdl.arbiter import lowest_one
from warpfile.hdl.beat import needs_unit
from warpfile.hdl.collectors.write_after_read import WriteAfterRead
from warpfile.hdl.naming import named
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import Config


def allocate_units(
    m: Module,
    collectors: wiring.Component,
    units: list,
    leaving: Value,
    holding: Sequence[Value],
    places: Value | None = None,
) -> None:
    """The lowest free unit takes every beat that needs one.

    ``leaving``: units whose beat leaves. ``holding``: whether each unit has a beat that has yet to leave. A beat waits
    for those of its warp and port. ``places``: where its sources live, if that is known at once. Drives ``occupied``,
    ``accept`` and ``allocate`` of collectors, and what the units need to know.
    """
    wanted = collectors.offer_valid & needs_unit(collectors.offer)
    m.d.comb += [
        collectors.occupied.eq(Cat(unit.occupied for unit in units)),
        collectors.accept.eq(1),
        collectors.allocate.eq(lowest_one(~collectors.occupied) & wanted.replicate(len(units))),
    ]
    wait_for = Signal(len(units), name="wait_for")
    for number, unit in enumerate(units):
        same = (unit.out.warp == collectors.offer.warp) & (unit.port == collectors.offer.port)
        m.d.comb += [
            wait_for[number].eq(holding[number] & ~leaving[number] & same),
            unit.allocate.eq(collectors.allocate[number]),
            unit.beat.eq(collectors.offer),
            unit.wait_for.eq(wait_for),
            unit.leaving.eq(leaving),
            unit.dispatch.eq(leaving[number]),
        ]
        m.d.comb += [] if places is None else unit.places.eq(places)


def watch_units(m: Module, cfg: Config, collectors: wiring.Component, units: list) -> None:
    """Drive ``lacking``, ``blocked``, ``collecting`` and ``room`` of collectors.

    Every unit has ``lacking``, ``registers`` and ``uncollected``: source slots whose register must not be written yet.
    """
    m.d.comb += collectors.lacking.eq(Cat(unit.lacking for unit in units))
    slots, full = cfg.source_slots, named(m, "full", collectors.occupied.all())
    registers = named(m, "registers", Cat(unit.registers.as_value() for unit in units))
    for warp in range(cfg.warps):
        mine = named(m, f"mine{warp}", Cat(unit.occupied & (unit.out.warp == warp) for unit in units))
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

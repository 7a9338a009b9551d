"""Operands that slots keep, and the units that beats find them in (docs/schemes/sticky.md, section 5)."""

from collections.abc import Sequence

from amaranth import Cat, Module, Value
from amaranth.lib import data, wiring

from warpfile.hdl.arbiter import any_of, select
from warpfile.hdl.beat import needs_unit
from warpfile.hdl.collectors.allocation import give_beats
from warpfile.hdl.collectors.sticky.choice import UnitChoice
from warpfile.hdl.collectors.sticky.slot import viewed
from warpfile.hdl.naming import named
from warpfile.hdl.pending_entries import group_mask, writes
from warpfile.spec.schemes.sticky import StickyConfig


def keep_operands(
    m: Module,
    cfg: StickyConfig,
    collectors: wiring.Component,
    units: list,
    owned: Sequence[Value],
    leaving: Value,
    older: Value,
) -> None:
    """Give the offered beat to a free unit that keeps a source of it, or else to any free one.

    Drives what :func:`allocate_units` does, and the probes of what is kept.
    """
    m.submodules.choice = choice = UnitChoice(cfg)
    occupied = Cat(unit.occupied for unit in units)
    free = named(m, "free", ~occupied | leaving if cfg.retake == "same" else ~occupied)
    needy = Cat(needs_unit(head) for head in collectors.heads)
    m.d.comb += [
        choice.free.eq(free),
        choice.older.eq(older),
        *(choice.fits[warp].eq(Cat(unit.fits[warp] for unit in units)) for warp in range(cfg.warps)),
        choice.wanted.eq(collectors.offer_warp & needy),
    ]
    holding, places, allocated = [unit.occupied for unit in units], collectors.source_places, choice.allocate
    same = _same_port(m, collectors, units, owned)
    give_beats(m, collectors, units, owned, leaving, holding, free, allocated, places, same)
    _show_beats(m, cfg, collectors, units)
    _observe(m, cfg, collectors, units)


def _same_port(m: Module, collectors: wiring.Component, units: list, owned: Sequence[Value]) -> list[Value]:
    """Whether each unit has a beat of the offered one's warp and port: compared for every warp, then chosen."""
    same = []
    for number, unit in enumerate(units):
        warps = zip(owned, collectors.heads, strict=True)
        meets = named(m, f"same_port{number}", Cat(mine[number] & (unit.port == head.port) for mine, head in warps))
        same.append((meets & collectors.offer_warp).any())
    return same


def _show_beats(m: Module, cfg: StickyConfig, collectors: wiring.Component, units: list) -> None:
    """Show every slot the head beat of the warp that it belongs to, and what becomes of the offered beat's sources."""
    stays = named(m, "stays", select(collectors.offer_warp, _unwritten(m, cfg, collectors.heads)))
    for unit in units:
        m.d.comb += [unit.offered.eq(collectors.offer_warp), unit.stays.eq(stays)]
        for slot, keeper in enumerate(unit.keeper):
            heads = [viewed(head, slot) for head in collectors.heads]
            m.d.comb += unit.head[slot].eq(select(keeper, heads))


def _unwritten(m: Module, cfg: StickyConfig, heads: Sequence[data.View]) -> list[Value]:
    """Of each warp's head beat, the near sources that it does not write itself."""
    masks = [named(m, f"dest_mask{warp}", group_mask(head)) for warp, head in enumerate(heads)]
    return [
        Cat(~writes(head.dest, mask, head.sources[slot]) for slot in range(cfg.near_slots))
        for head, mask in zip(heads, masks, strict=True)
    ]


def _observe(m: Module, cfg: StickyConfig, collectors: wiring.Component, units: list) -> None:
    slots = [(unit, slot) for unit in units for slot in range(cfg.near_slots)]
    hits = [unit.hit & taken.replicate(cfg.near_slots) for unit, taken in zip(units, collectors.allocate, strict=True)]
    names = [unit.registers[slot] & unit.kept[slot].replicate(cfg.register_bits) for unit, slot in slots]
    warps = [unit.owner[slot] & unit.kept[slot].replicate(cfg.warp_bits) for unit, slot in slots]
    m.d.comb += [
        collectors.kept.eq(Cat(unit.kept for unit in units)),
        collectors.kept_name.eq(Cat(names)),
        collectors.kept_warp.eq(Cat(warps)),
        collectors.hit.eq(any_of(hits)),
        collectors.overwritten.eq(Cat(unit.overwritten for unit in units)),
    ]

"""Registers that are dead, and which of them is given back (docs/schemes/corf.md, section 9, "Kills")."""

from amaranth import Cat, Module, Value
from amaranth.lib import wiring

from warpfile.hdl.arbiter import any_of, lowest_one, select
from warpfile.hdl.naming import named
from warpfile.spec.schemes.coalescing import CoalescingConfig


def give_back(m: Module, cfg: CoalescingConfig, collectors: wiring.Component, units: list) -> None:
    """Show the lowest dead register that has no reader any more, and drive the probes of dead registers."""
    width = cfg.source_slots
    _refuse(m, cfg, collectors, units)
    _share(m, cfg, units)
    dead = named(m, "dead", Cat(unit.dead for unit in units))
    first = named(m, "first_dead", lowest_one(dead))
    slots = [
        Cat(unit.out.warp, unit.registers[slot], unit.dead_places[slot], unit.dead_masks[slot])
        for unit in units
        for slot in range(width)
    ]
    outputs = ("death_warp", "death_register", "death_place", "death_mask")
    m.d.comb += [
        collectors.death_valid.eq(dead.any()),
        Cat(*(getattr(collectors, name) for name in outputs)).eq(select(first, slots)),
        collectors.kills.eq(Cat(unit.kills for unit in units)),
        collectors.unit_drains.eq(Cat(unit.occupied & ~unit.holding for unit in units)),
    ]
    for number, unit in enumerate(units):
        m.d.comb += unit.killed.eq(first.word_select(number, width) & collectors.death_ready.replicate(width))


def _refuse(m: Module, cfg: CoalescingConfig, collectors: wiring.Component, units: list) -> None:
    """Hints count if all live lanes of the warp are there."""
    offer, at = collectors.offer, cfg.hint_at("kill")
    hints = named(m, "kill_hints", offer.hints[at : at + cfg.source_slots] & offer.source_valid)
    kept = named(m, "kept_hints", hints & offer.converged.replicate(len(hints)))
    taken = collectors.allocate.any() & ~offer.converged
    m.d.comb += [collectors.kill_refused.eq(hints & taken.replicate(len(hints)))]
    m.d.comb += [unit.kill.eq(kept) for unit in units]


def _share(m: Module, cfg: CoalescingConfig, units: list) -> None:
    """Which slots have a register that some slot has yet to read."""
    for number, unit in enumerate(units):
        near = [
            named(m, f"near{number}_{other}", unit.out.warp == peer.out.warp) if peer is not unit else None
            for other, peer in enumerate(units)
        ]
        for slot, shared in enumerate(unit.shared):
            reads: list[Value] = [unit.unread[slot]]
            for peer, same in zip(units, near, strict=True):
                if same is not None:
                    registers = zip(peer.unread, peer.registers, strict=True)
                    reads += [same & unread & (register == unit.registers[slot]) for unread, register in registers]
            m.d.comb += shared.eq(any_of(reads))

"""Looking sources up after their beat was taken (docs/slots/rf.md)."""

from amaranth import Cat, Module, Value
from amaranth.lib import wiring

from warpfile.hdl.arbiter import oldest_one, select
from warpfile.hdl.naming import named
from warpfile.spec.config import Config


def look_up_later(m: Module, cfg: Config, collectors: wiring.Component, units: list, older: Value) -> None:
    """Join checked units with a register file, but for the read of what is near."""
    m.d.comb += collectors.interlock.eq(Cat(unit.interlock for unit in units))
    for number, unit in enumerate(units):
        m.d.comb += unit.unwritten.eq(collectors.unwritten.word_select(number, cfg.source_slots))
        if cfg.gives.note_bits:
            m.d.comb += unit.note.eq(collectors.note)
    _check(m, cfg, collectors, units, older)


def _check(m: Module, cfg: Config, collectors: wiring.Component, units: list, older: Value) -> None:
    """The oldest unit whose sources have not been looked up; it stays so while the file defers its look-up."""
    waiting = named(m, "unchecked", Cat(unit.occupied & unit.unchecked for unit in units))
    beats = [Cat(unit.out.warp, unit.uncollected, unit.registers.as_value()) for unit in units]
    checked = (collectors.check_warp, collectors.check_valid, collectors.check_registers.as_value())
    asking, missed, oldest = collectors.check, collectors.check_valid & ~collectors.hit, oldest_one(waiting, older)
    if cfg.gives.defers:
        asking, ready = named(m, "asking", oldest), collectors.check_ready
        oldest, missed = asking & ready.replicate(len(asking)), missed & ready.replicate(len(missed))
        m.d.comb += collectors.check_mask.eq(select(asking, [unit.out.mask for unit in units]))
    m.d.comb += [
        collectors.check.eq(oldest),
        Cat(*checked).eq(select(asking, beats)),
        collectors.miss.eq(missed),
    ]
    if cfg.gives.near_bits:
        m.d.comb += collectors.hit.eq(collectors.check_near)
    for number, unit in enumerate(units):
        m.d.comb += [unit.check.eq(collectors.check[number]), unit.places.eq(collectors.check_places)]
        if cfg.gives.near_bits:
            m.d.comb += [unit.hits.eq(collectors.check_near), unit.refs.eq(collectors.check_refs)]

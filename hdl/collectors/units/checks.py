"""Looking sources up after their beat was taken, and reading those that are near (docs/slots/rf.md)."""

from amaranth import Cat, Module, Value
from amaranth.lib import wiring

from warpfile.hdl.arbiter import oldest_one, select
from warpfile.hdl.naming import named
from warpfile.spec.config import Config


def look_up_later(m: Module, cfg: Config, collectors: wiring.Component, units: list, older: Value) -> Value | None:
    """Join checked units with a register file. Returns the slots that take their near word, if any can be near."""
    m.d.comb += collectors.interlock.eq(Cat(unit.interlock for unit in units))
    for number, unit in enumerate(units):
        m.d.comb += unit.unwritten.eq(collectors.unwritten.word_select(number, cfg.source_slots))
    _check(m, cfg, collectors, units, older)
    return _read_near(m, cfg, collectors, units, older) if cfg.gives.near_bits else None


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


def _read_near(m: Module, cfg: Config, collectors: wiring.Component, units: list, older: Value) -> Value:
    """The oldest unit that has near sources to read."""
    waiting = named(m, "with_hits", Cat(unit.unread.any() for unit in units))
    m.d.comb += collectors.near_read.eq(oldest_one(waiting, older))
    beats = [Cat(unit.out.warp, unit.unread, unit.slot_refs.as_value()) for unit in units]
    reader = (collectors.near_warp, collectors.near_slots, collectors.near_refs.as_value())
    m.d.comb += Cat(*reader).eq(select(collectors.near_read, beats))
    if cfg.gives.note_bits:
        m.d.comb += collectors.near_note.eq(select(collectors.near_read, [unit.slot_note for unit in units]))
    for number, unit in enumerate(units):
        m.d.comb += unit.read.eq(collectors.near_read[number])
        if cfg.gives.note_bits:
            m.d.comb += unit.note.eq(collectors.note)
    return named(m, "take", Cat(slot & reads for reads in collectors.near_read for slot in collectors.near_slots))

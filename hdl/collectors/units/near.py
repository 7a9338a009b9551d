"""Reading beside the banks what is near, one unit per cycle, and asking for what is to be copied (docs/slots/rf.md)."""

from amaranth import Cat, Module, Value
from amaranth.lib import wiring

from warpfile.hdl.arbiter import lowest_one, oldest_one, select
from warpfile.hdl.naming import named
from warpfile.spec.config import Config


def read_near(m: Module, cfg: Config, collectors: wiring.Component, units: list, older: Value) -> Value:
    """The oldest unit that has near sources to read. Returns the slots that take their near word.

    Every unit has ``unread`` and ``slot_refs``, over a file that looks sources up later also ``read``, and with
    ``gives.note_bits`` a ``slot_note``. Where sources are known at the offer, a unit reads in the cycle after it, so
    that there is one.
    """
    waiting = named(m, "with_near", Cat(unit.unread.any() for unit in units))
    m.d.comb += collectors.near_read.eq(oldest_one(waiting, older) if cfg.gives.later else waiting)
    beats = [Cat(unit.out.warp, unit.unread, unit.slot_refs.as_value()) for unit in units]
    reader = (collectors.near_warp, collectors.near_slots, collectors.near_refs.as_value())
    m.d.comb += Cat(*reader).eq(select(collectors.near_read, beats))
    if cfg.gives.note_bits:
        m.d.comb += collectors.near_note.eq(select(collectors.near_read, [unit.slot_note for unit in units]))
    if cfg.gives.later:
        m.d.comb += [unit.read.eq(reads) for unit, reads in zip(units, collectors.near_read, strict=True)]
    return named(m, "take", Cat(slot & reads for reads in collectors.near_read for slot in collectors.near_slots))


def know_near(m: Module, cfg: Config, collectors: wiring.Component, units: list, older: Value) -> None:
    """Give all units what the register file says of the offered beat's sources: those that are near, or copied.

    Every unit has ``near`` and ``refs``, and with ``gives.brings`` ``bring``, ``bringing`` and ``turn``: of the slots
    that would ask for what is copied, one asks.
    """
    for unit in units:
        m.d.comb += [unit.near.eq(collectors.source_near), unit.refs.eq(collectors.source_refs)]
    if not cfg.gives.brings:
        return
    bringing = [unit.bringing for unit in units]
    first = named(m, "bringing_first", oldest_one(Cat(slots.any() for slots in bringing), older))
    turns = [lowest_one(slots) & own.replicate(len(slots)) for slots, own in zip(bringing, first, strict=True)]
    m.d.comb += collectors.bring_slot.eq(Cat(*turns))
    refs = [select(lowest_one(slots), list(unit.slot_refs)) for slots, unit in zip(bringing, units, strict=True)]
    beats = [Cat(unit.out.warp, unit.out.mask, ref) for unit, ref in zip(units, refs, strict=True)]
    m.d.comb += Cat(collectors.bring_warp, collectors.bring_mask, collectors.bring_ref).eq(select(first, beats))
    for number, unit in enumerate(units):
        m.d.comb += [
            unit.bring.eq(collectors.source_bring),
            unit.turn.eq(collectors.bring_slot.word_select(number, cfg.source_slots)),
        ]

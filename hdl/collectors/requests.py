"""How units with the places of their source slots ask the register file for them."""

from amaranth import Cat, Module, Value
from amaranth.lib import wiring

from warpfile.spec.config import Config


def ask_banks(m: Module, cfg: Config, collectors: wiring.Component, units: list, older: Value) -> None:
    """Join the slots of all units with a register file, and drive the probe ``request``; ``older``: order of the units.

    Every unit has ``request``, ``slot_places``, ``grant`` and ``fill``.
    """
    width = cfg.asks.slots
    m.d.comb += [
        collectors.request.eq(Cat(unit.request for unit in units)),
        collectors.requests.eq(collectors.request),
        collectors.request_places.eq(Cat(unit.slot_places.as_value() for unit in units)),
        collectors.older.eq(older),
    ]
    for number, unit in enumerate(units):
        m.d.comb += [
            unit.grant.eq(collectors.grant.word_select(number, width)),
            unit.fill.eq(collectors.fill.word_select(number, width)),
        ]

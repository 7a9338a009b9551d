"""Where accesses differ in length: when rows leave a bank, and when data arrive at the inputs of the units."""

from amaranth import Cat, Module, Signal, Value

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.naming import named
from warpfile.spec.config import Config


def overtakes(cfg: Config) -> bool:
    """Whether reads of different lengths may be under way in one bank."""
    return cfg.bank_occupancy == "one" and cfg.gives.cycles > 1


def coming(m: Module, name: str, starting: Value) -> Signal:
    """What comes in the next cycles, bit k: something k + 1 cycles from now, as far as it started in cycles before.

    ``starting``: what starts in this cycle, bit k: something that takes k + 2 cycles. Nothing else comes when it does.
    """
    known = Signal(len(starting), name=name)
    m.d.sync += known.eq((known >> 1) | starting)
    return known


def meets(known: Value, length: Value) -> Value:
    """Whether something of this length that starts now would come when something does that is known."""
    return any_of(bit & (length == left + 1) for left, bit in enumerate(known))


def apart(m: Module, cfg: Config, requests: Value, lengths: list[Value], grant: Value) -> Value:
    """Of the slots that ask, those whose data would not meet those of earlier grants at their unit's input.

    ``lengths`` by slot; ``grant``: what is granted in this cycle. A unit is granted one slot per cycle, or every slot
    has an input of its own (``collect`` = ``all``), where nothing can meet. Per input a register says in which of the
    next cycles data come.
    """
    if cfg.collect == "all":
        return requests
    width, kept = cfg.asks.slots, []
    for unit in range(cfg.asks.units):
        slots = range(unit * width, (unit + 1) * width)
        starting = (
            any_of(grant[slot] & (lengths[slot] == left + 2) for slot in slots) for left in range(cfg.gives.cycles - 1)
        )
        known = coming(m, f"coming{unit}", Cat(starting))
        kept += [requests[slot] & ~meets(known, lengths[slot]) for slot in slots]
    return named(m, "apart", Cat(*kept))

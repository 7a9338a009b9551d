"""Where accesses differ in length: which data are on their way to which input of the units."""

from amaranth import Cat, Module, Signal, Value

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.naming import named
from warpfile.spec.config import Config


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
        # Bit k: data come k + 1 cycles from now. Of an access of n cycles they come n - 1 cycles after the next one.
        coming = Signal(cfg.gives.cycles - 1, name=f"coming{unit}")
        starting = Cat(
            any_of(grant[slot] & (lengths[slot] == left + 2) for slot in slots) for left in range(len(coming))
        )
        m.d.sync += coming.eq((coming >> 1) | starting)
        kept += [requests[slot] & ~_meets(coming, lengths[slot]) for slot in slots]
    return named(m, "apart", Cat(*kept))


def _meets(coming: Value, length: Value) -> Value:
    return any_of(bit & (length == left + 1) for left, bit in enumerate(coming))

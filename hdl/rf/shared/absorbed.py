"""Loads that are absorbed and not complete (docs/schemes/larf.md, section 9, "The list")."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, lowest_one, select
from warpfile.hdl.beat import completion_layout
from warpfile.hdl.clock_gate import take
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import location_layout, places_layout
from warpfile.spec.schemes.shared import SharedConfig


class AbsorbedList(wiring.Component):
    """Registers of absorbed loads, each with its row, until they complete. What happens in a cycle is seen from the
    next.

    Members
    -------
    enter : In(1), waits : In(1), warp, register_name, place : In   A load; its row is not filled, also not in this
                                 cycle. It takes the lowest free entry.
    room : Out(1)                There is one.
    fill : In(2), fill_places : In(ArrayLayout)   Rows that are filled.
    free : In(1)                 The write-back port completes nothing else.
    completed : Out(1), completion : Out(completion_layout(cfg))   The lowest that does not wait completes.
    valid, waiting, done : Out(absorbed_loads)   All; those that wait; the one that completes.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self._cfg = cfg
        super().__init__(
            {
                **{name: In(1) for name in ("enter", "waits", "free")},
                "warp": In(cfg.warp_bits),
                "register_name": In(cfg.register_bits),
                "place": In(location_layout(cfg)),
                "fill": In(2),
                "fill_places": In(places_layout(cfg, 2)),
                **{name: Out(1) for name in ("room", "completed")},
                "completion": Out(completion_layout(cfg)),
                **{name: Out(cfg.absorbed_loads) for name in ("valid", "waiting", "done")},
            }
        )

    def elaborate(self, platform) -> Module:
        """Entries that compare their rows with those that are filled."""
        m = Module()
        count, record = self._cfg.absorbed_loads, Cat(self.warp, self.register_name)
        names = Signal(data.ArrayLayout(len(record), count), name="names", reset_less=True)
        places = Signal(places_layout(self._cfg, count), name="places", reset_less=True)
        takes = named(m, "takes", lowest_one(~self.valid) & self.enter.replicate(count))
        ready = named(m, "ready", lowest_one(self.valid & ~self.waiting))
        filled = named(m, "filled", Cat(self._filled(place) for place in places))
        m.d.comb += [
            self.room.eq(~self.valid.all()),
            self.completed.eq(self.free & ready.any()),
            self.done.eq(ready & self.free.replicate(count)),
            self.completion.eq(Cat(Const(1, 1), select(ready, list(names)))),
        ]
        m.d.sync += [
            self.valid.eq((self.valid | takes) & ~self.done),
            self.waiting.eq((self.waiting & ~filled) | (takes & self.waits.replicate(count))),
        ]
        for entry in range(count):
            kept = [names[entry], places[entry].as_value()]
            take(m, self._cfg, f"entry{entry}", kept, (takes[entry], [record, self.place.as_value()]))
        return m

    def _filled(self, place: data.View) -> Value:
        pairs = zip(self.fill, self.fill_places, strict=True)
        return any_of(bit & (place.as_value() == filled.as_value()) for bit, filled in pairs)

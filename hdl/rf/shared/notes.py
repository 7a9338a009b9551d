"""What the hints of the beats in the units give for their accesses (docs/schemes/larf.md, section 4)."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select
from warpfile.hdl.clock_gate import take
from warpfile.spec.config import Config
from warpfile.spec.schemes.shared import SharedConfig

HINTS = ("access", "address_registers", "access_size", "address_offset")


def note_layout(cfg: SharedConfig) -> data.StructLayout:
    """The hints of one access, by their names."""
    return data.StructLayout({hint.name: hint.bits for hint in cfg.hints() if hint.name in HINTS})


def hinted(cfg: Config, hints) -> Cat:
    """The hints of :func:`note_layout` among all of a beat."""
    bits = {hint.name: hint.bits for hint in cfg.hints()}
    return Cat(hints[cfg.hint_at(name) : cfg.hint_at(name) + bits[name]] for name in HINTS)


class AccessNotes(wiring.Component):
    """A row of notes per collector unit.

    Members
    -------
    allocate : In(units), hints : In(note_layout(cfg))   The unit that takes a beat, one-hot, and the beat's hints.
    unit : In(units), note : Out(note_layout(cfg))   The note of a unit, in the same cycle.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self._cfg = cfg
        note, units = note_layout(cfg), cfg.asks.units
        super().__init__({"allocate": In(units), "hints": In(note), "unit": In(units), "note": Out(note)})

    def elaborate(self, platform) -> Module:
        """A register per unit, AND-OR."""
        m = Module()
        width = len(self.note.as_value())
        notes = [Signal(width, name=f"note{unit}", reset_less=True) for unit in range(self._cfg.asks.units)]
        for unit, note in enumerate(notes):
            take(m, self._cfg, note.name, [note], (self.allocate[unit], [self.hints.as_value()]))
        m.d.comb += self.note.eq(select(self.unit, notes))
        return m

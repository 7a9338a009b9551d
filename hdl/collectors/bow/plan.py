"""What a window does for its next beat, if its entries are so."""

from amaranth import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.collectors.bow.fit import entries_layout, fit_layout
from warpfile.hdl.collectors.bow.take import MakeRoom, TakeEntries
from warpfile.spec.schemes.bow import BowConfig


def plan_layout(cfg: BowConfig) -> data.StructLayout:
    """``fit``: whether and how the beat fits. ``taken``: as of :class:`TakeEntries`, if it enters. ``urgent``,
    ``victim``: as of :class:`MakeRoom`, if it does not."""
    entries = cfg.window_entries
    taken = cfg.source_slots * entries
    return data.StructLayout({"fit": fit_layout(cfg), "taken": taken, "urgent": entries, "victim": entries})


class BeatPlan(wiring.Component):
    """Entries that the next beat takes, or that leave for it, combinationally.

    A window has two: one supposes that the result is accepted, the other that it is not.

    Members
    -------
    entries : In(entries_layout(cfg)), fit : In(fit_layout(cfg)), older : In(window_entries ** 2)   As supposed.
    waits : In(1)                   The beat may enter if it fits.
    pinned, late : In(window_entries)   As :class:`MakeRoom` has them.
    plan : Out(plan_layout(cfg))    What the beat takes if it enters, and what leaves if it does not fit.
    """

    def __init__(self, cfg: BowConfig) -> None:
        self._cfg = cfg
        entries = cfg.window_entries
        super().__init__(
            {
                "entries": In(entries_layout(cfg)),
                "fit": In(fit_layout(cfg)),
                "older": In(entries**2),
                "waits": In(1),
                **{name: In(entries) for name in ("pinned", "late")},
                "plan": Out(plan_layout(cfg)),
            }
        )

    def elaborate(self, platform) -> Module:
        """Both, side by side."""
        m = Module()
        fit, plan = self.fit, self.plan
        m.submodules.take = take = TakeEntries(self._cfg)
        m.submodules.make_room = make_room = MakeRoom(self._cfg)
        m.d.comb += [
            take.miss.eq(fit.miss),
            take.usable.eq(fit.usable),
            make_room.wanted.eq(self.waits & ~fit.fits),
            *(getattr(make_room, name).eq(getattr(self, name)) for name in ("entries", "fit", "older")),
            *(getattr(make_room, name).eq(getattr(self, name)) for name in ("pinned", "late")),
            plan.fit.eq(fit),
            plan.taken.eq(take.taken),
            plan.urgent.eq(make_room.urgent),
            plan.victim.eq(make_room.victim),
        ]
        return m

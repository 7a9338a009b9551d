"""One write-back port: the result that is decided, and the one that goes to its bank (docs/schemes/larf.md, 10)."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select
from warpfile.hdl.beat import completion_layout, result_layout
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import location_layout
from warpfile.spec.schemes.shared import ALLOCATE, IN_PLACE, RENEW, SharedConfig


class ResultPort(wiring.Component):
    """W0 and W1 of one port, without their data. What happens in a cycle is seen from the next.

    Members
    -------
    offered : In(1), result : In(result_layout(cfg))   A result that has to be stored, whose entry is being read.
    room, accept : Out(1)        W0 is free, or will be; the result enters it.
    old_entry : In(entry_bits)   In the first cycle of a result in W0: the entry of its register.
    deciding : Out(1)            W0 is occupied; what follows is of the result there.
    held_warp, held_register : Out   Of that result.
    mapped : Out(1), old_place : Out   It has a row, which is this one.
    single, marked, ready, busy : In(1)   Of that row: no other register has it; an entry may name it; it is filled;
                                 the merge slot has yet to read it.
    merges : Out(1), merge_place : Out, merge_served : In(1), merging : Out(1)   It asks for its old row, here; that is
                                 read; it is there (M1). The first two are registers.
    could : Out(1)               It needs a change and could move on with it.
    holds : Out(1)               It needs one that ends an entry or drops a row, whether or not it could move on.
    fresh : Out(1)               The change is to a fresh row.
    changes : In(1)              It changes.
    found : In(1), found_place : In   The fresh row.
    drops, ends : Out(1)         If it changes: the old row is dropped; the entry of that ends.
    place : Out                  What it has from then on.
    moves : Out(1), decision : Out(3)   It moves on to W1, and why.
    storing : Out(1), stored : In(1)   W1 is occupied; its bank takes it.
    store_place : Out, lanes : Out(lanes), fills : Out(1), completion : Out(completion_layout(cfg))   Of W1; it is the
                                 fill of its row.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self._cfg = cfg
        place = location_layout(cfg)
        inputs = ("offered", "single", "marked", "ready", "busy", "merge_served", "changes", "found", "stored")
        outputs = ("room", "accept", "deciding", "mapped", "merges", "merging", "could", "holds", "fresh")
        outputs += ("drops", "ends", "moves", "storing", "fills")
        super().__init__(
            {
                **{name: In(1) for name in inputs},
                **{name: Out(1) for name in outputs},
                "result": In(result_layout(cfg)),
                "old_entry": In(cfg.mapping_bits),
                "held_warp": Out(cfg.warp_bits),
                "held_register": Out(cfg.register_bits),
                **{name: Out(place) for name in ("old_place", "merge_place", "place", "store_place")},
                "found_place": In(place),
                "decision": Out(3),
                "lanes": Out(cfg.lanes),
                "completion": Out(completion_layout(cfg)),
            }
        )

    def elaborate(self, platform) -> Module:
        """What is in W0, what is done with it, what is in W1."""
        m = Module()
        self._first, self._full, self._merged = (Signal(name=name) for name in ("first", "full", "merged"))
        self._tokens = Signal.like(self.result.tokens, name="tokens", reset_less=True)
        self._mask = Signal(self._cfg.lanes, name="result_mask", reset_less=True)
        kept = Signal(self._cfg.mapping_bits, name="old_kept", reset_less=True)
        old = named(m, "old", Mux(self._first, self.old_entry, kept))
        m.d.sync += [kept.eq(old), self._first.eq(self.accept)]
        m.d.comb += [
            Cat(self.old_place, self.mapped).eq(old),
            self.merge_place.eq(kept[:-1]),
            self.room.eq(~self.deciding | self.moves),
            self.accept.eq(self.offered & self.room),
        ]
        self._enter(m)
        self._decide(m)
        self._store(m)
        return m

    def _enter(self, m: Module) -> None:
        with m.If(self.room):  # that it is accepted is known later, and nothing reads W0 without a result
            m.d.sync += [
                self.held_warp.eq(self.result.warp),
                self.held_register.eq(self.result.register),
                self._full.eq(self.result.full),
                self._mask.eq(self.result.mask),
                self._tokens.eq(self.result.tokens),
            ]
        m.d.sync += [
            self.deciding.eq(self.accept | (self.deciding & ~self.moves)),
            self.merging.eq(self.merge_served),
            self._merged.eq((self._merged | self.merging) & ~self.moves),
        ]

    def _decide(self, m: Module) -> None:
        """The table of section 10. From the cycle in which it asks to M1 nothing is decided."""
        settled = named(m, "settled", self.mapped & self.ready)
        whole = named(m, "whole", self._full | self._merged)
        own = named(m, "own", settled & self.single & ~self.merging & ~self.merges)
        shared = named(m, "shared", settled & ~self.single)
        fill = named(m, "fill", self.mapped & ~self.ready)
        stays = named(m, "stays", fill | (own & ~self.marked))
        unmarks, renews = named(m, "unmarks", own & self.marked), named(m, "renews", shared & whole)
        free = named(m, "next_free", self.deciding & (~self.storing | self.stored) & ~(self.mapped & self.busy))
        m.d.comb += [
            self.could.eq(free & (unmarks | renews | ~self.mapped)),
            self.holds.eq(self.deciding & (unmarks | renews)),
            self.fresh.eq(~unmarks),
            self.moves.eq((free & stays) | (self.changes & (unmarks | self.found))),
            self.drops.eq(renews),
            self.ends.eq(unmarks),
            self.place.eq(Mux(renews | ~self.mapped, self.found_place, self.old_place)),
        ]
        # Known a cycle late, so that counts of rows do not decide which stores the banks take.
        asks = named(m, "asks", self.merges | (self.deciding & shared & ~whole & ~self.merging))
        m.d.sync += self.merges.eq(asks & ~self.merge_served)
        codes = (stays | unmarks, IN_PLACE), (renews, RENEW), (~self.mapped, ALLOCATE)
        decision = select([bit for bit, _ in codes], [Const(code, 3) for _, code in codes])
        m.d.comb += self.decision.eq(decision & self.moves.replicate(3))
        self._fill = fill

    def _store(self, m: Module) -> None:
        completion = Signal(len(self.completion.as_value()) - 1, name="completes", reset_less=True)
        all_lanes = named(m, "all_lanes", self._merged | ~(self._full | self.mapped))
        with m.If(self.moves):
            m.d.sync += [
                self.store_place.eq(self.place),
                self.fills.eq(self._fill),
                self.lanes.eq(self._mask | all_lanes.replicate(self._cfg.lanes)),
                completion.eq(Cat(self.held_warp, self.held_register, self._tokens)),
            ]
        m.d.sync += self.storing.eq(self.moves | (self.storing & ~self.stored))
        m.d.comb += self.completion.eq(Cat(Const(1, 1), completion))

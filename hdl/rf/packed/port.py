"""One write-back port: the result that is decided, and the one that goes to its bank (docs/schemes/corf.md, 5)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select
from warpfile.hdl.beat import completion_layout, result_layout
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import location_layout
from warpfile.hdl.slices import first_slices, runs_of
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.packed import ALLOCATE, IN_PLACE, LEFT, RESIZE, RIGHT, SHRINK, PackedConfig


class ResultPort(wiring.Component):
    """W0 and W1 of one port, without their data. What happens in a cycle is seen from the next.

    Members
    -------
    offered : In(1), result : In(result_layout(cfg))   A result that has to be stored, whose entries are being read.
    size : In(4)                 Bytes that it needs, one-hot.
    room, accept : Out(1)        W0 is free, or will be; the result enters it.
    old_entry : In(entry_bits)   In the first cycle of a result in W0: the entry of its register.
    paired : In(1), partner_entry : In(entry_bits)   Of the result in X: its register has a partner; in its first cycle
                                 in W0 the entry of that; only with ``pairs``.
    side : In(2)                 Side of the register of the result in X; only with ``sides``.
    deciding : Out(1)            W0 is occupied; what follows is of the result there, as the inputs say.
    held_warp, held_register, held_size, held_side : Out   Of that result, as it was in X.
    old_place, old_mask : Out    Where its register is.
    with_partner : Out(1), partner_place, partner_mask : Out   It has a partner, and where that was.
    merges : Out(1), merge_place : Out, merge_served : In(1), merging : Out(1)   It asks for its old row, here; that is
                                 read; it is there (M1). The first two are registers.
    could : Out(1)               It needs a change and could move on with it.
    searches : Out(1)            The change takes slices, which have to be found.
    found : In(1), found_place, found_mask : In   What it has found, or would.
    changes : In(1), effective : Out(1)   It is the one that changes; it has what it wants to write.
    place, mask, freed : Out     What it has from then on, and the slices that it gives up.
    moves : Out(1), decision : Out(3)   It moves on to W1, and why.
    storing : Out(1), stored : In(1)   W1 is occupied; its bank takes it.
    store_place, store_mask : Out, lanes : Out(lanes), completion : Out(completion_layout(cfg))   Of W1.
    """

    def __init__(self, cfg: PackedConfig) -> None:
        self._cfg = cfg
        self._pairs, self._sides = cfg.allocation == "pairs", cfg.allocation == "sides"
        place = location_layout(cfg)
        ones_in = ("offered", "merge_served", "changes", "found", "stored")
        ones_out = (
            "room",
            "accept",
            "deciding",
            "merges",
            "merging",
            "could",
            "searches",
            "effective",
            "moves",
            "storing",
        )
        members: dict[str, wiring.Member] = {
            **{name: In(1) for name in ones_in},
            **{name: Out(1) for name in ones_out},
            "result": In(result_layout(cfg)),
            "size": In(SLICES),
            "old_entry": In(cfg.mapping_bits),
            "held_warp": Out(cfg.warp_bits),
            "held_register": Out(cfg.register_bits),
            **{name: Out(SLICES) for name in ("held_size", "old_mask", "mask", "freed", "store_mask")},
            **{name: Out(place) for name in ("old_place", "merge_place", "place", "store_place")},
            "found_place": In(place),
            "found_mask": In(SLICES),
            "decision": Out(3),
            "lanes": Out(cfg.lanes),
            "completion": Out(completion_layout(cfg)),
        }
        if self._pairs:
            members |= {"paired": In(1), "partner_entry": In(cfg.mapping_bits), "with_partner": Out(1)}
            members |= {"partner_place": Out(place), "partner_mask": Out(SLICES)}
        if self._sides:
            members |= {"side": In(2), "held_side": Out(2)}
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """What is in W0, what is done with it, what is in W1."""
        m = Module()
        self._fresh, self._full, self._merged = (Signal(name=name) for name in ("fresh", "full", "merged"))
        self._tokens = Signal.like(self.result.tokens, name="tokens", reset_less=True)
        self._mask = Signal(self._cfg.lanes, name="result_mask", reset_less=True)
        m.d.comb += [
            self.room.eq(~self.deciding | self.moves),
            self.accept.eq(self.offered & self.room),
        ]
        kept = self._keep(m, "old", self.old_entry, Cat(self.old_place, self.old_mask))
        m.d.comb += self.merge_place.eq(kept[:-SLICES])
        if self._pairs:
            self._keep(m, "partner", self.partner_entry, Cat(self.partner_place, self.partner_mask))
        self._enter(m)
        self._decide(m)
        self._store(m)
        return m

    def _keep(self, m: Module, name: str, entry: Value, now: Value) -> Value:
        """``now`` is what was read, which is there in the first cycle only; returns what is kept of it for the next."""
        kept = Signal(len(entry), name=f"{name}_kept", reset_less=True)
        m.d.comb += now.eq(Mux(self._fresh, entry, kept))
        m.d.sync += kept.eq(now)
        return kept

    def _enter(self, m: Module) -> None:
        m.d.sync += self._fresh.eq(self.accept)
        with m.If(self.moves):
            m.d.sync += [self.deciding.eq(0), self._merged.eq(0)]
        with m.If(self.accept):
            m.d.sync += self.deciding.eq(1)
        with m.If(self.room):  # that it is accepted is known later, and nothing reads W0 without a result
            m.d.sync += [
                self._full.eq(self.result.full),
                self._tokens.eq(self.result.tokens),
                self._mask.eq(self.result.mask),
                self.held_warp.eq(self.result.warp),
                self.held_register.eq(self.result.register),
                self.held_size.eq(self.size),
            ]
            m.d.sync += self.with_partner.eq(self.paired) if self._pairs else []
            m.d.sync += self.held_side.eq(self.side) if self._sides else []
        m.d.sync += self.merging.eq(self.merge_served)
        with m.If(self.merging):
            m.d.sync += self._merged.eq(1)

    def _decide(self, m: Module) -> None:
        """What is done waits for W1, and what changes the place for its turn."""
        free = named(m, "next_free", self.deciding & (~self.storing | self.stored))
        # Old slices are side by side: they have room for all values up to their own size, and for no larger ones.
        rooms = [named(m, f"room{size}", runs_of(self.old_mask, size).any()) for size in range(1, SLICES + 1)]
        fits, smaller = (
            named(m, name, select(self.held_size[: len(some)], some))
            for name, some in (("fits", rooms), ("smaller", rooms[1:]))
        )
        mapped, ready = named(m, "mapped", self.old_mask.any()), named(m, "ready", self._full | self._merged)
        shrinks = named(m, "shrinks", smaller & self._full)
        stays = named(m, "stays", fits & ~shrinks)
        kept = named(m, "kept", Mux(shrinks, self._shrunk(m), self.old_mask))
        m.d.comb += [
            self.could.eq(free & (shrinks | (~fits & (~mapped | ready)))),
            self.searches.eq(~fits),
            self.effective.eq(fits | self.found),
            self.moves.eq((free & stays) | (self.changes & self.effective)),
            self.place.eq(Mux(fits, self.old_place, self.found_place)),
            self.mask.eq(Mux(fits, kept, self.found_mask)),
            self.freed.eq(self.old_mask & ~(kept & fits.replicate(SLICES))),
        ]
        # Known a cycle late, so that what the table has just read does not decide which stores the banks take.
        asks = named(m, "asks", self.deciding & mapped & ~fits & ~ready)
        m.d.sync += self.merges.eq(asks & ~self.merging & ~self.merge_served)
        codes = (stays, IN_PLACE), (shrinks, SHRINK), (mapped & ~fits, RESIZE), (~mapped, ALLOCATE)
        decision = select([bit for bit, _ in codes], [Const(code, 3) for _, code in codes])
        m.d.comb += self.decision.eq(decision & self.moves.replicate(3))
        self._all_lanes = self._merged | (~self._full & ~mapped)

    def _shrunk(self, m: Module) -> Value:
        """The slices that a smaller value keeps."""
        high = self.old_mask[-1] & ~self.old_mask[0]
        if self._sides:
            high = (self.held_side == LEFT) | (high & (self.held_side != RIGHT))
        low, top = (first_slices(m, self.old_mask, self.held_size, highest=highest) for highest in (False, True))
        return named(m, "shrunk", Mux(high, top, low))

    def _store(self, m: Module) -> None:
        completion = Signal(len(self.completion.as_value()) - 1, name="completes", reset_less=True)
        with m.If(self.stored):
            m.d.sync += self.storing.eq(0)
        with m.If(self.moves):
            m.d.sync += [
                self.storing.eq(1),
                self.store_place.eq(self.place),
                self.store_mask.eq(self.mask),
                self.lanes.eq(self._mask | self._all_lanes.replicate(self._cfg.lanes)),
                completion.eq(Cat(self.held_warp, self.held_register, self._tokens)),
            ]
        m.d.comb += self.completion.eq(Cat(Const(1, 1), completion))

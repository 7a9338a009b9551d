"""One write-back port: results that are read, decided, and on their way to their bank (docs/schemes/corf.md, 5)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select
from warpfile.hdl.beat import completion_layout, result_layout
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import location_layout
from warpfile.hdl.slices import first_slices, runs_of
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.packed import ALLOCATE, IN_PLACE, LEFT, RESIZE, RIGHT, SHRINK, PackedConfig

#: What T has of a result as the execution port gave it.
_NAMES = ("warp", "register", "full", "tokens", "mask")


class ResultPort(wiring.Component):
    """T, W0 and W1 of one port, without their data. What happens in a cycle is seen from the next.

    Members (P: ``cfg.write_ports``)
    -------
    offered : In(1), result : In(result_layout(cfg))   A result that has to be stored, whose entries are being read.
    size : In(4)                 Bytes that it needs, one-hot.
    room, accept : Out(1)        T is free, or will be; the result enters it.
    side : In(2)                 Side of the register of the result in X; only with ``sides``.
    paired : In(1), partner : In(register_bits)   Likewise: it has a partner, and which. This, and what is said of
                                 partners and of a change below, only with ``pairs``.
    reading : Out(1)             T is occupied; what follows is of the result there.
    read_warp, read_register : Out   Of that result, as they were in X.
    old_entry, partner_entry : In(entry_bits)   In its first cycle there: the entries of its register and its partner.
    change_by : In(P), change_counts : In(1)   One-hot or none: the port that changes; an entry really is written. Both
                                 may be late.
    change_warps, change_registers : In(ArrayLayout), change_entry : In(entry_bits)   Whose entry each port would
                                 change; the one that is written, which may be late.
    advances : Out(1)            It moves on to W0, with all that is known of it at the end of the cycle.
    deciding : Out(1)            W0 is occupied; what follows is of the result there, which begins with registers.
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
        ones_out = ("room", "accept", "reading", "advances", "deciding", "merges", "merging")
        ones_out += ("could", "searches", "effective", "moves", "storing")
        members: dict[str, wiring.Member] = {
            **{name: In(1) for name in ones_in},
            **{name: Out(1) for name in ones_out},
            "result": In(result_layout(cfg)),
            "size": In(SLICES),
            "old_entry": In(cfg.mapping_bits),
            **{name: Out(cfg.warp_bits) for name in ("read_warp", "held_warp")},
            **{name: Out(cfg.register_bits) for name in ("read_register", "held_register")},
            **{name: Out(SLICES) for name in ("held_size", "old_mask", "mask", "freed", "store_mask")},
            **{name: Out(place) for name in ("old_place", "merge_place", "place", "store_place")},
            "found_place": In(place),
            "found_mask": In(SLICES),
            "decision": Out(3),
            "lanes": Out(cfg.lanes),
            "completion": Out(completion_layout(cfg)),
        }
        if self._sides:
            members |= {"side": In(2), "held_side": Out(2)}
        super().__init__(members | (self._of_partners() if self._pairs else {}))

    def _of_partners(self) -> dict[str, wiring.Member]:
        cfg = self._cfg
        return {
            "paired": In(1),
            "partner": In(cfg.register_bits),
            "change_by": In(cfg.write_ports),
            "change_counts": In(1),
            "change_warps": In(data.ArrayLayout(cfg.warp_bits, cfg.write_ports)),
            "change_registers": In(data.ArrayLayout(cfg.register_bits, cfg.write_ports)),
            **{name: In(cfg.mapping_bits) for name in ("partner_entry", "change_entry")},
            "with_partner": Out(1),
            "partner_place": Out(location_layout(cfg)),
            "partner_mask": Out(SLICES),
        }

    def elaborate(self, platform) -> Module:
        """What is in T, what is in W0 and what is done with it, what is in W1."""
        m = Module()
        self._read = Signal(self._layout(), name="read", reset_less=True)
        self._full, self._merged = (Signal(name=name) for name in ("full", "merged"))
        self._tokens = Signal.like(self.result.tokens, name="tokens", reset_less=True)
        self._mask = Signal(self._cfg.lanes, name="result_mask", reset_less=True)
        self._next_room = named(m, "next_room", ~self.deciding | self.moves)
        m.d.comb += [
            self.room.eq(~self.reading | self._next_room),
            self.accept.eq(self.offered & self.room),
            self.advances.eq(self.reading & self._next_room),
        ]
        self._enter(m)
        self._advance(m)
        self._decide(m)
        self._store(m)
        return m

    def _layout(self) -> data.StructLayout:
        """What T has of X."""
        result = result_layout(self._cfg)
        fields = {name: result[name].shape for name in _NAMES} | {"size": SLICES}
        fields |= {"paired": 1, "partner": self._cfg.register_bits} if self._pairs else {}
        return data.StructLayout(fields | ({"side": 2} if self._sides else {}))

    def _enter(self, m: Module) -> None:
        """T takes what is in X."""
        read = self._read
        with m.If(self.room):  # that it is accepted is known later, and nothing reads T without a result
            m.d.sync += [
                self.reading.eq(self.offered),
                *(read[name].eq(self.result[name]) for name in _NAMES),
                read.size.eq(self.size),
            ]
            m.d.sync += [read.paired.eq(self.paired), read.partner.eq(self.partner)] if self._pairs else []
            m.d.sync += read.side.eq(self.side) if self._sides else []
        m.d.comb += [self.read_warp.eq(read.warp), self.read_register.eq(read.register)]

    def _advance(self, m: Module) -> None:
        """W0 takes what is in T, and the answers of the table with it."""
        read, fresh = self._read, Signal(name="fresh")
        m.d.sync += fresh.eq(self.accept)
        old = self._keep(m, "old", fresh, self.old_entry)
        with m.If(self._next_room):  # nothing reads W0 without a result
            m.d.sync += [
                self.deciding.eq(self.reading),
                self._merged.eq(0),
                self._full.eq(read.full),
                self._tokens.eq(read.tokens),
                self._mask.eq(read.mask),
                self.held_warp.eq(read.warp),
                self.held_register.eq(read.register),
                self.held_size.eq(read.size),
                Cat(self.old_place, self.old_mask).eq(old),
            ]
            m.d.sync += self.held_side.eq(read.side) if self._sides else []
        if self._pairs:
            partner = self._keep(m, "partner", fresh, self.partner_entry, self._follows(m))
            with m.If(self._next_room):
                m.d.sync += [
                    self.with_partner.eq(read.paired),
                    Cat(self.partner_place, self.partner_mask).eq(partner),
                ]
        m.d.comb += self.merge_place.eq(self.old_place)
        m.d.sync += self.merging.eq(self.merge_served)
        with m.If(self.merging):
            m.d.sync += self._merged.eq(1)

    def _keep(self, m: Module, name: str, fresh: Value, entry: Value, follows: Value | None = None) -> Value:
        """An entry as T has it at the end of the cycle: it comes in the first one only, and may be written in any."""
        kept = Signal(len(entry), name=f"{name}_kept", reset_less=True)
        known: Value = Mux(fresh, entry, kept)
        if follows is not None:
            known = Mux(follows, self.change_entry, known)
        now = named(m, f"{name}_now", known)
        m.d.sync += kept.eq(now)
        return now

    def _follows(self, m: Module) -> Value:
        """Whether the partner's entry is written. Who writes is known late: all that could are compared before that."""
        read, places = self._read, zip(self.change_warps, self.change_registers, strict=True)
        same = named(m, "same", Cat((warp == read.warp) & (name == read.partner) for warp, name in places))
        own = named(m, "partner_of", same & read.paired.replicate(len(same)))
        return named(m, "follows", (self.change_by & own).any() & self.change_counts)

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
        # Known a cycle late, so that comparing sizes does not decide which stores the banks take.
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

"""Proofs of the register hierarchy: what a result is accepted by, what is known of an entry, who is held for one."""

from __future__ import annotations

from collections.abc import Callable

from amaranth import Cat, Const, Signal, Value
from amaranth.asserts import AnySeq
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Miswired, Proof, at_most_one, constant
from warpfile.hdl.arbiter import any_of, highest_one
from warpfile.hdl.naming import named
from warpfile.hdl.rf.shrf.brings import Brings
from warpfile.hdl.rf.shrf.named_entries import result_entry, skips_bank
from warpfile.hdl.rf.shrf.place import PlaceEntries
from warpfile.hdl.rf.shrf.results import ResultTargets
from warpfile.spec.schemes.shrf import ShrfConfig


def config(scheduler="two_level", **changes) -> ShrfConfig:
    """A small machine."""
    small = {"warps": 3, "active_warps": 2, "lanes": 1, "ports": 3, "banks": 2, "rows": 4, "register_names": 8}
    small |= {"payload_bits": 16, "collectors": 2, "source_slots": 2, "orf_entries": 2, "suspend": "strands"}
    return ShrfConfig(**ShrfConfig.adapted(small | changes | {"scheduler": scheduler, "resume": "all"}))


class TargetProperties(ConfiguredProperties):
    """Results between a bank, which is any one for all that ask a bank, and the entries."""

    def check(self, m, part):
        cfg, ports = self._cfg, range(self._cfg.write_ports)
        asking = named(m, "asking", part.to_bank)
        winner = named(m, "winner", highest_one(asking) & part.may)
        free = Signal()
        m.d.comb += [free.eq(AnySeq(1)), Assume(part.bank_accept == (winner & free.replicate(len(winner))))]
        m.d.comb += [Assume(at_most_one(holder)) for holder in part.holders]
        entries, skips = [], []
        for port, result in enumerate(part.results):
            entries.append(
                named(
                    m, f"names{port}", result_entry(cfg, result.hints) & part.store[port].replicate(cfg.place_entries)
                )
            )
            skips.append(skips_bank(cfg, result.hints))
            m.d.comb += Assume(~skips[port] | ~part.store[port] | entries[port].any())
        orf, count = cfg.orf_entries, cfg.place_entries
        targets = [part.bank_write, part.orf_write, part.lrf_write]
        last = [Cat(entry[number] for entry in entries) & part.accept for number in range(orf, count)]
        for port in ports:
            wanted = (part.accept[port] & ~skips[port], part.accept[port] & entries[port][:orf].any())
            wanted += (part.accept[port] & entries[port][orf:].any(),)
            m.d.comb += [
                Assert(Cat(target[port] for target in targets) == Cat(*wanted), "all targets of a result, or none"),
                Assert(part.store[port] | ~part.accept[port], "only what is to be stored is accepted"),
            ]
        m.d.comb += [
            Assert(part.bank_write == part.bank_accept, "a bank writes what is accepted"),
            Assert(at_most_one(part.orf_write), "one result enters the operand file"),
            Assert(~part.orf_write.any() | ~part.bring, "and none beside a bring"),
            *(Assert(at_most_one(taken), "one result enters a last-result file") for taken in last),
            Assert(free & ~part.bring & part.store.any() & ~part.accept.any() == 0, "some result gets on"),
            Cover((part.accept & ~part.bank_write).any() & part.bank_write.any(), "one to an entry, one to a bank"),
            Cover((part.bank_write & part.orf_write).any(), "a result goes to both"),
        ]
        self._written(m, part, entries)

    def _written(self, m, part, entries: list[Value]) -> None:
        count = self._cfg.place_entries
        for place in range(self._cfg.entry_places):
            here = [part.accept[port] & holder[place] for port, holder in enumerate(part.holders)]
            wanted = any_of(entry & bit.replicate(count) for entry, bit in zip(entries, here, strict=True))
            m.d.comb += Assert(part.written.word_select(place, count) == wanted, "entries of accepted results")


class PlaceProperties(ConfiguredProperties):
    """Any one entry, and any of the beats that have to do with it."""

    def check(self, m, part):
        cfg = self._cfg
        entry = self.entry = constant(m, "entry", cfg.place_entries)
        bits = {name: getattr(part, name).bit_select(entry, 1) for name in ("writes", "written")}
        self.writing = Signal(name="writing_shadow")
        m.d.sync += self.writing.eq((self.writing & ~bits["written"]) | (part.issues & bits["writes"]))
        m.d.comb += [
            Assert(part.to_be_written.bit_select(entry, 1) == self.writing, "to be written from issue to write"),
            Cover(self.writing & part.issues & bits["writes"] & bits["written"], "written and to be written again"),
        ]


class BringProperties(ConfiguredProperties):
    """A bring is written once, ``bank_cycles`` cycles after its grant."""

    def check(self, m, part):
        cfg = self._cfg
        m.d.comb += [
            Assume(at_most_one(part.slot)),
            Assume(at_most_one(part.holder)),
            Assume(part.ref < cfg.orf_entries),
        ]
        m.d.comb += Assume(part.holder.any())
        granted, mask = (part.slot & part.grant).any(), part.mask
        for cycle in range(cfg.bank_cycles):
            later, lanes = Signal(name=f"granted_shadow{cycle}"), Signal(cfg.lanes, name=f"mask_shadow{cycle}")
            m.d.sync += [later.eq(granted), lanes.eq(mask)]
            granted, mask = later, lanes
        self.granted = granted
        m.d.comb += [
            Assert(part.writes == granted, "written when its data arrive"),
            Assert(part.lanes == (mask & granted.replicate(cfg.lanes)), "in the lanes of its beat"),
            Assert(at_most_one(part.written) & (part.written.any() == granted), "to one entry"),
            Assert(at_most_one(part.inputs) & (part.inputs.any() == granted), "from one input"),
            Cover(granted & (part.slot & part.grant).any(), "one comes as one is written"),
        ]


def _proof(block: str, kind, part: Callable, size: str, cfg: ShrfConfig, wrong: dict, depth: int = 1) -> Proof:
    def broken(change):
        return lambda: kind(Miswired(part(cfg), **change), cfg, helped=False)

    return Proof(
        f"hdl.rf.shrf.{block}.{part.__name__}",
        size,
        lambda: kind(part(cfg), cfg),
        {message: broken(change) for message, change in wrong.items()},
        depth,
    )


_TARGETS = {
    "all targets of a result, or none": {"lrf_write": lambda ports: ports | 1},
    "a bank writes what is accepted": {"bank_accept": lambda ports: Const(0, len(ports))},
    "only what is to be stored is accepted": {"accept": lambda ports: ports | 1},
    "one result enters the operand file": {"orf_write": lambda ports: ports | 3},
    "and none beside a bring": {"bring": lambda bring: Const(0, 1)},
    "entries of accepted results": {"written": lambda entries: entries | 1},
    "some result gets on": {"accept": lambda ports: ports & ~4},
}
_PLACES = {
    "to be written from issue to write": {"written": lambda entries: entries & ~1},
}
_BRINGS = {
    "written when its data arrive": {"grant": lambda slots: slots | 1},
    "in the lanes of its beat": {"mask": lambda lanes: ~lanes},
    "to one entry": {"written": lambda entries: entries | 1},
}

PROOFS = (
    _proof("results", TargetProperties, ResultTargets, "2 entries and a file per slot", config(), _TARGETS),
    _proof("results", TargetProperties, ResultTargets, "2 entries and one file", config(lrf="one"), {}),
    _proof("results", TargetProperties, ResultTargets, "2 entries of each warp", config("gto", lrf="none"), {}),
    _proof("place", PlaceProperties, PlaceEntries, "4 entries", config(), _PLACES),
    _proof("brings", BringProperties, Brings, "banks of 1 cycle", config(lanes=2), _BRINGS),
    _proof("brings", BringProperties, Brings, "banks of 3 cycles", config(lanes=2, bank_cycles=3), {}, 4),
)

"""Proof of a scoreboard of entries against the rules of docs/machine.md, section 4: one register, followed."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.properties import Miswired, Proof, Properties, at_most_one, constant
from warpfile.hdl.pending_entries import GROUP, PendingEntries
from warpfile.spec.config import Config

CFG = Config(
    warps=2, lanes=1, register_names=16, source_slots=2, collectors=2, ports=3, payload_bits=16, pending_entries=3
)


class EntryProperties(Properties):
    """Beats are reserved that the scoreboard let issue, and results come of registers that are pending."""

    def check(self, m: Module, part) -> None:
        self.who = constant(m, "who", CFG.register_names)
        self.pending = Signal(name="pending_shadow")
        self._aligned(m, part)
        self._aligned(m, part.head)
        reserved = part.reserve & self._writes(part)
        freed = Cat(
            taken & (register == self.who) for taken, register in zip(part.release, part.registers, strict=True)
        )
        m.d.comb += [
            Assume(~(part.reserve & part.full & part.dest_count.any())),
            Assume(~(reserved & self.pending)),
            Assume(~freed.any() | self.pending),
            Assume(at_most_one(freed)),
        ]
        m.d.sync += self.pending.eq((self.pending & ~freed.any()) | reserved)
        self._answers(m, part)

    def _answers(self, m: Module, part) -> None:
        head = part.head
        lone = head.source_valid == 1
        reads = lone & (head.sources[0] == self.who) & (head.dest_count == 0)
        m.d.comb += [
            Assert(~reads | (part.touched == self.pending), "a beat that reads a register waits while it is pending"),
            Assert(
                ~(self.pending & self._writes(head)) | part.touched,
                "a beat that writes a pending register waits for it",
            ),
            Assert(part.some | ~self.pending, "something is pending while a register is"),
            Cover(part.full & self.pending & ~part.touched & head.source_valid.all(), "others go on amid full entries"),
            Cover(reads & ~part.touched & part.full, "a register that is back is read amid full entries"),
        ]

    def _aligned(self, m: Module, beat) -> None:
        crossing = Cat((beat.dest_count > size) & beat.dest[:bits].any() for size, bits in ((1, 1), (2, 2))).any()
        m.d.comb += [Assume(beat.dest_count <= GROUP), Assume(~crossing)]

    def _writes(self, beat) -> Value:
        return (beat.dest <= self.who) & (self.who < beat.dest + beat.dest_count)

    def help(self, m: Module, part, state) -> None:
        """The register that is followed is in one entry while it is pending, and else in none."""
        places = Cat(
            (state(f"group{entry}") == self.who[2:]) & state(f"left{entry}").bit_select(self.who[:2], 1)
            for entry in range(CFG.pending_entries)
        )
        m.d.comb += [
            Assert(at_most_one(places), "a register is in one entry"),
            Assert(places.any() == self.pending, "it is there while it is pending"),
        ]


def _wrong(**changes):
    return lambda: EntryProperties(Miswired(PendingEntries(CFG), **changes), helped=False)


PROOFS = (
    Proof(
        "hdl.pending_entries.PendingEntries",
        f"of {CFG.pending_entries} entries, {CFG.register_names} registers",
        lambda: EntryProperties(PendingEntries(CFG)),
        {
            "a beat that reads a register waits while it is pending": _wrong(
                release=lambda release: release & ~Const(2, len(release))
            ),
            "a beat that writes a pending register waits for it": _wrong(touched=lambda touched: touched & 0),
            "something is pending while a register is": _wrong(reserve=lambda reserve: reserve & 0),
        },
        reach=5,
    ),
)

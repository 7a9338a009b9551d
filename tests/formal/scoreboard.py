"""Proof of the scoreboard against the rules of docs/machine.md, section 4, register by register."""

from collections.abc import Callable
from dataclasses import replace

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.properties import Miswired, Proof, Properties, constant
from warpfile.hdl.collectors.write_after_read import WriteAfterRead
from warpfile.hdl.scoreboard import GROUP, WarpScoreboard
from warpfile.spec.beat import SCHEME_PINS, decode_fields, field_bits
from warpfile.spec.config import Config
from warpfile.spec.contract import Asks
from warpfile.spec.trace import TOKENS, Drain, Kind

CFG = Config(warps=2, lanes=1, register_names=16, source_slots=2, collectors=2, ports=3, payload_bits=16)


class Draining(Config):
    """Knows pseudo-instructions."""

    @property
    def operand_bits(self) -> int:
        """Width of the operand, which the scoreboard does not see."""
        return 4


class Forwarding(Config):
    """Its collectors take results of the first two sources."""

    @property
    def asks(self) -> Asks:
        """What they want of the frame."""
        return replace(super().asks, forwards=2)


class ScoreboardProperties(Properties):
    """What is reserved stays pending until its release, and a beat is clear exactly if no rule is against it."""

    def __init__(self, part, cfg, *, helped=True):
        super().__init__(part, helped=helped)
        self._cfg = cfg

    def check(self, m, part):
        head = part.head
        aligned = Cat((head.dest_count > size) & head.dest[:bits].any() for size, bits in ((1, 1), (2, 2))).any()
        m.d.comb += [Assume(head.dest_count <= GROUP), Assume(~aligned)]
        self.pending = self._shadow(m, "registers", part.reserve_registers, part.release_registers)
        self.tokens = self._shadow(m, "tokens", part.reserve_tokens, part.release_tokens)
        hazards = self._hazards(part)
        for text, hazard in hazards.items():
            m.d.comb += Assert(~(part.clear & hazard), f"clear implies {text}")
        m.d.comb += Assert(~part.clear | part.valid, "clear implies a head beat")
        none = ~Cat(hazards.values()).any()
        m.d.comb += Assert(part.clear | ~(part.valid & none), "without a hazard the head is clear")
        busy = self.pending.any() & self.tokens.any()
        m.d.comb += [
            Cover(part.clear & busy & head.source_valid.all() & (head.dest_count == 3), "clear amid pending registers"),
            Cover(part.clear & (head.kind == Kind.EXIT.value), "an EXIT is clear"),
            self._kept(m, part),
        ]
        if self._cfg.operand_bits:
            self._cover_drains(m, part, busy)
        if self._cfg.scheduler == "two_level":
            self._loads(m, part)
        if self._cfg.asks.forwards:
            read, _ = self._named(head)
            m.d.comb += Cover(part.clear & (self.pending & read).any(), "clear before the result of a source")

    def _cover_drains(self, m: Module, part, busy: Value) -> None:
        free = part.clear & busy & part.collecting
        m.d.comb += [
            Assume((part.head.drain == 0) | (part.head.kind == SCHEME_PINS)),
            Assume(part.head.drain != 3),
            Cover(free & (part.head.kind == SCHEME_PINS), "one that drains nothing is clear amid everything"),
            Cover(
                part.clear & busy & (part.head.drain == Drain.DISPATCHED.value), "one is clear amid pending registers"
            ),
            Cover(part.clear & (part.head.drain == Drain.EMPTY.value), "one that drains everything is clear"),
        ]

    def _loads(self, m: Module, part) -> None:
        """The registers among those that are pending which a load reserved."""
        self.loading = self._missed(m, part) if self._cfg.sees_misses else self._reserved_by_loads(m, part)
        read, written = self._named(part.head)
        waits = (self.loading & (read | written)).any()
        if self._cfg.operand_bits:
            waits |= (part.head.drain == Drain.EMPTY.value) & self.loading.any()
        m.d.comb += [
            Assert(part.touches_long | ~waits, "a warp that waits for a load is known"),
            Assert(waits | ~part.touches_long, "no other register is taken for one"),
            Assert(~(part.clear & part.touches_long), "a warp that waits for a load is not clear"),
            Assert(part.short_pending == (self.pending & ~self.loading).any(), "other pending registers are known"),
        ]
        if self._cfg.sees_outstanding:
            m.d.comb += Assert(part.outstanding == self.loading.any(), "a load that is out is known whatever the head")

    def _reserved_by_loads(self, m: Module, part) -> Signal:
        reserved = part.reserve_registers & part.reserve_long.replicate(self._cfg.register_names)
        return self._shadow(m, "loads", reserved, part.release_registers)

    def _missed(self, m: Module, part) -> Signal:
        """Told of while they were pending, and not released in that cycle or since."""
        held = Signal(self._cfg.register_names, name="missed_shadow")
        for bit in range(len(held)):
            with m.If(self._is_freed(part.release_registers, bit)):
                m.d.sync += held[bit].eq(0)
            with m.Elif(part.missed & part.missed_registers[bit] & self.pending[bit]):
                m.d.sync += held[bit].eq(1)
        return held

    def _is_freed(self, release, bit: int) -> Value:
        return Cat(self.part.release[port] & release[port][bit] for port in range(self._cfg.write_ports)).any()

    def _shadow(self, m: Module, name: str, reserve: Value, release) -> Signal:
        """Reserved and not released; a bit that is both in one cycle is reserved."""
        held = Signal(len(reserve), name=f"reserved_{name}")
        for bit in range(len(held)):
            with m.If(self.part.reserve & reserve[bit]):
                m.d.sync += held[bit].eq(1)
            with m.Elif(self._is_freed(release, bit)):
                m.d.sync += held[bit].eq(0)
        return held

    def _hazards(self, part) -> dict[str, Value]:
        head = part.head
        _, written = self._named(head)
        drains = (head.kind == Kind.EXIT.value) | (head.kind == Kind.BARRIER.value)
        return {
            **(self._drains(part) if self._cfg.operand_bits else {}),
            "no source is pending": self._reads_pending(part),
            "no destination is pending": (self.pending & written).any(),
            "no token is pending": (self.tokens & (head.token_reads | head.token_writes)).any(),
            "a BARRIER or EXIT finds nothing collecting": drains & part.collecting,
            "an EXIT finds nothing pending": (head.kind == Kind.EXIT.value) & (self.pending.any() | self.tokens.any()),
        }

    def _reads_pending(self, part) -> Value:
        """Whether a source is pending; the first ones may be if their result is coming."""
        forwards, slots = self._cfg.asks.forwards, range(self._cfg.source_slots)
        waits = [self.pending & ~part.coming if slot < forwards else self.pending for slot in slots]
        head = part.head
        return Cat(head.source_valid[slot] & waits[slot].bit_select(head.sources[slot], 1) for slot in slots).any()

    def _named(self, head) -> tuple[Value, Value]:
        """The registers that a beat reads, and those that it writes."""
        registers, slots = range(self._cfg.register_names), range(self._cfg.source_slots)
        read = Cat(
            Cat(head.source_valid[slot] & (head.sources[slot] == register) for slot in slots).any()
            for register in registers
        )
        written = Cat((head.dest <= register) & (register < head.dest + head.dest_count) for register in registers)
        return read, written

    def _drains(self, part) -> dict[str, Value]:
        """What a pseudo-instruction waits for, by its drain class."""
        drain = part.head.drain
        return {
            "DISPATCHED finds nothing collecting": (drain == Drain.DISPATCHED.value) & part.collecting,
            "EMPTY finds nothing collecting": (drain == Drain.EMPTY.value) & part.collecting,
            "EMPTY finds nothing pending": (drain == Drain.EMPTY.value) & (self.pending.any() | self.tokens.any()),
        }

    def _kept(self, m: Module, part) -> Assert:
        """For any one register: reserved and not released since, no beat that reads it is clear."""
        register = constant(m, "register", self._cfg.register_names)
        freed = Cat(
            part.release[port] & part.release_registers[port].bit_select(register, 1)
            for port in range(self._cfg.write_ports)
        )
        waits = Signal()
        with m.If(part.reserve & part.reserve_registers.bit_select(register, 1)):
            m.d.sync += waits.eq(1)
        with m.Elif(freed.any()):
            m.d.sync += waits.eq(0)
        self.waits, self.register = waits, register
        reads = part.head.source_valid[0] & (part.head.sources[0] == register)
        reads &= ~part.coming.bit_select(register, 1) if self._cfg.asks.forwards else Const(1)
        return Assert(~(part.clear & waits & reads), "a reserved register stays pending until its release")

    def help(self, m, part, state):
        m.d.comb += [
            Assert(state("pending") == self.pending, "pending registers are those reserved"),
            Assert(state("tokens") == self.tokens, "pending tokens are those reserved"),
            Assert(self.waits == self.pending.bit_select(self.register, 1), "the followed register is one of them"),
        ]
        if self._cfg.scheduler == "two_level":
            m.d.comb += Assert(state("loading") == self.loading, "loads are those reserved by one")
            m.d.comb += Assert((self.loading & ~self.pending) == 0, "a register that is long is pending")


def _beyond(cfg: Config) -> str:
    """What it knows besides, in the size of its proof."""
    if cfg.asks.forwards:
        return f", {cfg.asks.forwards} sources that may be coming"
    return ", pseudo-instructions, loads" if cfg.operand_bits else ", loads that miss" if cfg.sees_misses else ""


def _proof(cfg: Config, *, regress: bool = False) -> Proof:
    def wrong(**changes):
        return lambda: ScoreboardProperties(Miswired(WarpScoreboard(cfg), **changes), cfg, helped=False)

    names = cfg.register_names
    return Proof(
        "hdl.scoreboard.WarpScoreboard",
        f"of {names} registers, {TOKENS} tokens{_beyond(cfg)}",
        lambda: ScoreboardProperties(WarpScoreboard(cfg), cfg),
        {
            "a reserved register stays pending until its release": wrong(reserve_registers=lambda mask: mask[1:] << 1),
            "clear implies no token is pending": wrong(reserve_tokens=lambda tokens: tokens[:-1]),
            "without a hazard the head is clear": wrong(release=lambda release: release & ~Const(2, len(release))),
            **(
                {"a warp that waits for a load is not clear": wrong(clear=lambda _: Const(1))} if cfg.has_places else {}
            ),
            **(_drain_controls(cfg, wrong) if cfg.operand_bits else {}),
            **(_miss_controls(wrong) if cfg.sees_misses else {}),
            **(
                {"clear implies no source is pending": wrong(coming=lambda bits: bits | 4)} if cfg.asks.forwards else {}
            ),
        },
        reach=4,
        regress=regress,
    )


def _drain_controls(cfg: Config, wrong: Callable[..., Callable[[], Properties]]) -> dict[str, Callable[[], Properties]]:
    """Drain classes taken for weaker ones."""
    names = [name for name, _ in decode_fields(cfg)]
    low = field_bits(decode_fields(cfg)[: names.index("drain")])

    def taken(drain: Drain, weaker: Drain) -> Callable[[], Properties]:
        def change(head: Value) -> Value:
            seen = Mux(head[low : low + 2] == drain.value, weaker.value, head[low : low + 2])
            return Cat(head[:low], seen[:2], head[low + 2 :])

        return wrong(head=change)

    return {
        "clear implies DISPATCHED finds nothing collecting": taken(Drain.DISPATCHED, Drain.NONE),
        "clear implies EMPTY finds nothing collecting": taken(Drain.EMPTY, Drain.NONE),
        "clear implies EMPTY finds nothing pending": taken(Drain.EMPTY, Drain.DISPATCHED),
        "a warp that waits for a load is known": wrong(reserve_long=lambda long: long & 0),
        "no other register is taken for one": wrong(reserve_long=lambda long: long | 1),
    }


def _miss_controls(wrong: Callable[..., Callable[[], Properties]]) -> dict[str, Callable[[], Properties]]:
    return {
        "a warp that waits for a load is known": wrong(missed=lambda missed: missed & 0),
        "no other register is taken for one": wrong(missed=lambda missed: missed | 1),
        "a load that is out is known whatever the head": wrong(missed_registers=lambda mask: mask & ~1),
    }


class WriteAfterReadProperties(Properties):
    """Blocked exactly while a slot has yet to read one of the destinations."""

    def check(self, m, part):
        aligned = Cat((part.dest_count > size) & part.dest[:bits].any() for size, bits in ((1, 1), (2, 2))).any()
        m.d.comb += [Assume(part.dest_count <= GROUP), Assume(~aligned)]
        waits = Cat(
            unread & (part.dest <= register) & (register < part.dest + part.dest_count)
            for register, unread in zip(part.registers, part.unread, strict=True)
        )
        m.d.comb += [
            Assert(part.blocked | ~waits.any(), "no destination is written before it was read"),
            Assert(waits.any() | ~part.blocked, "nothing else blocks"),
            Cover(part.blocked & (part.dest_count == 3), "a wide destination is blocked"),
            Cover(~part.blocked & part.unread.all() & (part.dest_count == 4), "other slots block no beat"),
        ]


def _write_after_read(slots: int) -> Proof:
    def wrong(**changes):
        return lambda: WriteAfterReadProperties(Miswired(WriteAfterRead(CFG, slots), **changes), helped=False)

    return Proof(
        "hdl.collectors.write_after_read.WriteAfterRead",
        f"of {slots} slots, {CFG.register_names} registers",
        lambda: WriteAfterReadProperties(WriteAfterRead(CFG, slots)),
        {
            "no destination is written before it was read": wrong(unread=lambda unread: unread & ~1),
            "nothing else blocks": wrong(dest=lambda dest: dest & ~1),
        },
        reach=2,
    )


PROOFS = (
    _proof(CFG),
    _proof(Draining(**CFG.replace(scheduler="two_level", active_warps=2).to_json())),
    _proof(CFG.replace(scheduler="two_level", active_warps=2, long_from="miss", resume="all")),
    _proof(Forwarding(**CFG.replace(source_slots=3).to_json())),
    _proof(CFG.replace(register_names=64, collectors=3), regress=True),
    _write_after_read(4),
)

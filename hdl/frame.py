"""The frame that every scheme shares: instruction buffers, scoreboard, barriers and the warp scheduler."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hdl.arbiter import decode, encode, select
from hdl.barrier import Barrier
from hdl.beat import beat_layout, completion_layout, launch_layout
from hdl.buffer import InstructionBuffer
from hdl.naming import named
from hdl.scheduler.policy import POLICIES
from hdl.scoreboard import WarpScoreboard, destination_mask
from hdl.stamp import stamp
from spec.config import Config
from spec.trace import Kind


class Frame(wiring.Component):
    """From the decode port to the beat that is offered to the operand stage (docs/machine.md, sections 3 and 4).

    Members
    -------
    launch : In(stream)          A warp to launch; resident from the next cycle. Ready when the operand stage is.
    launch_ready : In(1)         The storage takes the launch in this cycle.
    decode_valid : In(1), decode : In(beat_layout(cfg))   Always taken; the sender counts buffer entries.
    heads : Out(ArrayLayout)     Head beat of every warp, for the operand stage to read.
    room, hold, prefer, collecting : In(warps), mine, blocks_write, registers : In   See the operand stage.
    accept : In(1)               The operand stage takes the offered beat in this cycle; a refusal is a bubble.
    offer_valid : Out(1), offer : Out(beat_layout), offer_warp : Out(warps)   The chosen beat; zero if none.
    completed : In(ports), completion : In(ArrayLayout)   Results that are in place, for the scoreboard.
    resident, buffered, clear, waiting : Out(warps), issue, exit : Out(1), issue_warp : Out(warp_bits)   Observed state.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        slots = cfg.collectors * cfg.source_slots
        masks = {name: Out(cfg.warps) for name in ("resident", "buffered", "clear", "waiting")}
        super().__init__(
            {
                "launch": In(stream.Signature(launch_layout(cfg))),
                "launch_ready": In(1),
                "decode_valid": In(1),
                "decode": In(beat_layout(cfg)),
                "heads": Out(data.ArrayLayout(beat_layout(cfg), cfg.warps)),
                **{name: In(cfg.warps) for name in ("room", "hold", "prefer", "collecting")},
                "mine": In(data.ArrayLayout(cfg.collectors, cfg.warps)),
                "blocks_write": In(slots),
                "registers": In(data.ArrayLayout(cfg.register_bits, slots)),
                "accept": In(1),
                "offer_valid": Out(1),
                "offer": Out(beat_layout(cfg)),
                "offer_warp": Out(cfg.warps),
                "completed": In(cfg.ports),
                "completion": In(data.ArrayLayout(completion_layout(cfg), cfg.ports)),
                **masks,
                "issue": Out(1),
                "exit": Out(1),
                "issue_warp": Out(cfg.warp_bits),
            }
        )

    def elaborate(self, platform) -> Module:
        """Tables, buffers, scoreboards, scheduler, and what an issue changes."""
        m = Module()
        grant, leaves = Signal(self._cfg.warps), Signal(self._cfg.warps)
        m.d.comb += leaves.eq(grant & self.issue.replicate(self._cfg.warps))
        launched, ctas = self._warp_table(m, leaves)
        self._buffers(m, leaves)
        self._scoreboards(m, leaves)
        self._schedule(m, grant, leaves, launched)
        self._barrier(m, ctas, leaves)
        return m

    def _warp_table(self, m: Module, leaves: Value) -> tuple[Signal, Value]:
        warps = self._cfg.warps
        launched = Signal(warps)
        ctas = Signal(data.ArrayLayout(self._cfg.cta_bits, warps), reset_less=True)
        taken = self.launch.valid & self.launch_ready
        m.d.comb += [
            self.launch.ready.eq(self.launch_ready),
            launched.eq(decode(self.launch.payload.warp, warps) & taken.replicate(warps)),
        ]
        m.d.sync += self.resident.eq((self.resident & ~(leaves & self.exit.replicate(warps))) | launched)
        for warp in range(warps):
            with m.If(launched[warp]):
                m.d.sync += ctas[warp].eq(self.launch.payload.cta)
        return launched, ctas

    def _buffers(self, m: Module, leaves: Value) -> None:
        for warp in range(self._cfg.warps):
            buffer = stamp(m, f"buffer{warp}", "instruction_buffer", lambda: InstructionBuffer(self._cfg))
            m.d.comb += [
                buffer.push.eq(self.decode_valid & (self.decode.warp == warp)),
                buffer.beat.eq(self.decode),
                buffer.pop.eq(leaves[warp]),
                self.buffered[warp].eq(buffer.valid),
                self.heads[warp].eq(buffer.head),
            ]

    def _scoreboards(self, m: Module, leaves: Value) -> None:
        reserve = named(m, "reserve_registers", destination_mask(m, self._cfg, self.offer))
        results = [self.completion[port] for port in range(self._cfg.ports)]
        release = named(m, "release_registers", Cat(self._released(result) for result in results))
        for warp in range(self._cfg.warps):
            board = stamp(m, f"scoreboard{warp}", "warp_scoreboard", lambda: WarpScoreboard(self._cfg))
            own = Cat(taken & (result.warp == warp) for taken, result in zip(self.completed, results, strict=True))
            m.d.comb += [
                board.valid.eq(self.buffered[warp]),
                board.head.eq(self.heads[warp]),
                board.collecting.eq(self.collecting[warp]),
                board.mine.eq(self.mine[warp]),
                board.blocks_write.eq(self.blocks_write),
                board.registers.eq(self.registers),
                board.reserve.eq(leaves[warp] & self.offer.executes),
                board.reserve_registers.eq(reserve),
                board.reserve_tokens.eq(self.offer.token_writes),
                board.release.eq(own),
                board.release_registers.eq(release),
                board.release_tokens.eq(Cat(result.tokens for result in results)),
                self.clear[warp].eq(board.clear),
            ]

    def _released(self, result: data.View) -> Value:
        names = self._cfg.register_names
        return decode(result.register, names) & result.writes.replicate(names)

    def _schedule(self, m: Module, grant: Value, leaves: Value, launched: Value) -> None:
        eligible = named(m, "eligible", self.clear & ~self.waiting & self.room & ~self.hold)
        preferred = named(m, "preferred", eligible & self.prefer)
        m.submodules.scheduler = scheduler = POLICIES[self._cfg.scheduler](self._cfg)
        m.d.comb += [
            scheduler.eligible.eq(Mux(preferred.any(), preferred, eligible)),
            grant.eq(scheduler.grant),
            self.offer.eq(select(grant, [head.as_value() for head in self.heads])),
            self.offer_warp.eq(grant),
            self.offer_valid.eq(grant.any()),
            self.issue.eq(self.offer_valid & self.accept),
            self.exit.eq(self.issue & (self.offer.kind == Kind.EXIT.value)),
            self.issue_warp.eq(encode(leaves, self._cfg.warp_bits)),
            scheduler.taken.eq(self.issue),
            scheduler.launch.eq(launched),
            scheduler.exit.eq(leaves & self.exit.replicate(self._cfg.warps)),
        ]

    def _barrier(self, m: Module, ctas: Value, leaves: Value) -> None:
        m.submodules.barrier = barrier = Barrier(self._cfg)
        arrives = self.offer.kind == Kind.BARRIER.value
        m.d.comb += [
            barrier.resident.eq(self.resident),
            barrier.cta.eq(ctas),
            barrier.arrive.eq(leaves & arrives.replicate(self._cfg.warps)),
            self.waiting.eq(barrier.waiting),
        ]

"""The frame that every scheme shares: instruction buffers, scoreboard, barriers and the warp scheduler."""

from collections.abc import Callable

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode, encode, select
from warpfile.hdl.barrier import Barrier
from warpfile.hdl.beat import beat_layout, completion_layout, launch_layout, missed_layout
from warpfile.hdl.buffer import InstructionBuffer
from warpfile.hdl.departure import Departure
from warpfile.hdl.naming import named
from warpfile.hdl.scheduler.contract import FRAME_INPUTS, lookahead_members, observed_places, rank_members, sees_exits
from warpfile.hdl.scoreboard import WarpScoreboard, destination_mask
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import Config
from warpfile.spec.trace import Kind


class Frame(wiring.Component):
    """From the decode port to the beat that is offered to the collectors (docs/machine.md, sections 3 and 4).

    ``scheduler`` makes the warp scheduler (docs/slots/scheduler.md).

    Members
    -------
    launch : In(stream)          A warp to launch; resident from the next cycle. Ready when the register file is.
    launch_ready : In(1)         The register file takes the launch in this cycle.
    decode_valid : In(1), decode : In(beat_layout(cfg))   A beat; taken if its warp's bit of ``decode_ready`` is set.
    decode_ready : Out(warps)    Warps whose buffer has a free entry; outputs of registers.
    heads : Out(ArrayLayout)     Head beat of every warp, for the collectors to read.
    room, prefer, collecting, blocked : In(warps), hold : In(warps)   See docs/slots, collectors and register file. With
                                 ``asks.guards`` ``blocked`` is all that decides whether a head beat has a hazard.
    coming_registers : In(ArrayLayout)   Per warp the registers that the head beat's first sources may name though they
                                 are pending, because their result is coming; only with ``asks.forwards``.
    accept : In(1)               The collectors take the offered beat in this cycle; a refusal is a bubble.
    offer_valid : Out(1), offer : Out(beat_layout), offer_warp : Out(warps)   The chosen beat; zero if none.
    completed : In(ports), completion : In(ArrayLayout)   Results that are in place, for the scoreboard.
    missed_valid : In(1), missed : In(missed_layout(cfg))   A load that is known to miss; only with ``long_from`` =
                                 ``miss`` and a scheduler with places.
    resident, buffered, clear, waiting : Out(warps), issue, exit : Out(1), issue_warp : Out(warp_bits)   Observed state.
    exits : Out(warps)           One-hot, the warp whose EXIT issues.
    refuses, yields : In(warps), refused : Out(warps)   See the register file; only with ``gives.gates``, and ``yields``
                                 only for a scheduler with places.
    pending : Out(ArrayLayout)   Pending registers of every warp; only with ``gives.gates`` or ``gives.lookahead``.
    places : Out(ArrayLayout), release : Out(active_warps), released : In(active_warps)   See the register file; these
                                 and what :func:`observed_places` names only for a scheduler with places.
    lookahead_hit, shareable : In(warps), flagged : Out(warps)   From the register file to the scheduler, and what that
                                 makes of it; only with ``gives.lookahead``.
    owners, sharers : In(warps)  From the register file to the scheduler; only with ``gives.ranks``.
    """

    def __init__(self, cfg: Config, scheduler: Callable[[Config], wiring.Component]) -> None:
        self._cfg = cfg
        self._scheduler = scheduler(cfg)
        self._has_places = "places" in self._scheduler.signature.members
        pending = data.ArrayLayout(cfg.register_names, cfg.warps)
        masks = {name: Out(cfg.warps) for name in ("resident", "buffered", "clear", "waiting")}
        two_level = {
            "places": Out(data.ArrayLayout(cfg.warps, cfg.active_warps)),
            "release": Out(cfg.active_warps),
            "released": In(cfg.active_warps),
            **observed_places(cfg),
        }
        super().__init__(
            {
                "launch": In(stream.Signature(launch_layout(cfg))),
                "launch_ready": In(1),
                "decode_valid": In(1),
                "decode": In(beat_layout(cfg)),
                "decode_ready": Out(cfg.warps),
                "heads": Out(data.ArrayLayout(beat_layout(cfg), cfg.warps)),
                **{name: In(cfg.warps) for name in ("room", "hold", "prefer", "collecting", "blocked")},
                **({"coming_registers": In(pending)} if cfg.asks.forwards else {}),
                "accept": In(1),
                "offer_valid": Out(1),
                "offer": Out(beat_layout(cfg)),
                "offer_warp": Out(cfg.warps),
                "completed": In(cfg.write_ports),
                "completion": In(data.ArrayLayout(completion_layout(cfg), cfg.write_ports)),
                **masks,
                "issue": Out(1),
                "exit": Out(1),
                "exits": Out(cfg.warps),
                "issue_warp": Out(cfg.warp_bits),
                **(two_level if self._has_places else {}),
                **({"missed_valid": In(1), "missed": In(missed_layout(cfg))} if cfg.sees_misses else {}),
                **(self._gates() if cfg.gives.gates else {}),
                **(lookahead_members(cfg) if cfg.gives.lookahead else {}),
                **(rank_members(cfg) if cfg.gives.ranks else {}),
                **({"pending": Out(pending)} if cfg.shows_pending else {}),
            }
        )

    def _gates(self) -> dict[str, wiring.Member]:
        warps = self._cfg.warps
        inputs = ("refuses", "yields") if self._has_places else ("refuses",)
        return {**{name: In(warps) for name in inputs}, "refused": Out(warps)}

    def elaborate(self, platform) -> Module:
        """Tables, buffers, scoreboards, scheduler, and what an issue changes."""
        m = Module()
        grant = Signal(self._cfg.warps)
        m.submodules.departure = departure = Departure(self._cfg)
        m.d.comb += [
            departure.kinds.eq(Cat(head.kind for head in self.heads)),
            departure.offered.eq(self.offer_warp),
            departure.accept.eq(self.accept),
            self.exits.eq(departure.exits),
        ]
        leaves = departure.leaves
        launched, ctas = self._warp_table(m)
        self._buffers(m, leaves)
        boards = self._scoreboards(m, leaves)
        scheduler = self._schedule(m, grant, leaves, launched, boards)
        barrier = self._barrier(m, ctas, departure)
        if self._cfg.gives.lookahead:
            m.d.comb += [getattr(scheduler, name).eq(getattr(self, name)) for name in ("lookahead_hit", "shareable")]
            m.d.comb += self.flagged.eq(scheduler.flagged)
        if self._cfg.gives.ranks:
            m.d.comb += [getattr(scheduler, name).eq(getattr(self, name)) for name in rank_members(self._cfg)]
        if self._has_places:
            self._places(m, scheduler, boards, barrier)
        return m

    def _warp_table(self, m: Module) -> tuple[Signal, Value]:
        warps = self._cfg.warps
        launched = Signal(warps)
        ctas = Signal(data.ArrayLayout(self._cfg.cta_bits, warps), reset_less=True)
        taken = named(m, "taken", self.launch.valid & self.launch_ready)
        m.d.comb += [
            self.launch.ready.eq(self.launch_ready),
            launched.eq(decode(self.launch.payload.warp, warps) & taken.replicate(warps)),
        ]
        m.d.sync += self.resident.eq((self.resident & ~self.exits) | launched)
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
                self.decode_ready[warp].eq(buffer.ready),
                self.buffered[warp].eq(buffer.valid),
                self.heads[warp].eq(buffer.head),
            ]

    def _scoreboards(self, m: Module, leaves: Value) -> list[wiring.PureInterface]:
        if self._cfg.asks.guards:
            m.d.comb += self.clear.eq(self.buffered & ~self.blocked)
            return []
        results = [self.completion[port] for port in range(self._cfg.write_ports)]
        reserved, released = self._told(m, results)
        boards = []
        for warp in range(self._cfg.warps):
            board = stamp(m, f"scoreboard{warp}", "warp_scoreboard", lambda: WarpScoreboard(self._cfg))
            own = Cat(taken & (result.warp == warp) for taken, result in zip(self.completed, results, strict=True))
            m.d.comb += [
                board.valid.eq(self.buffered[warp]),
                board.head.eq(self.heads[warp]),
                board.collecting.eq(self.collecting[warp]),
                board.reserve.eq(leaves[warp] & self.offer.executes),
                *(getattr(board, name).eq(value) for name, value in reserved.items()),
                board.reserve_tokens.eq(self.offer.token_writes),
                board.release.eq(own),
                *(getattr(board, name).eq(value) for name, value in released.items()),
                board.release_tokens.eq(Cat(result.tokens for result in results)),
                self.clear[warp].eq(board.clear & ~self.blocked[warp]),
            ]
            if self._cfg.shows_pending:
                m.d.comb += self.pending[warp].eq(board.pending)
            if self._cfg.asks.forwards:
                m.d.comb += board.coming.eq(self.coming_registers[warp])
            boards.append(board)
        return boards

    def _told(self, m: Module, results: list[data.View]) -> tuple[dict[str, Value], dict[str, Value]]:
        """What all scoreboards are told of registers that are reserved and released: a bit per name, or numbers."""
        if self._cfg.pending_entries:
            writes, registers = (Cat(result[name] for result in results) for name in ("writes", "register"))
            taken = {"dest": self.offer.dest, "dest_count": self.offer.dest_count}
            return taken, {"release_writes": writes, "release_registers": registers}
        reserve = named(m, "reserve_registers", destination_mask(m, self._cfg, self.offer))
        release = named(m, "release_registers", Cat(self._released(result) for result in results))
        return {"reserve_registers": reserve}, {"release_registers": release}

    def _released(self, result: data.View) -> Value:
        names = self._cfg.register_names
        return decode(result.register, names) & result.writes.replicate(names)

    def _schedule(
        self, m: Module, grant: Value, leaves: Value, launched: Value, boards: list[wiring.PureInterface]
    ) -> wiring.Component:
        scheduler = self._scheduler
        eligible = self.clear & ~self.waiting & self.room & ~self.hold
        if self._has_places:
            # Scoreboards are last: all else meets beside them.
            m.d.comb += scheduler.open.eq(~self.blocked & ~self.waiting & self.room & ~self.hold)
            eligible = Cat(board.clear for board in boards) & scheduler.runs
        eligible = named(m, "eligible", eligible)
        preferred = named(m, "preferred", eligible & self.prefer)
        m.submodules.scheduler = scheduler
        offered = self._gate(m, grant) if self._cfg.gives.gates else grant
        m.d.comb += [
            scheduler.eligible.eq(Mux(preferred.any(), preferred, eligible)),
            grant.eq(scheduler.grant),
            self.offer.eq(select(grant, [head.as_value() for head in self.heads])),
            self.offer_warp.eq(offered),
            self.offer_valid.eq(offered.any()),
            self.issue.eq(self.offer_valid & self.accept),
            self.exit.eq(self.exits.any()),
            self.issue_warp.eq(encode(leaves, self._cfg.warp_bits)),
            scheduler.taken.eq(self.issue),
            scheduler.launch.eq(launched),
            scheduler.exit.eq(self.exits),
        ]
        return scheduler

    def _gate(self, m: Module, grant: Value) -> Value:
        """Who is offered to the collectors: not the chosen warp if the register file refuses its beat."""
        m.d.comb += self.refused.eq(grant & self.refuses)
        return grant & ~self.refuses

    def _places(
        self, m: Module, scheduler: wiring.Component, boards: list[wiring.PureInterface], barrier: Barrier
    ) -> None:
        """What only the two-level scheduler wants to know, and what only it says."""
        hint = self._cfg.suspend_hint
        self._loads(m, boards)
        m.d.comb += [getattr(self, name).eq(getattr(scheduler, name)) for name in observed_places(self._cfg)]
        seen = {name: getattr(self, name) for name in FRAME_INPUTS}
        if self._cfg.gives.gates:
            seen["waiting"] |= self.yields
        m.d.comb += [getattr(scheduler, name).eq(value) for name, value in seen.items()]
        m.d.comb += [
            scheduler.barrier_released.eq(barrier.released),
            scheduler.marked.eq(Cat(Const(1, 1) if hint is None else head.hints[hint] for head in self.heads)),
            scheduler.touches_long.eq(Cat(board.touches_long for board in boards)),
            scheduler.short_pending.eq(Cat(board.short_pending for board in boards)),
            scheduler.released.eq(self.released),
            self.places.eq(scheduler.places),
            self.release.eq(scheduler.releasing),
        ]
        if self._cfg.sees_outstanding:
            m.d.comb += scheduler.outstanding.eq(Cat(board.outstanding for board in boards))
        if sees_exits(self._cfg):
            m.d.comb += scheduler.at_exit.eq(Cat(head.kind == Kind.EXIT.value for head in self.heads))

    def _loads(self, m: Module, boards: list[wiring.PureInterface]) -> None:
        """Which of the pending registers are long."""
        if not self._cfg.sees_misses:
            for board, head in zip(boards, self.heads, strict=True):
                m.d.comb += board.reserve_long.eq(head.long)
            return
        registers = named(m, "missed_registers", destination_mask(m, self._cfg, self.missed, "missed"))
        for warp, board in enumerate(boards):
            m.d.comb += [
                board.missed.eq(self.missed_valid & (self.missed.warp == warp)),
                board.missed_registers.eq(registers),
            ]

    def _barrier(self, m: Module, ctas: Value, departure: Departure) -> Barrier:
        m.submodules.barrier = barrier = Barrier(self._cfg)
        m.d.comb += [
            barrier.resident.eq(self.resident),
            barrier.cta.eq(ctas),
            barrier.arrive.eq(departure.arrives),
            self.waiting.eq(barrier.waiting),
        ]
        return barrier

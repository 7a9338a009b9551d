"""What the file does about a kernel, from its start to the next one's (docs/schemes/pilot.md, section 4)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode
from warpfile.hdl.beat import launch_layout
from warpfile.hdl.naming import named
from warpfile.hdl.rf.kernel import kernel_members, no_warp_resident
from warpfile.hdl.rf.pilot.layouts import hot_layout
from warpfile.spec.schemes.pilot import PilotConfig, State


def _moving_members(cfg: PilotConfig) -> dict[str, wiring.Member]:
    pulses = {name: In(1) for name in ("drained", "moved")} | {name: Out(1) for name in ("moving", "undone")}
    return {**pulses, "resident": Out(cfg.warps)}


class KernelState(wiring.Component):
    """State machine of a kernel, the pilot, and the list that comes with the kernel.

    Members
    -------
    See :func:`hdl.rf.kernel.kernel_members`, and:
    launch : In(launch_layout(cfg))    The warp that is launched.
    state : Out(3)                     One of :class:`State`.
    loading : Out(fast_registers), remapping : Out(fast_registers)   Place of the list whose turn it is, one-hot.
    hot : Out(hot_layout(cfg))         The kernel's list.
    pilot : Out(warp_bits), profiling : Out(1)   Its slot; its accesses are counted.
    scan : Out(register_bits)          Register whose counter is sorted in, in SORT.
    current : Out(1)                   Version that a warp gets that is launched; if registers move, that the table has.
    unused : In(1), keeps : Out(1)     The register of ``scan`` was not accessed; SORT ends, and the kernel's list is
                                       kept. Only with ``checks_map``.
    running : Out(1), held : Out(1)    After LOAD; no warp issues, because registers move.
    drained : In(1), moved : In(1)     DRAIN ends, MOVE ends; these and the following only with ``migrates``.
    moving : Out(1), undone : Out(1)   In MOVE; in its last cycle, if it undoes the old map.
    resident : Out(warps)              Warps that there are.
    """

    def __init__(self, cfg: PilotConfig) -> None:
        self._cfg = cfg
        super().__init__(
            {
                **kernel_members(cfg),
                "launch": In(launch_layout(cfg)),
                "state": Out(3),
                "loading": Out(cfg.fast_registers),
                "remapping": Out(cfg.fast_registers),
                "hot": Out(hot_layout(cfg)),
                "pilot": Out(cfg.warp_bits),
                "profiling": Out(1),
                "scan": Out(cfg.register_bits),
                "current": Out(1),
                "running": Out(1),
                "held": Out(1),
                **({"unused": In(1), "keeps": Out(1)} if cfg.checks_map else {}),
                **(_moving_members(cfg) if cfg.migrates else {}),
            }
        )

    def elaborate(self, platform) -> Module:
        """Residents decide when a kernel may start; state and step tell what goes on."""
        m = Module()
        state = self.state
        empty = no_warp_resident(m, self._cfg, self)
        m.d.comb += [
            self.kernel_ready.eq(empty & (state != State.LOAD)),
            self.running.eq((state != State.IDLE) & (state != State.LOAD)),
            self.launch_ready.eq(self.running & ~self.held),
            self.taken.eq(self.kernel_valid & self.kernel_ready),
        ]
        if self._cfg.migrates:
            self._keep_residents(m)
        self._list(m)
        ends = self._pilot(m, empty) if self._cfg.piloted else Const(0)
        self._advance(m, ends)
        return m

    def _keep_residents(self, m: Module) -> None:
        """Whose registers move."""
        own = decode(self.launch.warp, self._cfg.warps) & self.launch_valid.replicate(self._cfg.warps)
        m.d.sync += self.resident.eq((self.resident | own) & ~self.exits)

    def _list(self, m: Module) -> None:
        if not self._cfg.listed:
            return
        for number, place in enumerate(self.hot):
            register = Signal(self._cfg.register_bits, name=f"hot{number}_register", reset_less=True)
            with m.If(self.taken):
                m.d.sync += register.eq(self.kernel[f"hot{number}"])
            m.d.comb += [place.valid.eq(register != self._cfg.marker), place.register.eq(register)]

    def _pilot(self, m: Module, empty: Value) -> Value:
        """The first warp of a kernel. Returns whether it ends."""
        m.d.comb += self.profiling.eq(self.state == State.PROFILE)
        with m.If(self.profiling & empty & self.launch_valid):
            m.d.sync += self.pilot.eq(self.launch.warp)
        own = decode(self.pilot, self._cfg.warps)
        return named(m, "pilot_ends", self.profiling & (self.exits & own).any())

    def _advance(self, m: Module, ends: Value) -> None:
        """The next state; a kernel that is taken comes before everything else."""
        fast, names = self._cfg.fast_registers, self._cfg.register_names
        step = Signal(range(max(fast, names)), name="step")
        after_load = State.PROFILE if self._cfg.piloted else State.RUN
        last = named(m, "last_turn", step == fast - 1)
        with m.If((self.state == State.LOAD) | (self.state == State.SORT) | (self.state == State.REMAP)):
            m.d.sync += step.eq(step + 1)
        scans = self._scans(m)
        m.d.comb += self.scan.eq(step)
        with m.If(self.state == State.LOAD):
            self._turns(m, self.loading, step)
            with m.If(last):
                m.d.sync += self.state.eq(after_load)
        if self._cfg.piloted:
            self._learn(m, ends, step, last, scans)
        with m.If(self.taken):
            m.d.sync += [self.state.eq(State.LOAD), step.eq(0), self.current.eq(0)]

    def _scans(self, m: Module) -> Value:
        """How many counters the kernel uses."""
        counters, registers = self._cfg.register_names - 1, self.kernel.registers
        held = Signal(range(counters + 1), name="kernel_registers", reset_less=True)
        with m.If(self.taken):
            m.d.sync += held.eq(Mux(registers > counters, counters, registers))
        return held

    def _learn(self, m: Module, ends: Value, step: Signal, last: Value, scans: Value) -> None:
        """States that only a pilot leads to."""
        with m.If(self.profiling):
            m.d.sync += step.eq(0)
            with m.If(ends):
                m.d.sync += self.state.eq(State.SORT)
        sorts = self.state == State.SORT
        over = named(m, "sorted", sorts & (step + 1 == scans))
        with m.If(over):
            m.d.sync += [self.state.eq(State.DRAIN if self._cfg.migrates else State.REMAP), step.eq(0)]
        if self._cfg.checks_map:
            self._check_map(m, sorts, over)
        with m.If(self.state == State.REMAP):
            self._turns(m, self.remapping, step)
            with m.If(last):
                m.d.sync += [self.state.eq(State.MOVE if self._cfg.migrates else State.RUN), self.current.eq(1)]
        if self._cfg.migrates:
            self._migrate(m)

    def _check_map(self, m: Module, sorts: Value, over: Value) -> None:
        """The pilot's map is not taken if the pilot never accessed some register of the kernel's list."""
        listed = Cat(place.valid & (place.register == self.scan) for place in self.hot)
        missed = Signal(name="missed")
        misses = named(m, "misses", missed | (sorts & self.unused & listed.any()))
        m.d.sync += missed.eq(misses & ~self.taken)
        m.d.comb += self.keeps.eq(over & misses & ~self.taken)
        with m.If(self.keeps):
            m.d.sync += self.state.eq(State.RUN)

    def _migrate(self, m: Module) -> None:
        """Before REMAP old pairs are undone, behind it new ones are applied."""
        m.d.comb += [
            self.moving.eq(self.state == State.MOVE),
            self.undone.eq(self.moving & self.moved & ~self.current),
            self.held.eq(self.moving | (self.state == State.DRAIN) | (self.state == State.REMAP)),
        ]
        with m.If((self.state == State.DRAIN) & self.drained):
            m.d.sync += self.state.eq(State.MOVE)
        with m.If(self.moving & self.moved):
            m.d.sync += self.state.eq(Mux(self.current, State.RUN, State.REMAP))

    def _turns(self, m: Module, turns: Value, step: Value) -> None:
        m.d.comb += turns.eq(decode(step, len(turns)))

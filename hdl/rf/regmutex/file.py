"""Banks in which warps borrow places for their extended registers (docs/schemes/regmutex.md)."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib.wiring import Out

from warpfile.hdl.beat import is_pseudo
from warpfile.hdl.naming import named
from warpfile.hdl.rf.kernel import join_kernel
from warpfile.hdl.rf.plain import PlainFile
from warpfile.hdl.rf.regmutex.kernel_state import KernelState
from warpfile.hdl.rf.regmutex.location import RegMutexLocation
from warpfile.hdl.rf.regmutex.sections import ProvenPairs, Sections, sharing
from warpfile.spec.schemes.regmutex import RegMutexConfig, regmutex_probes
from warpfile.spec.trace import Drain, Kind


class RegMutexFile(PlainFile):
    """A plain file whose extended places go with the sections.

    Ports: :func:`hdl.rf.contract.file_members`, and the probes of :func:`spec.schemes.regmutex.regmutex_probes`.
    """

    def __init__(self, cfg: RegMutexConfig) -> None:
        self._cfg = cfg
        self._places = RegMutexLocation(cfg)
        super().__init__(cfg, self._places, {probe.name: Out(probe.width) for probe in regmutex_probes(cfg)})

    def elaborate(self, platform) -> Module:
        """The plain file, the kernel's state, who has a section, and what is observed of it."""
        m = super().elaborate(platform)
        m.submodules.kernel_state = kernel = KernelState(self._cfg)
        m.submodules.sections = sections = sharing(self._cfg)
        join_kernel(m, self, kernel)
        self._heads(m, kernel, sections)
        self._place(m, kernel, sections)
        self._watch(m, kernel, sections)
        self._observe(m, kernel, sections)
        return m

    def _heads(self, m: Module, kernel: KernelState, sections: Sections) -> None:
        """Which head beats are ACQs and RELs, and what becomes of them."""
        for name, drain in (("acquiring", Drain.NONE), ("releasing", Drain.DISPATCHED)):
            wanted = Cat(is_pseudo(head) & (head.drain == drain.value) for head in self.heads)
            m.d.comb += getattr(sections, name).eq(self.buffered & wanted)
        busy = Cat((pending & kernel.extended).any() for pending in self.pending)
        m.d.comb += [
            sections.offered.eq(self.offer_warp),
            sections.issues.eq(self._issues()),
            sections.refused.eq(self.refused),
            sections.ends.eq(self._issues() & (self.offer.kind == Kind.EXIT.value)),
            self.section_draining.eq(sections.releasing & sections.owned & busy),
            self.yields.eq(sections.waiting & sections.closed),
            self.hold.eq(self.yields | self.section_draining),
            self.refuses.eq(sections.refuses),
        ]

    def _issues(self) -> Value:
        return self.offer_valid & self.accept

    def _beyond(self, kernel: KernelState, register: Value) -> Value:
        """Whether a register is in the extended set."""
        return register >= kernel.base_registers

    def _place(self, m: Module, kernel: KernelState, sections: Sections) -> None:
        """Where the extended sets are."""
        places = self._places
        m.d.comb += [places.base_registers.eq(kernel.base_registers), places.present.eq(sections.owned)]
        if not self._cfg.paired:
            m.d.comb += [
                places.pool.eq(kernel.pool),
                places.extended_registers.eq(kernel.extended_registers),
                sections.start.eq(kernel.taken),
                sections.count.eq(self.kernel.sections),
                places.takes.eq(sections.takes),
                places.number.eq(sections.number),
            ]

    def _watch(self, m: Module, kernel: KernelState, sections: Sections) -> None:
        """Accesses without a section, and operands that belie the drain class of their beat."""
        beat, executes = self.offer, self._issues() & self.offer.executes
        beyond = Cat(self._beyond(kernel, register) for register in beat.sources)
        used = named(m, "sources", beat.source_valid & executes.replicate(self._cfg.source_slots))
        writes = executes & beat.dest_count.any() & (beat.dest + beat.dest_count > kernel.base_registers)
        outside = (self.offer_warp & ~self._places.present).any()
        acquires = Signal(reset_less=True)
        m.d.comb += [self.extended_source.eq(used & beyond), self.base_source.eq(used & ~beyond)]
        with m.If(outside & (self.extended_source.any() | writes)):
            m.d.sync += self.stray.eq(1)
        with m.If(self.operand_valid & (self.operand != acquires)):
            m.d.sync += self.stray.eq(1)
        m.d.sync += acquires.eq(beat.drain != Drain.DISPATCHED.value)

    def _observe(self, m: Module, kernel: KernelState, sections: Sections) -> None:
        """Sections, what happens to them, and which results are in which set."""
        stored = self.result_store & self.result_accept
        stored &= ~Cat(place.absent for place in self._places.result_places)
        beyond = Cat(self._beyond(kernel, result.register) for result in self.results)
        leaves = self.offer_warp & self._issues().replicate(self._cfg.warps)
        m.d.comb += [
            self.acquired.eq(sections.pairs if isinstance(sections, ProvenPairs) else sections.held),
            self.section_waiting.eq(sections.waiting),
            self.acquire_ok.eq(sections.takes.any()),
            self.acquire_again.eq((leaves & sections.acquiring & sections.held).any()),
            self.acquire_refused.eq(self.refused),
            self.release_ok.eq(sections.gives.any()),
            self.release_again.eq((leaves & sections.releasing & ~sections.owned).any()),
            self.extended_write.eq(stored & beyond),
            self.base_write.eq(stored & ~beyond),
        ]
        if not self._cfg.paired:
            width = self._cfg.warp_bits
            had = Cat(bit.replicate(width) for bit in sections.held)
            m.d.comb += [self.pool_taken.eq(sections.taken), self.sections_held.eq(sections.table.as_value() & had)]

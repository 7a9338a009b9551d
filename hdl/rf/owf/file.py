"""Banks in which two CTAs share a part of their registers (docs/schemes/owf.md)."""

from amaranth import Cat, Module, Value
from amaranth.lib import data
from amaranth.lib.wiring import Out

from warpfile.hdl.arbiter import any_of, decode
from warpfile.hdl.naming import named
from warpfile.hdl.rf.kernel import join_kernel
from warpfile.hdl.rf.owf.kernel_state import KernelState
from warpfile.hdl.rf.owf.location import OwfLocation
from warpfile.hdl.rf.owf.owners import Owners
from warpfile.hdl.rf.plain import PlainFile
from warpfile.spec.schemes.owf import OwfConfig, owner_probes


class OwfFile(PlainFile):
    """A plain file that holds a warp while warps of its partner's CTA own what they share.

    Ports: :func:`hdl.rf.contract.file_members`, and the probes of :func:`spec.schemes.owf.owner_probes`.
    """

    def __init__(self, cfg: OwfConfig) -> None:
        self._cfg = cfg
        self._places = OwfLocation(cfg)
        super().__init__(cfg, self._places, {probe.name: Out(probe.width) for probe in owner_probes(cfg)})

    def elaborate(self, platform) -> Module:
        """The plain file, the kernel's sizes, who owns what, and what is observed of it."""
        m = super().elaborate(platform)
        m.submodules.kernel_state = kernel = KernelState(self._cfg)
        m.submodules.ownership = owners = Owners(self._cfg)
        join_kernel(m, self, kernel)
        self._launch(m, kernel, owners)
        self._heads(m, kernel, owners)
        self._observe(m, kernel, owners)
        return m

    def _launch(self, m: Module, kernel: KernelState, owners: Owners) -> None:
        """Whether the warp that is launched has a partner decides where its shared registers are."""
        launched = decode(self.launch.warp, self._cfg.warps) & self.launch_valid.replicate(self._cfg.warps)
        partnered = named(m, "partnered", self.launch.warp < kernel.paired_warps)
        m.d.comb += [
            self._places.private_registers.eq(kernel.private_registers),
            self._places.partnered.eq(partnered),
            owners.launched.eq(launched),
            owners.cta.eq(self.launch.cta),
            owners.partnered.eq(partnered),
        ]

    def _heads(self, m: Module, kernel: KernelState, owners: Owners) -> None:
        """Which head beats name shared registers, and what becomes of them."""
        names = Cat(_names_shared(head, kernel.private_registers) for head in self.heads)
        m.d.comb += [
            owners.names_shared.eq(self.buffered & names),
            owners.issued.eq(self.offer_warp & self._issues().replicate(self._cfg.warps)),
            owners.exits.eq(self.exits),
            self.hold.eq(owners.hold),
            self.yields.eq(owners.hold),
        ]
        if self._cfg.gives.ranks:
            m.d.comb += [self.owners.eq(owners.owner), self.sharers.eq(owners.paired & ~owners.owner)]

    def _issues(self) -> Value:
        return self.offer_valid & self.accept

    def _observe(self, m: Module, kernel: KernelState, owners: Owners) -> None:
        """Owners, who waits for them, and which sources and results are in which set."""
        first, stored = kernel.private_registers, self.result_store & self.result_accept
        executes = self._issues() & self.offer.executes
        used = named(m, "sources", self.offer.source_valid & executes.replicate(self._cfg.source_slots))
        read = Cat(register >= first for register in self.offer.sources)
        written = Cat(result.register >= first for result in self.results)
        m.d.comb += [
            self.owns.eq(owners.owner),
            self.owner_waiting.eq(owners.hold),
            self.paired.eq(owners.paired),
            self.stray.eq(owners.stray),
            self.owner_taken.eq(owners.takes),
            self.shared_source.eq(used & read),
            self.private_source.eq(used & ~read),
            self.shared_write.eq(stored & written),
            self.private_write.eq(stored & ~written),
        ]


def _names_shared(head: data.View, private: Value) -> Value:
    """Whether a beat names a register from ``private`` on, whether or not it executes."""
    # Destinations are aligned, so that the last one has the bits of count - 1 set.
    last = head.dest | (head.dest_count - 1)[:2]
    sources = zip(head.source_valid, head.sources, strict=True)
    return any_of(valid & (register >= private) for valid, register in sources) | (
        head.dest_count.any() & (last >= private)
    )

"""RTL of the toy."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from warpfile.hdl.beat import is_pseudo
from warpfile.hdl.rf.banked.file import BankedFile
from warpfile.hdl.rf.contract import file_members
from warpfile.spec.config import Config

KERNEL_CYCLE = 3
PAUSE = "pause"  #: field of the kernel's start
OWN = ("started", "launch_ready", "kernel_ready", "quiet", "retired", "hold")


class ToyFile(wiring.Component):
    """A plain register file that takes its time."""

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__(file_members(cfg))

    def elaborate(self, platform) -> Module:
        """The plain file, and what is added to it."""
        m = Module()
        m.submodules.plain = plain = BankedFile(self._cfg)
        for name, member in file_members(self._cfg).items():
            inner, outer = getattr(plain, name), getattr(self, name)
            if member.flow is In:
                m.d.comb += inner.eq(outer)
            elif name not in OWN:
                m.d.comb += outer.eq(inner)
        self._start(m)
        held = Cat(self._held(m, warp) for warp in range(self._cfg.warps))
        leaving = Cat(self._sweep(m, warp) for warp in range(self._cfg.warps))
        m.d.comb += [self.hold.eq(held), self.quiet.eq(~held.any() & ~leaving.any())]
        return m

    def _start(self, m: Module) -> None:
        age, rest, self._pause = Signal(2), Signal(2), Signal(3)
        m.d.comb += [
            self.started.eq(age == KERNEL_CYCLE),
            self.kernel_ready.eq(self.started),
            self.launch_ready.eq(rest == 0),
        ]
        with m.If(age != KERNEL_CYCLE):
            m.d.sync += age.eq(age + 1)
        with m.If(self.launch_valid):
            m.d.sync += rest.eq(2)
        with m.Elif(rest != 0):
            m.d.sync += rest.eq(rest - 1)
        with m.If(self.kernel_valid & self.kernel_ready):
            m.d.sync += self._pause.eq(self.kernel[PAUSE])

    def _held(self, m: Module, warp: int) -> Signal:
        held, asked, left = Signal(name=f"held{warp}"), Signal(name=f"asked{warp}"), Signal(5, name=f"left{warp}")
        asks = self.offer_valid & self.accept & self.offer_warp[warp] & is_pseudo(self.offer)
        m.d.sync += asked.eq(asks)
        with m.If(asks):
            m.d.sync += held.eq(1)
        with m.Elif(asked & self.operand_valid):
            m.d.sync += [held.eq(self.operand != 0), left.eq(self.operand)]
        with m.Elif(held):
            m.d.sync += [held.eq(left != 1), left.eq(left - 1)]
        return held

    def _sweep(self, m: Module, warp: int) -> Signal:
        leaving, left = Signal(name=f"leaving{warp}"), Signal(3, name=f"sweep{warp}")
        m.d.comb += self.retired[warp].eq(leaving & (left == 0))
        with m.If(self.exits[warp]):
            m.d.sync += [leaving.eq(1), left.eq(self._pause)]
        with m.Elif(leaving):
            m.d.sync += [leaving.eq(left != 0), left.eq(left - 1)]
        return leaving

"""Which warp has a section, which waits for one, which is refused (docs/schemes/regmutex.md, sections 3 to 5)."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, decode, encode, select
from warpfile.hdl.naming import named
from warpfile.hdl.rf.regmutex.first_zero import FirstZero
from warpfile.hdl.rf.regmutex.waiters import Waiters
from warpfile.spec.schemes.regmutex import RegMutexConfig


class Sections(wiring.Component):
    """What all ways of sharing have in common: ACQ and REL at the head of the buffers, and what they do.

    All outputs but ``takes`` and ``gives`` depend on registered state and head beats alone.

    Members
    -------
    acquiring, releasing : In(warps)     The head beat is an ACQ, a REL.
    offered : In(warps), issues : In(1)   The warp that is chosen and not refused, one-hot; its head beat issues.
    ends : In(1)                         That beat is an EXIT.
    refused : In(warps)                  One-hot, the warp that is chosen and refused.
    held, owned : Out(warps)             Status: the warp has a section, as an ACQ sees it, and as a REL does.
    closed : Out(warps)                  There is none for this warp.
    waiting : Out(warps)                 Its ACQ was refused.
    refuses : Out(warps)                 Its ACQ would be.
    takes, gives : Out(warps)            One-hot: an ACQ takes a section, a REL gives one back, in this cycle.
    """

    def __init__(self, cfg: RegMutexConfig, **members: wiring.Member) -> None:
        self._cfg = cfg
        inputs = ("acquiring", "releasing", "offered", "refused")
        outputs = ("held", "owned", "closed", "waiting", "refuses", "takes", "gives")
        super().__init__(
            {
                **{name: In(cfg.warps) for name in inputs},
                **{name: In(1) for name in ("issues", "ends")},
                **{name: Out(cfg.warps) for name in outputs},
                **members,
            }
        )

    def elaborate(self, platform) -> Module:
        """Effects of the beat that issues, and the warps that wait."""
        m = Module()
        leaves = named(m, "leaves", self.offered & self.issues.replicate(self._cfg.warps))
        m.d.comb += [
            self.refuses.eq(self.acquiring & ~self.held & self.closed),
            self.takes.eq(leaves & self.acquiring & ~self.held),
            self.gives.eq(leaves & self.releasing & self.owned),
        ]
        m.d.sync += self.waiting.eq((self.waiting & ~self.takes) | self.refused)
        self._share(m)
        return m

    def _share(self, m: Module) -> None:
        """Drive ``held`` from registers, ``owned`` and ``closed``."""
        raise NotImplementedError


class Pool(Sections):
    """Sections for all warps. As in :class:`Sections`, and:

    Members
    -------
    start : In(1), count : In       A kernel begins; it has so many sections.
    taken : Out(warps)              The section is taken, or there is none of it.
    number : Out(warp_bits)         The section that an ACQ takes in this cycle.
    table : Out(ArrayLayout)        Which section the warp has, or had last.
    """

    def __init__(self, cfg: RegMutexConfig) -> None:
        super().__init__(
            cfg,
            start=In(1),
            count=In(dict(cfg.descriptor)["sections"]),
            taken=Out(cfg.warps, init=(1 << cfg.warps) - 1),
            number=Out(cfg.warp_bits),
            table=Out(data.ArrayLayout(cfg.warp_bits, cfg.warps)),
        )

    def _share(self, m: Module) -> None:
        m.submodules.first_zero = free = FirstZero(self._cfg.warps)
        none = named(m, "none", self.taken.all())
        closed = none.replicate(self._cfg.warps)
        m.d.comb += [
            free.bits.eq(self.taken),
            self.number.eq(free.number),
            self.owned.eq(self.held),
            self.closed.eq(closed | self._others_first(m) if self._cfg.fair else closed),
        ]
        exits = self.offered & self.ends.replicate(self._cfg.warps)
        m.d.sync += self.held.eq((self.held & ~self.gives & ~exits) | self.takes)
        self._keep(m)
        self._mask(m, free.lowest)

    def _keep(self, m: Module) -> None:
        """Which section each warp has."""
        for warp, number in enumerate(self.table):
            section = Signal(self._cfg.warp_bits, name=f"section{warp}", reset_less=True)
            with m.If(self.takes[warp]):
                m.d.sync += section.eq(self.number)
            m.d.comb += number.eq(section)

    def _mask(self, m: Module, lowest: Value) -> None:
        """Sections that are free. What is late, that the beat issues, comes last.

        Only bits of sections that there are become 0.
        """
        warps = self._cfg.warps
        number = named(m, "returned_number", select(self.offered, list(self.table)))
        asks = (self.offered & self.acquiring & ~self.held).any()
        gives = (self.offered & self.held & self.releasing).any()
        leaves = (self.offered & self.held).any() & self.ends
        taken = lowest & (asks & self.issues).replicate(warps)
        returned = decode(number, warps) & ((gives & self.issues) | leaves).replicate(warps)
        with m.If(self.start):
            m.d.sync += self.taken.eq(Cat(self.count <= section for section in range(warps)))
        with m.Else():
            m.d.sync += self.taken.eq((self.taken | taken) & ~returned)

    def _others_first(self, m: Module) -> Value:
        """Warps that are not first, if any warp waits."""
        m.submodules.waiters = waiters = Waiters(self._cfg)
        m.d.comb += [
            waiters.push.eq(self.refused.any()),
            waiters.warp.eq(encode(self.refused, self._cfg.warp_bits)),
            waiters.pop.eq((self.takes & self.waiting).any()),
        ]
        first = decode(waiters.first, self._cfg.warps)
        return named(m, "others_first", ~first & waiters.valid.replicate(self._cfg.warps))


class Pairs(Sections):
    """One section for each two neighbours, and a bit per warp that is set for its owner. As in :class:`Sections`."""

    def _share(self, m: Module) -> None:
        count = self._cfg.warps
        partners = [self.held[warp ^ 1] if warp ^ 1 < count else Const(0, 1) for warp in range(count)]
        m.d.comb += [self.owned.eq(self.held), self.closed.eq(Cat(partners))]
        exits = self.offered & self.ends.replicate(count)
        m.d.sync += self.held.eq((self.held & ~self.gives & ~exits) | self.takes)


class ProvenPairs(Sections):
    """One section for each two neighbours, and a bit that says whether one of them has it, for code that knows who.
    As in :class:`Sections`.

    Members
    -------
    pairs : Out     One of the two has the section.
    """

    def __init__(self, cfg: RegMutexConfig) -> None:
        super().__init__(cfg, pairs=Out((cfg.warps + 1) // 2))

    def _share(self, m: Module) -> None:
        """An ACQ comes from a warp that has no section, a REL from one that has it."""
        warps = range(self._cfg.warps)
        taken, given = (
            named(m, name, Cat(any_of(events[first : first + 2]) for first in warps[::2]))
            for name, events in (("taken", self.takes), ("given", self.gives))
        )
        m.d.sync += self.pairs.eq((self.pairs & ~given) | taken)
        m.d.comb += [
            self.owned.eq(Const(-1, len(warps))),
            self.closed.eq(Cat(self.pairs[warp // 2] for warp in warps)),
        ]


def sharing(cfg: RegMutexConfig) -> Sections:
    """The way of sharing of a configuration."""
    if not cfg.paired:
        return Pool(cfg)
    return Pairs(cfg) if cfg.pair_state == "warp" else ProvenPairs(cfg)

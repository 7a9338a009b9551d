"""Proof of the places: whatever the kernel's sizes, no two registers that are there share one."""

from amaranth import Module, Signal, Value
from amaranth.asserts import AnyConst
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tests.formal.properties import Miswired, Proof
from tests.formal.rf.regmutex.sections import SectionProperties, config
from warpfile.hdl.arbiter import decode
from warpfile.hdl.rf.regmutex.location import RegMutexLocation
from warpfile.hdl.rf.regmutex.sections import sharing

HEADS = ("acquiring", "releasing", "offered", "refused", "issues", "ends")
SIZES = ("base_registers", "extended_registers", "pool")


class Placed(wiring.Component):
    """Sections and locations as the file joins them, and two look-ups: those of results."""

    def __init__(self, cfg, location=RegMutexLocation):
        self._cfg = cfg
        self._sharing, self._location = sharing(cfg), location(cfg)
        members = self._sharing.signature.members
        inputs = (*HEADS, *(() if cfg.paired else ("start", "count")))
        outputs = ("held", "closed", "waiting", "refuses", "takes", *(() if cfg.paired else ("table",)))
        looked_up = {name: self._location.signature.members[name] for name in ("result_warps", "result_registers")}
        super().__init__(
            {
                **{name: members[name] for name in (*inputs, *outputs)},
                **looked_up,
                "launched": In(cfg.warps),
                **{name: In(cfg.place_bits) for name in SIZES},
                "result_places": Out(self._location.result_places.shape()),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.sections, m.submodules.location = sections, location = self._sharing, self._location
        for name, member in self.signature.members.items():
            if name in sections.signature.members:
                inner, outer = getattr(sections, name), getattr(self, name)
                m.d.comb += inner.eq(outer) if member.flow is In else outer.eq(inner)
        given = SIZES[:1] if self._cfg.paired else SIZES
        m.d.comb += [getattr(location, name).eq(getattr(self, name)) for name in given]
        m.d.comb += [
            location.present.eq(sections.owned),
            location.launch_valid.eq(self.launched.any()),
            location.result_warps.eq(self.result_warps),
            location.result_registers.eq(self.result_registers),
            self.result_places.eq(location.result_places),
        ]
        if not self._cfg.paired:
            m.d.comb += [location.takes.eq(sections.takes), location.number.eq(sections.number)]
        for warp in range(self._cfg.warps):
            with m.If(self.launched[warp]):
                m.d.comb += [location.launch.warp.eq(warp), location.launch.base.eq(base_of(self, self._cfg, warp))]
        return m


def base_of(part, cfg, warp: int) -> Value:
    """Base of a warp, as the page says."""
    if cfg.paired:
        return warp // 2 * (2 * part.base_registers + part.extended_registers) + warp % 2 * part.base_registers
    return warp * part.base_registers


class PlaceProperties(SectionProperties):
    """Any sizes that fit, any warps and registers; only warps that were launched have registers."""

    def _sound(self, m, part):
        cfg, places = self._cfg, self._cfg.banks * self._cfg.rows
        for name in SIZES:
            m.d.comb += Assume(getattr(part, name) == AnyConst(len(getattr(part, name))))
        self.launched, self.sections = Signal(cfg.warps), Signal(range(cfg.warps + 1))
        m.d.sync += self.launched.eq(self.launched | part.launched)
        end = base_of(part, cfg, cfg.warps + cfg.warps % 2 if cfg.paired else cfg.warps)
        m.d.comb += [
            Assume((part.launched & (part.launched - 1)[: cfg.warps]) == 0),
            Assume((part.launched & self.launched) == 0),
            Assume((part.offered & ~self.launched) == 0),
            Assume((part.base_registers != 0) & (part.base_registers + part.extended_registers <= cfg.register_names)),
            Assume(end <= (places if cfg.paired else part.pool)),
        ]
        if not cfg.paired:
            with m.If(part.start):
                m.d.sync += self.sections.eq(part.count)
            m.d.comb += [
                Assume(part.count <= cfg.warps),
                Assume(~part.start | ~(part.held | part.waiting | part.offered | part.refused).any()),
                Assume(part.pool + part.count * part.extended_registers <= places),
            ]
        self._looked_up(m, part)

    def _looked_up(self, m, part):
        cfg, found = self._cfg, []
        for port in (0, 1):
            warp, register = part.result_warps[port], part.result_registers[port]
            place = part.result_places[port].row * cfg.banks + part.result_places[port].bank
            mine = decode(warp, cfg.warps)
            beyond = register >= part.base_registers
            there = (mine & self.launched).any() & (~beyond | (mine & part.held).any())
            there &= register < part.base_registers + part.extended_registers
            found.append((warp, register, place, there, beyond))
        (warp, register, place, there, beyond), (other, name, second, also, far) = found
        both = there & also
        wide = sum((mine_base(part, cfg, number, warp) for number in range(cfg.warps)), start=register)
        m.d.comb += [
            Assert(
                ~both | (place != second) | ((warp == other) & (register == name)), "no two registers share a place"
            ),
            Assert(~there | beyond | (place == wide), "base sets are counted through"),
            Assert(~there | (part.result_places[0].absent == 0), "a register with a place is not absent"),
            Cover(both & beyond & far & (warp != other) & (part.extended_registers == 2), "two have extended sets")
            if not cfg.paired
            else Cover(
                both & beyond & far & (warp + 1 < other) & (part.extended_registers == 2), "two pairs have them"
            ),
        ]
        if not cfg.paired:
            m.d.comb += [
                Assert(~(there & beyond) | (place >= part.pool), "sections are behind the base sets"),
                Assert(~there | beyond | (place < part.pool), "which end before the pool"),
            ]

    def help(self, m, part, state):
        cfg = self._cfg
        mask = (1 << cfg.place_bits) - 1
        for warp in range(cfg.warps):
            base, known = state("location", f"base{warp}"), self.launched[warp]
            m.d.comb += Assert(~known | (base == base_of(part, cfg, warp)), "bases are kept")
            m.d.comb += Assert(~part.held[warp] | known, "who has a section was launched")
            if not cfg.paired:
                behind = part.pool + part.table[warp] * part.extended_registers - part.base_registers
                extended = state("location", f"extended{warp}")
                m.d.comb += [
                    Assert(~part.held[warp] | (extended == (behind & mask)), "extended bases are kept"),
                    Assert(~part.held[warp] | (part.table[warp] < self.sections), "of sections that there are"),
                    Assert(
                        ~part.held[warp] | state("sections", "taken").bit_select(part.table[warp], 1), "which are taken"
                    ),
                    *(
                        Assert(~(part.held[warp] & part.held[low]) | (part.table[warp] != part.table[low]), "by one")
                        for low in range(warp)
                    ),
                ]
            elif warp % 2 == 0:
                extended = state("location", f"extended{warp}")
                m.d.comb += Assert(
                    ~known | (extended == base_of(part, cfg, warp) + part.base_registers), "extended bases are kept"
                )
            if cfg.paired and warp % 2:
                m.d.comb += Assert(~(part.held[warp] & part.held[warp - 1]), "one of two")
        if not cfg.paired:
            taken = state("sections", "taken")
            m.d.comb += [
                Assert(self.sections <= cfg.warps, "sections are limited"),
                Assert(
                    part.pool + self.sections * part.extended_registers <= cfg.banks * cfg.rows, "sections are places"
                ),
                *(Assert((self.sections > k) | taken[k], "others are never free") for k in range(cfg.warps)),
            ]


def mine_base(part, cfg, number: int, warp: Value) -> Value:
    """Base of this warp, or 0."""
    return (base_of(part, cfg, number)[: cfg.place_bits + 2]) & (warp == number).replicate(cfg.place_bits + 2)


def proof(size: str, wrong: dict, **changes) -> Proof:
    """Proof of a way of sharing; ``wrong`` says per assertion which wires of the location are changed."""
    cfg = config(**changes)

    def broken(own):
        return lambda one: Miswired(RegMutexLocation(one), **own)

    return Proof(
        "hdl.rf.regmutex.location",
        size,
        lambda: PlaceProperties(Placed(cfg), cfg),
        {
            text: lambda own=own: PlaceProperties(Placed(cfg, broken(own)), cfg, helped=False)
            for text, own in wrong.items()
        },
        reach=8,
    )


PROOFS = (
    proof(
        "3 warps, 16 places",
        {
            "no two registers share a place": {"number": lambda value: value & 0},
            "sections are behind the base sets": {"pool": lambda value: value - 1},
            "base sets are counted through": {"launch_valid": lambda value: value & 0},
            "a register with a place is not absent": {"present": lambda value: value & ~1},
        },
    ),
    proof(
        "4 warps in pairs, 16 places",
        {"no two registers share a place": {"base_registers": lambda value: value - 1}},
        sharing="pairs",
        warps=4,
    ),
)

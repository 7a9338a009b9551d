"""Proof of the places where bank and row are no bits of them: those of the page, of every base and register."""

from amaranth import Cat, Const, Module
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tests.formal.properties import Miswired, Proof, Properties
from warpfile.hdl.rf.digits import of_place
from warpfile.hdl.rf.layouts import location_layout, offered_layout
from warpfile.hdl.rf.location import look_up, look_up_offered, start_of
from warpfile.spec.config import Config

CFG = Config(warps=2, lanes=2, rows=16, register_names=16)


class LookedUp(wiring.Component):
    """A place that is divided, and what a source and a result find with it. Any number of a warp modulo banks."""

    def __init__(self, cfg):
        self._cfg = cfg
        super().__init__(
            {
                "base": In(cfg.place_bits),
                "number": In(cfg.bank_bits),
                "register": In(cfg.register_bits),
                "source": Out(offered_layout(cfg)),
                "result": Out(location_layout(cfg)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        base = of_place(m, self._cfg, self.base)
        start = start_of(m, self._cfg, base, self.number)
        look_up_offered(m, self._cfg, base, start, self.register, self.source)
        look_up(m, self._cfg, base, start, self.register, self.result)
        return m


class PlaceProperties(Properties):
    """Row and bank are multiplied back: nothing is divided here."""

    def __init__(self, part, cfg, *, helped=True):
        super().__init__(part, helped=helped)
        self._cfg = cfg

    def check(self, m, part):
        banks, rows = self._cfg.banks, self._cfg.rows
        place, row = part.base + part.register, part.result.row
        shift = {"none": Const(0), "warp": part.number, "row": row}[self._cfg.bank_skew]
        column = place - row * banks
        turns = range((rows + banks) // banks + 1)
        rotated = Cat(column + shift == part.result.bank + banks * turn for turn in turns)
        added = (part.source.base + part.source.offset + part.source.carry)[: self._cfg.row_bits]
        m.d.comb += [
            Assume(place < banks * rows),
            Assume(part.number < banks),
            Assert((column >= 0) & (column < banks), "the row is that of the place"),
            Assert((part.result.bank < banks) & rotated.any(), "the bank is that of the place, rotated by the skew"),
            Assert((part.source.bank == part.result.bank) & (added == row), "a source is where a result is"),
            Cover((row == rows - 1) & (part.base < banks * (rows - 2)), "a register is rows behind its base"),
        ]


def _proof(wrong, **changes):
    cfg = CFG.replace(**changes)

    def broken(change):
        return lambda: PlaceProperties(Miswired(LookedUp(cfg), **change), cfg, helped=False)

    return Proof(
        "hdl.rf.location",
        f"{cfg.banks} banks, {cfg.register_names} names, skew {cfg.bank_skew}",
        lambda: PlaceProperties(LookedUp(cfg), cfg),
        {message: broken(change) for message, change in wrong.items()},
        reach=2,
    )


_BESIDE = {"the row is that of the place": {"register": lambda register: register ^ 8}}
_UNSKEWED = {"the bank is that of the place, rotated by the skew": {"number": lambda number: Const(0)}}
_UNCARRIED = {"a source is where a result is": {"source": lambda source: source & ~(1 << len(source) - 4)}}

PROOFS = (
    _proof(_BESIDE, banks=3, bank_skew="none"),
    _proof(_BESIDE | _UNSKEWED, banks=6, bank_skew="warp"),
    _proof(_UNCARRIED, banks=6, bank_skew="row"),
    _proof(_BESIDE, banks=12, bank_skew="row", register_names=64, rows=8),
    _proof(_UNSKEWED, banks=4, bank_skew="warp"),
)

"""Proofs of the whole file: which client reaches which memory. Units read only the cache; no client blocks another."""

import contextlib
from unittest import mock

from amaranth import Cat, Module
from amaranth.hdl import Assert, Cover
from amaranth.lib import wiring

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Proof, past
from tests.formal.rf.ltrf.parts import config
from warpfile.hdl.rams.bank import BankRam
from warpfile.hdl.rams.table import TableRam
from warpfile.hdl.rf import read_side
from warpfile.hdl.rf.ltrf import cache, main_banks, places, sets, transfers
from warpfile.hdl.rf.ltrf.file import PrefetchedFile
from warpfile.spec.schemes.ltrf import BACK_LOAD

_STAMPED = (cache, main_banks, places, sets, transfers, read_side)


class Pins(BankRam):
    """The ports of an SRAM without an SRAM behind them."""

    def elaborate(self, platform) -> Module:
        """Nothing."""
        return Module()


class TablePins(TableRam):
    """Likewise of a table."""

    def elaborate(self, platform) -> Module:
        """Nothing."""
        return Module()


class WayProperties(ConfiguredProperties):
    """Any inputs, also such as no frame and no collectors would give."""

    def elaborate(self, platform):
        """The file is elaborated as one tree around bare pins, and its parts are kept by their modules."""
        self._parts: dict[str, list[wiring.Component]] = {}

        def inside(m, name, module, build, **_):
            m.submodules[name] = part = build()
            self._parts.setdefault(module, []).append(part)
            return part

        with contextlib.ExitStack() as stack:
            for module in _STAMPED:
                stack.enter_context(mock.patch.object(module, "stamp", inside))
            for module in (cache, main_banks):
                stack.enter_context(mock.patch.object(module, "BankRam", Pins))
            stack.enter_context(mock.patch.object(sets, "TableRam", TablePins))
            return super().elaborate(platform)

    def check(self, m, part):
        mains = self._parts["main_bank"]
        for number, (bank, side) in enumerate(zip(mains, self._parts["main_side"], strict=True)):
            granted = past(m, side.fill_grant.any(), f"granted{number}")
            written = past(m, part.main_write[number], f"written{number}")
            m.d.comb += [
                Assert(bank.read == granted, "a main bank is read for fills only"),
                Assert(bank.write == written, "it is written when its latch goes to it"),
                Cover(bank.write, f"main bank {number} is written"),
                Cover(bank.read, f"main bank {number} is read"),
            ]
        m.d.comb += Assert(part.fill == past(m, part.grant, "grant"), "units get what they read in the cache")
        sides = zip(self._parts["cache_bank"], self._parts["cache_side"], strict=True)
        for number, (bank, side) in enumerate(sides):
            self._cache(m, part, number, bank, side)

    def _cache(self, m, part, number, bank, side) -> None:
        """One bank of the cache with its fills and write-backs."""
        units = (part.grant & Cat(place.bank == number for place in part.request_places)).any()
        reads, stores = part.channel_read[number], past(m, side.fill_last, f"last{number}")
        m.d.comb += [
            Assert(units == bank.chosen.any(), "a unit that is served reads the cache"),
            Assert(bank.store == stores, "a fill writes its row behind its last beat"),
            Assert(~reads | (side.back_phase == BACK_LOAD), "a write-back reads its bank when it loads"),
            Assert(~(bank.store & bank.accept.any()), "a result or a fill writes a bank"),
            Assert(~(reads & units), "a unit or a write-back reads it"),
        ]


class Short(PrefetchedFile):
    """Units reach the main banks."""

    def _move(self, m, transfers, cache, parked, main):
        super()._move(m, transfers, cache, parked, main)
        m.d.comb += main.read.eq(transfers.read | self.requests.any())


class Loud(PrefetchedFile):
    """Fills write the cache all the time."""

    def _move(self, m, transfers, cache, parked, main):
        super()._move(m, transfers, cache, parked, main)
        m.d.comb += cache.store.eq(~(transfers.stores & 0))


class Early(PrefetchedFile):
    """Write-backs ask the cache all the time."""

    def _move(self, m, transfers, cache, parked, main):
        super()._move(m, transfers, cache, parked, main)
        m.d.comb += cache.load.eq(~(transfers.reads & 0))


def _properties(part: type[PrefetchedFile]) -> WayProperties:
    cfg = config()
    return WayProperties(part(cfg), cfg)


PROOFS = (
    Proof(
        "hdl.rf.ltrf.file",
        "4 banks in front of 2",
        lambda: _properties(PrefetchedFile),
        {
            "a main bank is read for fills only": lambda: _properties(Short),
            "a fill writes its row behind its last beat": lambda: _properties(Loud),
            "a write-back reads its bank when it loads": lambda: _properties(Early),
        },
        reach=11,
    ),
)

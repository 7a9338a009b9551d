"""Proofs of the whole file: who reaches which memory. Units read the cache alone, and nobody gets in another's way."""

import contextlib
from unittest import mock

from amaranth import Cat, Module
from amaranth.hdl import Assert, Cover
from amaranth.lib import wiring

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Proof, at_most_one, past
from tests.formal.rf.ltrf.parts import config
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.rf import read_side
from warpfile.hdl.rf.ltrf import around, cache, common, main_banks, places, sets, transfers
from warpfile.hdl.rf.ltrf.file import PrefetchedFile
from warpfile.hdl.rf.ltrf.parked import ParkedResults
from warpfile.hdl.rf.ram import BankRam, TableRam
from warpfile.spec.schemes.ltrf import IDLE, LOAD, STORE

_STAMPED = (cache, common, main_banks, places, sets, transfers, read_side)


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
        self._parts: dict[str, list[wiring.Component]] = {"parked": []}

        def inside(m, name, module, build, **_):
            m.submodules[name] = part = build()
            self._parts.setdefault(module, []).append(part)
            return part

        def parked(cfg):
            self._parts["parked"].append(ParkedResults(cfg))
            return self._parts["parked"][0]

        with contextlib.ExitStack() as stack:
            for module in _STAMPED:
                stack.enter_context(mock.patch.object(module, "stamp", inside))
            for module in (cache, main_banks):
                stack.enter_context(mock.patch.object(module, "BankRam", Pins))
            stack.enter_context(mock.patch.object(sets, "TableRam", TablePins))
            stack.enter_context(mock.patch.object(around, "ParkedResults", parked))
            return super().elaborate(platform)

    def check(self, m, part):
        channels, (parked,) = self._parts["channel"], self._parts["parked"]
        for number, bank in enumerate(self._parts["main_bank"]):
            begins = any_of(channel.main_read & channel.main_used[number] for channel in channels)
            saves = any_of(channel.beat.any() & ~channel.fills & channel.main_used[number] for channel in channels)
            users = Cat(*(channel.main_used[number] for channel in channels), parked.main_used[number])
            m.d.comb += [
                Assert(bank.read == begins, "a main bank is read for a fill, for nobody else"),
                Assert(
                    bank.write == (saves | parked.main_used[number]),
                    "it is written for a write-back or a parked result",
                ),
                Assert(at_most_one(users), "a main bank has one user"),
                Cover(bank.write & parked.main_used[number], f"main bank {number} takes a parked result"),
                Cover(bank.read, f"main bank {number} is read"),
            ]
        granted = past(m, part.grant, "grant")
        m.d.comb += Assert(part.fill == granted, "units get what they read in the cache a cycle before")
        for number, (bank, channel) in enumerate(zip(self._parts["cache_bank"], channels, strict=True)):
            self._cache(m, part, number, bank, channel)

    def _cache(self, m, part, number, bank, channel) -> None:
        """One bank of the cache and its channel."""
        units = (part.grant & Cat(place.bank == number for place in part.request_places)).any()
        writes, reads = part.channel_write[number], part.channel_read[number]
        m.d.comb += [
            Assert(units == bank.chosen.any(), "a unit that is served reads the cache"),
            Assert(~writes | (channel.phase == STORE), "a channel writes its bank when it stores"),
            Assert(~reads | (channel.phase == LOAD), "a channel reads its bank when it loads"),
            Assert((channel.phase != IDLE) | ~(writes | reads), "an idle channel neither reads nor writes its bank"),
            Assert(~(writes & bank.accept.any()), "a result or the channel writes a bank"),
            Assert(~(reads & units), "a unit or the channel reads it"),
        ]


class Short(PrefetchedFile):
    """Units reach the main banks."""

    def _move(self, m, transfers, cache, parked, main):
        super()._move(m, transfers, cache, parked, main)
        m.d.comb += main.main_read.eq(transfers.main_read | self.requests.any())


class Blind(PrefetchedFile):
    """Transfers do not see a parked result that starts."""

    def _transfer(self, m, places, transfers, parked):
        super()._transfer(m, places, transfers, parked)
        m.d.comb += transfers.parking.eq(0)


class Loud(PrefetchedFile):
    """Channels ask the cache all the time."""

    def _move(self, m, transfers, cache, parked, main):
        super()._move(m, transfers, cache, parked, main)
        m.d.comb += cache.store.eq(~(transfers.writes & 0))


def _properties(part: type[PrefetchedFile]) -> WayProperties:
    cfg = config()
    return WayProperties(part(cfg), cfg)


PROOFS = (
    Proof(
        "hdl.rf.ltrf.file",
        "4 banks in front of 2",
        lambda: _properties(PrefetchedFile),
        {
            "a main bank is read for a fill, for nobody else": lambda: _properties(Short),
            "a main bank has one user": lambda: _properties(Blind),
            "a channel writes its bank when it stores": lambda: _properties(Loud),
        },
        reach=11,
    ),
)

"""What the tests of the packed file's parts have in common."""

from __future__ import annotations

from collections.abc import Callable

from amaranth import Module
from amaranth.lib import memory
from amaranth.sim import Simulator

from tests.hdl.unstamped import inside
from warpfile.hdl.rams.bank import BankRam
from warpfile.hdl.rams.slices import SlicedRam
from warpfile.hdl.rams.table import RenamingRam
from warpfile.hdl.renaming import bank, banks, join, table
from warpfile.hdl.rf import read_side
from warpfile.hdl.rf.packed import allocation, file, free_bank
from warpfile.schemes import find
from warpfile.spec.schemes.packed import PackedConfig

STAMPED = (allocation, banks, file, free_bank, join, read_side, table)


def config(scheme: str, **changes: object) -> PackedConfig:
    """A scheme at the small preset, with few rows, lanes and registers, unless changed."""
    small: dict[str, object] = {"lanes": 2, "rows": 8, "collectors": 1, "register_names": 8, "warps": 2}
    return find(scheme).configuration("tiny", **small | changes)


def run(part, bench: Callable, *, clocked: bool = True) -> None:
    """Simulate a part."""
    simulator = Simulator(part)
    if clocked:
        simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


class SimulatedBank(BankRam):
    """The SRAM of a bank as the simulator knows it."""

    def elaborate(self, platform):
        m = Module()
        m.submodules.rows = rows = memory.Memory(shape=self._cfg.data_bits, depth=self._cfg.rows, init=[])
        write, read = rows.write_port(granularity=32), rows.read_port()
        m.d.comb += [write.en.eq(self.mask & self.write.replicate(self._cfg.lanes)), write.data.eq(self.write_data)]
        m.d.comb += [write.addr.eq(self.write_row), read.addr.eq(self.read_row), read.en.eq(self.read)]
        m.d.comb += self.read_data.eq(read.data)
        return m


class SimulatedSlices(SlicedRam):
    """Likewise of a bank of slices: each slice is a memory."""

    def elaborate(self, platform):
        m = Module()
        lanes = range(self._cfg.lanes)
        for at in range(4):
            m.submodules[f"plane{at}"] = rows = memory.Memory(shape=8 * len(lanes), depth=self._cfg.rows, init=[])
            write, read = rows.write_port(granularity=8), rows.read_port()
            address = self.rows[at % len(self.rows)]
            m.d.comb += [write.addr.eq(address), read.addr.eq(address), read.en.eq(self.enable & ~self.write)]
            for lane in lanes:
                byte = slice(32 * lane + 8 * at, 32 * lane + 8 * at + 8)
                m.d.comb += [
                    write.en[lane].eq(self.enable & self.write & self.mask[4 * lane + at]),
                    write.data.word_select(lane, 8).eq(self.write_data[byte]),
                    self.read_data[byte].eq(read.data.word_select(lane, 8)),
                ]
        return m


class SimulatedTable(RenamingRam):
    """Likewise of a memory of the renaming table. A read that must not be used gives ones."""

    def elaborate(self, platform):
        m = Module()
        m.submodules.rows = rows = memory.Memory(
            shape=self._bits, depth=self._rows, init=[(1 << self._bits) - 1] * self._rows
        )
        for port in range(2):
            write, read = rows.write_port(), rows.read_port()
            m.d.comb += [
                write.en.eq(self.enable[port] & self.write[port]),
                write.addr.eq(self.rows[port]),
                write.data.eq(self.write_data[port]),
                read.en.eq(1),
                read.addr.eq(self.rows[port]),
                self.read_data[port].eq(read.data),
            ]
        return m


def whole(monkeypatch) -> None:
    """The file is one tree, which the simulator can run."""
    monkeypatch.setattr(bank, "BankRam", SimulatedBank)
    monkeypatch.setattr(bank, "SlicedRam", SimulatedSlices)
    monkeypatch.setattr(table, "RenamingRam", SimulatedTable)
    for module in STAMPED:
        monkeypatch.setattr(module, "stamp", inside)


def size_of(value: int) -> int:
    """Least number of bytes of which a word is the sign extension."""
    signed = value - (1 << 32) if value >> 31 else value
    return next(size for size in range(1, 5) if -(1 << 8 * size - 1) <= signed < 1 << 8 * size - 1)


def unpack(word: int, mask: int) -> int:
    """The value that is in some slices of a lane's word."""
    if not mask:
        return 0
    anchor, size = (mask & -mask).bit_length() - 1, mask.bit_count()
    value = word >> 8 * anchor & (1 << 8 * size) - 1
    return value | ((1 << 32) - (1 << 8 * size) if value >> 8 * size - 1 else 0)

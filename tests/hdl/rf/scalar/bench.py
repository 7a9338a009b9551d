"""What the tests of scalar registers have in common."""

from amaranth import Module
from amaranth.lib import memory

from tests.hdl.rf.packed.bench import SimulatedBank
from tests.hdl.unstamped import inside
from warpfile.hdl.rams.word import WordRam
from warpfile.hdl.rf import bank, banks, read_side
from warpfile.hdl.rf.scalar import banks as scalar_banks
from warpfile.hdl.rf.scalar import file, registers
from warpfile.schemes import find
from warpfile.spec.schemes.scalar import ScalarConfig

STAMPED = (banks, read_side, scalar_banks, file, registers)


def config(machine: str = "scalar", **changes: object) -> ScalarConfig:
    """The small machine with two warps of eight registers, four lanes and one unit that any bank may fill."""
    small: dict[str, object] = {"warps": 2, "register_names": 8, "lanes": 4, "rows": 8, "collectors": 1}
    found = find(machine).configuration("tiny", **small | {"collect": "all", "bank_skew": "none"} | changes)
    assert isinstance(found, ScalarConfig)
    return found


class SimulatedWords(WordRam):
    """The SRAM of a bank of words as the simulator knows it."""

    def elaborate(self, platform):
        m = Module()
        m.submodules.rows = rows = memory.Memory(shape=32, depth=self._cfg.rows, init=[])
        write, read = rows.write_port(), rows.read_port()
        m.d.comb += [write.en.eq(self.write), write.addr.eq(self.write_row), write.data.eq(self.write_data)]
        m.d.comb += [read.addr.eq(self.read_row), read.en.eq(self.read), self.read_data.eq(read.data)]
        return m


def whole(monkeypatch) -> None:
    """The file is one tree, which the simulator can run."""
    monkeypatch.setattr(bank, "BankRam", SimulatedBank)
    monkeypatch.setattr(bank, "WordRam", SimulatedWords)
    for module in STAMPED:
        monkeypatch.setattr(module, "stamp", inside)

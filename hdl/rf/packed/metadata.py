"""The compiler's metadata of the kernel's registers (docs/schemes/corf.md, section 6, "Metadata")."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, decode, select
from warpfile.hdl.clock_gate import take
from warpfile.hdl.naming import named
from warpfile.spec.schemes.packed import CHUNK, PAIRS, PackedConfig


def _members(cfg: PackedConfig) -> dict[str, wiring.Member]:
    registers = data.ArrayLayout(cfg.register_bits, cfg.write_ports)
    return {"clear": In(1), "told": In(1), "operand": In(cfg.operand_bits), "registers": In(registers)}


class PairTable(wiring.Component):
    """The partner of every register that has one; as flip-flops.

    Members
    -------
    clear : In(1)                No register has a partner from the next cycle on.
    told : In(1), operand : In(operand_bits)   Four pairs, which count from the next cycle on.
    registers : In(ArrayLayout)  Of the results in X.
    paired : Out(write_ports), partners : Out(ArrayLayout)   They have a partner, and which.
    """

    def __init__(self, cfg: PackedConfig) -> None:
        self._cfg = cfg
        partners = data.ArrayLayout(cfg.register_bits, cfg.write_ports)
        super().__init__({**_members(cfg), "paired": Out(cfg.write_ports), "partners": Out(partners)})

    def elaborate(self, platform) -> Module:
        """An entry per register; of two pairs that name it the later one counts."""
        m = Module()
        bits, names = self._cfg.register_bits, self._cfg.register_names
        ends = [self.operand.word_select(number, bits) for number in range(2 * PAIRS)]
        hits = []
        for one, other in zip(ends[::2], ends[1::2], strict=True):
            differ = named(m, "differ", self.told & (one != other)).replicate(names)
            hits += [(named(m, "named", decode(own, names) & differ), far) for own, far in ((one, other), (other, one))]
        paired = Signal(names)
        m.d.sync += paired.eq((paired | any_of(hit for hit, _ in hits)) & ~self.clear.replicate(names))
        table = [Signal(bits, name=f"partner{name}", reset_less=True) for name in range(names)]
        for name, partner in enumerate(table):
            writes = ((hit[name], [far]) for hit, far in hits)
            take(m, self._cfg, partner.name, [partner], *writes, last_counts=True)
        for port, register in enumerate(self.registers):
            chosen = named(m, f"result{port}", decode(register, names))
            m.d.comb += [self.paired[port].eq((chosen & paired).any()), self.partners[port].eq(select(chosen, table))]
        return m


class SideTable(wiring.Component):
    """The side of every register; as flip-flops.

    Members
    -------
    clear : In(1)                No register has a side from the next cycle on.
    told : In(1), operand : In(operand_bits)   Sides of some registers, which count from the next cycle on.
    registers : In(ArrayLayout)  Of the results in X.
    sides : Out(ArrayLayout)     Their sides.
    """

    def __init__(self, cfg: PackedConfig) -> None:
        self._cfg = cfg
        super().__init__({**_members(cfg), "sides": Out(data.ArrayLayout(2, cfg.write_ports))})

    def elaborate(self, platform) -> Module:
        """Two bits per register."""
        m = Module()
        chunk, names = self.operand[2 * CHUNK :], self._cfg.register_names
        table = [Signal(2, name=f"side{name}") for name in range(names)]
        for name, side in enumerate(table):
            with m.If(self.told & (chunk == name // CHUNK)):
                m.d.sync += side.eq(self.operand.word_select(name % CHUNK, 2))
            with m.If(self.clear):
                m.d.sync += side.eq(0)
        for port, register in enumerate(self.registers):
            chosen = named(m, f"result{port}", decode(register, names))
            m.d.comb += self.sides[port].eq(select(chosen, table))
        return m

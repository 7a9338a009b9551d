"""One register bank with a write port and some read ports."""

from amaranth import ClockSignal, Instance, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import lowest_one, select
from warpfile.hdl.rams.bank import BankRam
from warpfile.hdl.stamp import note_module
from warpfile.spec.schemes.ported import PortedConfig
from warpfile.spec.structure import BANK_RAM

_RULES = """\
// A row may be read and written in one cycle. Of such a read the machine uses the lanes that the write does not change:
// a macro must give these, and may answer with anything in the others; this model gives the old row.
"""
_RAM = """\
// One register bank: {rows} rows of {lanes} lanes x 32 bits, {ports} read ports and one write port.
// A write changes the lanes in mask; contents are not reset. Inputs count at the rising edge that ends their cycle.
// A read enabled in cycle t is used in cycle t + 1 only. Every cycle may have an access of each port.
{rules}module {name} (
  input                 clk,
{declarations}  input                 write_enable,
  input  [{row}:0]  write_address,
  input  [{lane}:0]  mask,        // lanes that a write changes
  input  [{data}:0]  write_data
);
  reg [{data}:0] rows [0:{last}];
  integer lane;
  always @(posedge clk) begin
{body}    if (write_enable)
      for (lane = 0; lane < {lanes}; lane = lane + 1)
        if (mask[lane]) rows[write_address][lane*32 +: 32] <= write_data[lane*32 +: 32];
  end
endmodule
"""
_PORT = """\
  input                 read_enable{port},
  input  [{row}:0]  read_address{port},
  output reg [{data}:0]  read_data{port},   // of the last read
"""
_READ = "    if (read_enable{port}) read_data{port} <= rows[read_address{port}];\n"


def ram_verilog(cfg: PortedConfig) -> str:
    """Verilog-2005 of the SRAM of a bank with several read ports, as a behavioural model."""
    sizes = {"row": cfg.row_bits - 1, "lane": cfg.lanes - 1, "data": cfg.data_bits - 1, "last": cfg.rows - 1}
    ports = range(cfg.read_ports)
    return _RAM.format(
        name=BANK_RAM,
        rows=cfg.rows,
        lanes=cfg.lanes,
        ports=cfg.read_ports,
        rules=_RULES,
        declarations="".join(_PORT.format(port=port, **sizes) for port in ports),
        body="".join(_READ.format(port=port) for port in ports),
        **sizes,
    )


class PortedRam(wiring.Component):
    """SRAM of a bank with several read ports.

    Members
    -------
    reads : In(read_ports), read_rows : In(ArrayLayout), read_data : Out(ArrayLayout)   One cycle after the read.
    write : In(1), write_row : In(row_bits), mask : In(lanes), write_data : In(data_bits)   Lanes in ``mask`` change.
    """

    def __init__(self, cfg: PortedConfig) -> None:
        self._cfg = cfg
        super().__init__({**read_port_members(cfg), **write_port_members(cfg)})

    def elaborate(self, platform) -> Module:
        """The bank's usual SRAM, or for several read ports the module whose text :func:`ram_verilog` gives."""
        m = Module()
        if self._cfg.read_ports == 1:
            m.submodules.ram = ram = BankRam(self._cfg, rules=_RULES)
            same = ("write", "write_row", "mask", "write_data")
            m.d.comb += [getattr(ram, name).eq(getattr(self, name)) for name in same]
            m.d.comb += [ram.read.eq(self.reads), ram.read_row.eq(self.read_rows[0])]
            m.d.comb += self.read_data[0].eq(ram.read_data)
            return m
        note_module(BANK_RAM, ram_verilog(self._cfg))
        reading = {}
        for port in range(self._cfg.read_ports):
            reading[f"i_read_enable{port}"] = self.reads[port]
            reading[f"i_read_address{port}"] = self.read_rows[port]
            reading[f"o_read_data{port}"] = self.read_data[port]
        m.submodules.ram = Instance(
            BANK_RAM,
            i_clk=ClockSignal(),
            i_write_enable=self.write,
            i_write_address=self.write_row,
            i_mask=self.mask,
            i_write_data=self.write_data,
            **reading,
        )
        return m


def read_port_members(cfg: PortedConfig) -> dict[str, wiring.Member]:
    """The read ports of a bank."""
    return {
        "reads": In(cfg.read_ports),
        "read_rows": In(data.ArrayLayout(cfg.row_bits, cfg.read_ports)),
        "read_data": Out(data.ArrayLayout(cfg.data_bits, cfg.read_ports)),
    }


def write_port_members(cfg: PortedConfig) -> dict[str, wiring.Member]:
    """Its write port."""
    return {
        "write": In(1),
        "write_row": In(cfg.row_bits),
        "mask": In(cfg.lanes),
        "write_data": In(cfg.data_bits),
    }


class PlannedBank(wiring.Component):
    """One bank: every read is served, and of the results the lowest port.

    Members
    -------
    reads : In(read_ports), read_rows : In(ArrayLayout), read_data : Out(ArrayLayout)   One cycle after the read.
    fill : Out(read_ports)             Ports whose ``read_data`` are there.
    writes : In(ports)                 Results for this bank.
    write_rows : In(ArrayLayout), masks : In(ArrayLayout)   Per port.
    write_data : In(data_bits)         Of the accepted writer (selected outside, by ``accept``).
    accept : Out(ports)                One-hot in the same cycle.
    """

    def __init__(self, cfg: PortedConfig) -> None:
        self._cfg = cfg
        super().__init__(
            {
                **read_port_members(cfg),
                "fill": Out(cfg.read_ports),
                "writes": In(cfg.write_ports),
                "write_rows": In(data.ArrayLayout(cfg.row_bits, cfg.write_ports)),
                "masks": In(data.ArrayLayout(cfg.lanes, cfg.write_ports)),
                "write_data": In(cfg.data_bits),
                "accept": Out(cfg.write_ports),
            }
        )

    def elaborate(self, platform) -> Module:
        """Who writes, then the SRAM."""
        m = Module()
        m.submodules.ram = ram = PortedRam(self._cfg)
        m.d.sync += self.fill.eq(self.reads)
        m.d.comb += [
            self.accept.eq(lowest_one(self.writes)),
            ram.reads.eq(self.reads),
            ram.read_rows.eq(self.read_rows),
            self.read_data.eq(ram.read_data),
            ram.write.eq(self.writes.any()),
            ram.write_row.eq(select(self.accept, list(self.write_rows))),
            ram.mask.eq(select(self.accept, list(self.masks))),
            ram.write_data.eq(self.write_data),
        ]
        return m

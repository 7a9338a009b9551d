"""SRAMs of tables: one with a port for reads and one for writes, one with two ports for both."""

from amaranth import ClockSignal, Instance, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.stamp import note_module
from warpfile.spec.config import index_bits
from warpfile.spec.structure import RENAMING_RAM, TABLE_RAM

_TABLE = """\
// One table: {rows} rows of {bits} bits, one read port and one write port.
// Contents are not reset. Inputs count at the rising edge that ends their cycle.
// A read enabled in cycle t is used in cycle t + 1 only. Every cycle may have an access.
// No row is read and written in one cycle.
module {name} (
  input                 clk,
  input                 read_enable,
  input  [{row}:0]  read_address,
  input                 write_enable,
  input  [{row}:0]  write_address,
  input  [{data}:0]  write_data,
  output reg [{data}:0]  read_data    // of the last read
);
  reg [{data}:0] rows [0:{last}];
  always @(posedge clk) begin
    if (read_enable) read_data <= rows[read_address];
    if (write_enable) rows[write_address] <= write_data;
  end
endmodule
"""
_RENAMING = """\
// One memory of a renaming table: {rows} rows of {bits} bits, two ports that read or write.
// Contents are not reset. Inputs count at the rising edge that ends their cycle.
// A read enabled in cycle t is used in cycle t + 1 only. Every cycle may have an access of each port.
// No row is written in a cycle in which the other port has an access to it.
module {name} (
  input                 clk,
{declarations});
  reg [{data}:0] rows [0:{last}];
  always @(posedge clk) begin
{body}  end
endmodule
"""
_RENAMING_PORT = """\
  input                 enable{port},      // access in this cycle
  input                 write{port},       // 1: write the row, 0: read
  input  [{row}:0]  address{port},
  input  [{data}:0]  write_data{port},
  output reg [{data}:0]  read_data{port}{comma}   // of the last read
"""
_RENAMING_BODY = """\
    if (enable{port}) begin
      if (write{port}) rows[address{port}] <= write_data{port};
      else read_data{port} <= rows[address{port}];
    end
"""


class TableRam(wiring.Component):
    """SRAM of a table with so many rows of so many bits. No row is read and written in one cycle.

    Members
    -------
    read : In(1), read_row : In, read_data : Out(bits)   One cycle after the read.
    write : In(1), write_row : In, write_data : In(bits)   The whole row.
    """

    def __init__(self, rows: int, bits: int) -> None:
        self._rows, self._bits = rows, bits
        row = index_bits(rows)
        super().__init__(
            {
                "read": In(1),
                "read_row": In(row),
                "read_data": Out(bits),
                "write": In(1),
                "write_row": In(row),
                "write_data": In(bits),
            }
        )

    def elaborate(self, platform) -> Module:
        """Instantiate the module."""
        m = Module()
        sizes = {"row": index_bits(self._rows) - 1, "data": self._bits - 1, "last": self._rows - 1}
        note_module(TABLE_RAM, _TABLE.format(name=TABLE_RAM, rows=self._rows, bits=self._bits, **sizes))
        m.submodules.ram = Instance(
            TABLE_RAM,
            i_clk=ClockSignal(),
            i_read_enable=self.read,
            i_read_address=self.read_row,
            i_write_enable=self.write,
            i_write_address=self.write_row,
            i_write_data=self.write_data,
            o_read_data=self.read_data,
        )
        return m


#: Ports of a memory of a renaming table.
TABLE_PORTS = 2


class RenamingRam(wiring.Component):
    """Memory of a renaming table: two ports, each of which reads or writes one row per cycle.

    No row is written in a cycle in which the other port has an access to it.

    Members
    -------
    enable, write : In(2)              Ports that have an access; those of them that write.
    rows : In(ArrayLayout), write_data : In(ArrayLayout)   Per port.
    read_data : Out(ArrayLayout)       Per port, one cycle after the read.
    """

    def __init__(self, rows: int, bits: int) -> None:
        self._rows, self._bits = rows, bits
        super().__init__(
            {
                "enable": In(TABLE_PORTS),
                "write": In(TABLE_PORTS),
                "rows": In(data.ArrayLayout(index_bits(rows), TABLE_PORTS)),
                "write_data": In(data.ArrayLayout(bits, TABLE_PORTS)),
                "read_data": Out(data.ArrayLayout(bits, TABLE_PORTS)),
            }
        )

    def elaborate(self, platform) -> Module:
        """Instantiate the module."""
        m = Module()
        note_module(RENAMING_RAM, _renaming_verilog(self._rows, self._bits))
        ports = {}
        for port in range(TABLE_PORTS):
            ports |= {
                f"i_enable{port}": self.enable[port],
                f"i_write{port}": self.write[port],
                f"i_address{port}": self.rows[port],
                f"i_write_data{port}": self.write_data[port],
                f"o_read_data{port}": self.read_data[port],
            }
        m.submodules.ram = Instance(RENAMING_RAM, i_clk=ClockSignal(), **ports)
        return m


def _renaming_verilog(rows: int, bits: int) -> str:
    sizes = {"row": index_bits(rows) - 1, "data": bits - 1}
    commas = {port: "," if port + 1 < TABLE_PORTS else " " for port in range(TABLE_PORTS)}
    return _RENAMING.format(
        name=RENAMING_RAM,
        rows=rows,
        bits=bits,
        last=rows - 1,
        data=bits - 1,
        declarations="".join(_RENAMING_PORT.format(port=port, comma=comma, **sizes) for port, comma in commas.items()),
        body="".join(_RENAMING_BODY.format(port=port) for port in commas),
    )

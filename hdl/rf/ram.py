"""The SRAMs: Verilog modules of their own, to be replaced by foundry macros."""

from amaranth import ClockSignal, Instance, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.stamp import note_module
from warpfile.spec.config import Config, index_bits
from warpfile.spec.structure import BANK_RAM, CACHE_RAM, RENAMING_RAM, TABLE_RAM

_PORTS_1RW = """\
  input                 clk,
  input                 enable,      // access in this cycle
  input                 write,       // 1: write the lanes in mask, 0: read
  input  [{row}:0]  address,
  input  [{lane}:0]  mask,
  input  [{data}:0]  write_data,
  output reg [{data}:0]  read_data    // of the last read
"""
_BODY_1RW = """\
    if (enable) begin
      if (write) begin
        for (lane = 0; lane < {lanes}; lane = lane + 1)
          if (mask[lane]) rows[address][lane*32 +: 32] <= write_data[lane*32 +: 32];
      end else
        read_data <= rows[address];
    end
"""
_PORTS_1R1W = """\
  input                 clk,
  input                 read_enable,
  input  [{row}:0]  read_address,
  input                 write_enable,
  input  [{row}:0]  write_address,
  input  [{lane}:0]  mask,        // lanes that a write changes
  input  [{data}:0]  write_data,
  output reg [{data}:0]  read_data    // of the last read
"""
_BODY_1R1W = """\
    if (read_enable) read_data <= rows[read_address];
    if (write_enable)
      for (lane = 0; lane < {lanes}; lane = lane + 1)
        if (mask[lane]) rows[write_address][lane*32 +: 32] <= write_data[lane*32 +: 32];
"""
_RULES_1RW = """\
// An access is a read or a write, so no row is read and written in one cycle.
"""
_RULES_1R1W = """\
// A row may be read and written in one cycle. The machine uses no lane that such a read returns, so a macro may answer
// with the old row, the new one or neither; this model gives the old one.
"""
_MODULE = """\
// One {what}: {rows} rows of {lanes} lanes x 32 bits, {ports}.
// A write changes the lanes in mask; contents are not reset. Inputs count at the rising edge that ends their cycle.
{times}{rules}module {name} (
{declarations});
  reg [{data}:0] rows [0:{last}];
  integer lane;
  always @(posedge clk) begin
{body}  end
endmodule
"""


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
_SLICED_PORTS = """\
  input                 clk,
  input                 enable,      // access in this cycle
  input                 write,       // 1: write the slices in mask, 0: read
{addresses}  input  [{slice}:0]  mask,       // four slices per lane, lowest first
  input  [{data}:0]  write_data,
  output reg [{data}:0]  read_data    // of the last read
"""
_SLICED = """\
// One register bank: {rows} rows of {lanes} lanes x 4 slices x 8 bits, one port that reads or writes.
// A write changes the slices in mask; contents are not reset. Inputs count at the rising edge that ends their cycle.
{times}{rules}module {name} (
{declarations});
{memories}  integer lane;
  always @(posedge clk) begin
    if (enable) begin
{body}    end
  end
endmodule
"""
_ONE_ROW_BODY = """\
      if (write) begin
        for (lane = 0; lane < {slices}; lane = lane + 1)
          if (mask[lane]) rows[address][lane*8 +: 8] <= write_data[lane*8 +: 8];
      end else
        read_data <= rows[address];
"""
_PLANES_BODY = """\
      for (lane = 0; lane < {lanes}; lane = lane + 1)
        if (!write) read_data[lane*32+{low} +: 8] <= plane{plane}[address{plane}][lane*8 +: 8];
        else if (mask[lane*4+{plane}]) plane{plane}[address{plane}][lane*8 +: 8] <= write_data[lane*32+{low} +: 8];
"""
#: What the SRAMs of banks are, by their modules.
_BANKS = {BANK_RAM: "register bank", CACHE_RAM: "bank of the cache"}


def ram_verilog(cfg: Config, name: str = BANK_RAM, times: str = "", rules: str = "") -> str:
    """Verilog-2005 of a bank's SRAM as a behavioural model that simulators and synthesis accept.

    ``times``: comment lines on when data are used, where :func:`_times` does not hold; ``rules``: on rows that are read
    and written in one cycle, where a machine uses what such a read returns.
    """
    single = cfg.bank_ports == "1RW"
    sizes = {"row": cfg.row_bits - 1, "lane": cfg.lanes - 1, "data": cfg.data_bits - 1, "lanes": cfg.lanes}
    return _MODULE.format(
        name=name,
        what=_BANKS[name],
        rows=cfg.rows,
        last=cfg.rows - 1,
        ports="one port that reads or writes" if single else "one read port and one write port",
        declarations=(_PORTS_1RW if single else _PORTS_1R1W).format(**sizes),
        body=(_BODY_1RW if single else _BODY_1R1W).format(**sizes),
        rules=rules or (_RULES_1RW if single else _RULES_1R1W),
        times=times or _times(cfg),
        **{name: sizes[name] for name in ("data", "lanes")},
    )


def _times(cfg: Config) -> str:
    """When data of a read are used, and how close accesses of a port are."""
    if cfg.bank_occupancy == "one" and cfg.gives.cycles > 1:
        return (
            "// A read enabled in cycle t is used in cycle t + 1 only: registers behind it keep what is due later.\n"
            "// Every cycle may have an access.\n"
        )
    if cfg.gives.cycles != cfg.bank_cycles:
        return "// A read enabled in cycle t is used in one cycle, from t + 1 on: a macro holds it so long.\n"
    if cfg.bank_cycles == 1:
        return "// A read enabled in cycle t is used in cycle t + 1 only. Every cycle may have an access.\n"
    return (
        f"// A read enabled in cycle t is used in cycle t + {cfg.bank_cycles} only: a macro may take that long.\n"
        f"// Enables of one port are {cfg.bank_cycles} or more cycles apart.\n"
    )


class BankRam(wiring.Component):
    """SRAM of a bank with the same ports for both kinds; a single-port bank never reads and writes in one cycle.

    Members
    -------
    read : In(1), read_row : In(row_bits), read_data : Out(data_bits)   One cycle after the read, then held.
    write : In(1), write_row : In(row_bits), mask : In(lanes), write_data : In(data_bits)   Lanes in ``mask`` change.
    """

    def __init__(self, cfg: Config, name: str = BANK_RAM, times: str = "", rules: str = "") -> None:
        self._cfg, self._name = cfg, name
        self._text = ram_verilog(cfg, name, times, rules)
        super().__init__(
            {
                "read": In(1),
                "read_row": In(cfg.row_bits),
                "read_data": Out(cfg.data_bits),
                "write": In(1),
                "write_row": In(cfg.row_bits),
                "mask": In(cfg.lanes),
                "write_data": In(cfg.data_bits),
            }
        )

    def elaborate(self, platform) -> Module:
        """Instantiate the module whose text :func:`ram_verilog` gives."""
        m = Module()
        note_module(self._name, self._text)
        common = {
            "i_clk": ClockSignal(),
            "i_mask": self.mask,
            "i_write_data": self.write_data,
            "o_read_data": self.read_data,
        }
        if self._cfg.bank_ports == "1RW":
            m.submodules.ram = Instance(
                self._name,
                i_enable=self.read | self.write,
                i_write=self.write,
                i_address=(self.read_row & ~self.write.replicate(self._cfg.row_bits))
                | (self.write_row & self.write.replicate(self._cfg.row_bits)),
                **common,
            )
        else:
            m.submodules.ram = Instance(
                self._name,
                i_read_enable=self.read,
                i_read_address=self.read_row,
                i_write_enable=self.write,
                i_write_address=self.write_row,
                **common,
            )
        return m


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


def sliced_verilog(cfg: Config, planes: bool) -> str:
    """Verilog-2005 of the SRAM of a bank of slices; ``planes``: each slice is a memory with an address of its own."""
    row, last, lanes = cfg.row_bits - 1, cfg.rows - 1, cfg.lanes
    sizes = {"row": row, "slice": 4 * lanes - 1, "data": cfg.data_bits - 1, "lanes": lanes, "slices": 4 * lanes}
    addresses, memories, body = f"  input  [{row}:0]  address,\n", f"  reg [{sizes['data']}:0] rows [0:{last}];\n", ""
    if planes:
        numbers = range(4)
        addresses = "".join(f"  input  [{row}:0]  address{plane},   // of slice {plane}\n" for plane in numbers)
        memories = "".join(f"  reg [{8 * lanes - 1}:0] plane{plane} [0:{last}];\n" for plane in numbers)
        body = "".join(_PLANES_BODY.format(plane=plane, low=8 * plane, **sizes) for plane in numbers)
    return _SLICED.format(
        name=BANK_RAM,
        rows=cfg.rows,
        lanes=lanes,
        times=_times(cfg),
        rules=_RULES_1RW,
        declarations=_SLICED_PORTS.format(addresses=addresses, **sizes),
        memories=memories,
        body=body or _ONE_ROW_BODY.format(**sizes),
    )


class SlicedRam(wiring.Component):
    """SRAM of a bank of slices: one port that reads or writes. A row has four slices (bytes) in every lane.

    Members
    -------
    enable : In(1), write : In(1)      An access; it writes.
    rows : In(ArrayLayout)             Row of every slice; of all, if there is one only.
    mask : In(4 * lanes), write_data : In(data_bits)   Slices that a write changes, lane-major, and to what.
    read_data : Out(data_bits)         One cycle after the read, then held.
    """

    def __init__(self, cfg: Config, planes: bool) -> None:
        self._cfg, self._planes = cfg, planes
        super().__init__(
            {
                "enable": In(1),
                "write": In(1),
                "rows": In(data.ArrayLayout(cfg.row_bits, 4 if planes else 1)),
                "mask": In(4 * cfg.lanes),
                "write_data": In(cfg.data_bits),
                "read_data": Out(cfg.data_bits),
            }
        )

    def elaborate(self, platform) -> Module:
        """Instantiate the module whose text :func:`sliced_verilog` gives."""
        m = Module()
        note_module(BANK_RAM, sliced_verilog(self._cfg, self._planes))
        numbers = range(4) if self._planes else ("",)
        addresses = {f"i_address{number}": row for number, row in zip(numbers, self.rows, strict=True)}
        m.submodules.ram = Instance(
            BANK_RAM,
            i_clk=ClockSignal(),
            i_enable=self.enable,
            i_write=self.write,
            i_mask=self.mask,
            i_write_data=self.write_data,
            o_read_data=self.read_data,
            **addresses,
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

"""SRAM of a bank whose rows are whole warp registers."""

from amaranth import ClockSignal, Instance, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.rams.times import RULES_1RW, use_times
from warpfile.hdl.stamp import note_module
from warpfile.spec.config import Config
from warpfile.spec.structure import BANK_RAM, CACHE_RAM

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
#: What the SRAMs of banks are, by their modules.
_BANKS = {BANK_RAM: "register bank", CACHE_RAM: "bank of the cache"}


def ram_verilog(cfg: Config, name: str = BANK_RAM, times: str = "", rules: str = "") -> str:
    """Verilog-2005 of a bank's SRAM as a behavioural model that simulators and synthesis accept.

    ``times``: comment lines on when data are used, where :func:`use_times` does not hold; ``rules``: on rows that are
    read and written in one cycle, where a machine uses what such a read returns.
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
        rules=rules or (RULES_1RW if single else _RULES_1R1W),
        times=times or use_times(cfg),
        **{name: sizes[name] for name in ("data", "lanes")},
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

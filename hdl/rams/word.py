"""SRAM of a bank whose rows are one word each."""

from amaranth import ClockSignal, Instance, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select
from warpfile.hdl.rams.times import RULES_1RW, use_times
from warpfile.hdl.stamp import note_module
from warpfile.spec.config import Config
from warpfile.spec.structure import SCALAR_RAM, WORD_BITS

_PORTS_1RW = """\
  input                 enable,      // access in this cycle
  input                 write,       // 1: write the word, 0: read
  input  [{row}:0]  address,
"""
_BODY_1RW = """\
    if (enable) begin
      if (write) rows[address] <= write_data;
      else read_data <= rows[address];
    end
"""
_PORTS_1R1W = """\
  input                 read_enable,
  input  [{row}:0]  read_address,
  input                 write_enable,
  input  [{row}:0]  write_address,
"""
_BODY_1R1W = """\
    if (read_enable) read_data <= rows[read_address];
    if (write_enable) rows[write_address] <= write_data;
"""
_RULES_1R1W = """\
// A row may be read and written in one cycle. The machine does not use what such a read returns, so a macro may answer
// with the old word, the new one or neither; this model gives the old one.
"""
_MODULE = """\
// One bank of words: {rows} rows of {word} bits, {ports}.
// A write changes the whole word; contents are not reset. Inputs count at the rising edge that ends their cycle.
{times}{rules}module {name} (
  input                 clk,
{declarations}  input  [{data}:0]  write_data,
  output reg [{data}:0]  read_data    // of the last read
);
  reg [{data}:0] rows [0:{last}];
  always @(posedge clk) begin
{body}  end
endmodule
"""


def word_verilog(cfg: Config) -> str:
    """Verilog-2005 of the SRAM as a behavioural model that simulators and synthesis accept."""
    single = cfg.bank_ports == "1RW"
    return _MODULE.format(
        name=SCALAR_RAM,
        rows=cfg.rows,
        word=WORD_BITS,
        ports="one port that reads or writes" if single else "one read port and one write port",
        times=use_times(cfg),
        rules=RULES_1RW if single else _RULES_1R1W,
        declarations=(_PORTS_1RW if single else _PORTS_1R1W).format(row=cfg.row_bits - 1),
        data=WORD_BITS - 1,
        last=cfg.rows - 1,
        body=_BODY_1RW if single else _BODY_1R1W,
    )


class WordRam(wiring.Component):
    """SRAM of a bank of words, with the same ports for both kinds.

    One with a single port never reads and writes in one cycle.

    Members
    -------
    read : In(1), read_row : In(row_bits), read_data : Out(32)   One cycle after the read, then held.
    write : In(1), write_row : In(row_bits), write_data : In(32)   The whole word.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__(
            {
                "read": In(1),
                "read_row": In(cfg.row_bits),
                "read_data": Out(WORD_BITS),
                "write": In(1),
                "write_row": In(cfg.row_bits),
                "write_data": In(WORD_BITS),
            }
        )

    def elaborate(self, platform) -> Module:
        """Instantiate the module whose text :func:`word_verilog` gives."""
        m = Module()
        note_module(SCALAR_RAM, word_verilog(self._cfg))
        reads, writes = (self.read, self.read_row), (self.write, self.write_row)
        if self._cfg.bank_ports == "1RW":
            address = select([~self.write, self.write], [self.read_row, self.write_row])
            ports = {"i_enable": self.read | self.write, "i_write": self.write, "i_address": address}
        else:
            ports = {
                f"i_{name}_{pin}": value
                for name, pair in (("read", reads), ("write", writes))
                for pin, value in zip(("enable", "address"), pair, strict=True)
            }
        m.submodules.ram = Instance(
            SCALAR_RAM,
            i_clk=ClockSignal(),
            i_write_data=self.write_data,
            o_read_data=self.read_data,
            **ports,
        )
        return m

"""SRAM of a bank whose rows have four slices in every lane."""

from amaranth import ClockSignal, Instance, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.rams.times import RULES_1RW, use_times
from warpfile.hdl.stamp import note_module
from warpfile.spec.config import Config
from warpfile.spec.structure import BANK_RAM

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
        times=use_times(cfg),
        rules=RULES_1RW,
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

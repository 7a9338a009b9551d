"""Reading storage and hierarchy off Verilog text; yosys is the judge in ``test_generate.py``."""

from __future__ import annotations

from warpfile.spec.presets import PRESETS
from warpfile.synth.netlist import Memory, instance_counts, read_modules

TEXT = r"""
module top(clk, rst);
  reg [3:0] \state$1  = 4'h0;
  reg flag = 1'h0;
  reg \$1 ;
  always @(posedge clk)
    \state$1  <= \$2 ;
  always @(posedge clk)
    flag <= \$1 ;
  always @* begin
    \$1  = flag;
  end
  assign \$3  = flag <= \$1 ;
  \top.part  first (
    .clk(clk)
  );
  \top.part  second (
    .clk(clk)
  );
endmodule

module \top.part (clk);
  rows_2 rows (
    .clk(clk)
  );
endmodule

module rows_2 (
  input clk,
  output reg [7:0] read_data // held <= until the next read
);
  reg [7:0] rows [0:15];
  always @(posedge clk) begin
    if (read) read_data <= rows[read_address];
    if (write) rows[write_address] <= data;
  end
endmodule
"""


def test_registers_are_those_a_clock_writes() -> None:
    modules = read_modules(TEXT)
    assert {name: module.flip_flops for name, module in modules.items()} == {"top": 5, "top.part": 0, "rows_2": 0}


def test_memories_have_depth_width_and_ports() -> None:
    assert read_modules(TEXT)["rows_2"].memories == (Memory(16, 8, "1R1W"),)
    single = TEXT.replace("read_address", "address").replace("write_address", "address")
    assert read_modules(single)["rows_2"].memories == (Memory(16, 8, "1RW"),)


def test_instances_multiply_down_the_hierarchy() -> None:
    assert instance_counts(read_modules(TEXT), "top") == {"top": 1, "top.part": 2, "rows_2": 2}


def test_both_kinds_of_bank_are_recognised() -> None:
    from warpfile.hdl.rams.bank import ram_verilog

    for ports in ("1RW", "1R1W"):
        cfg = PRESETS["tiny"].config.replace(bank_ports=ports)
        (module,) = read_modules(ram_verilog(cfg)).values()
        assert module.memories == (Memory(cfg.rows, cfg.data_bits, ports),)

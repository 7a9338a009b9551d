"""Initial values are gone, and nothing else is."""

from warpfile.hdl.power_up import without_initial_values

TEXT = """\
module \\warpfile.part (clk, q, r);
  reg \\$auto$verilog_backend.cc:2189:dump_module$1  = 0;
  input clk;
  wire clk;
  wire a = 1'h1;
  output q;
  reg q = 1'h1;
  reg \\r.s  = 1'h0;
  reg [1023:0] \\held[1] {};
  reg [7:0] t = 8'd5;
  reg [7:0] \\$2 ;
  reg [5:0] mutsel /*verilator public_flat_rw*/ = 6'd63;
  parameter p = 2'h1;
  always @* begin
    \\$2  = 8'h00;
  end
endmodule
"""


def test_registers_lose_their_initial_values_and_all_else_stays() -> None:
    text = TEXT.format(" = 1024'h" + 256 * "f")
    expected = TEXT.format("").replace("reg q = 1'h1", "reg q").replace("\\r.s  = 1'h0", "\\r.s ")
    assert without_initial_values(text) == expected.replace("] t = 8'd5", "] t")

// The SRAM of a bank made of compiled macros: one read port and one write port, 256 rows, 32 lanes. Compile it in place of
// the model, with WARPFILE_NO_SRAM_MODEL defined. Four lanes share a macro of 128 bits with a write enable per bit.
//
// Clock and enables are those of most memory compilers: active low, sampled at the rising edge. Test pins, power pins and
// margin settings of the real macro are tied here. The macro may give anything for a row that is written in the same cycle.
module warpfile_bank_sram (
  input             clk,
  input             read_enable,
  input  [7:0]      read_address,
  input             write_enable,
  input  [7:0]      write_address,
  input  [31:0]     mask,
  input  [1023:0]   write_data,
  output [1023:0]   read_data
);
  genvar part, lane;
  generate
    for (part = 0; part < 8; part = part + 1) begin : macros
      wire [127:0] enabled;
      for (lane = 0; lane < 4; lane = lane + 1) begin : lanes
        assign enabled[lane*32 +: 32] = {32{mask[part*4 + lane]}};
      end
      macro_256x128_1r1w macro (
        .CLK(clk),
        .REB(~read_enable),
        .RA(read_address),
        .Q(read_data[part*128 +: 128]),
        .WEB(~write_enable),
        .WA(write_address),
        .BWEB(~enabled),
        .D(write_data[part*128 +: 128])
      );
    end
  endgenerate
endmodule

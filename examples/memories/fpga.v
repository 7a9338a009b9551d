// The SRAM of a bank as an FPGA's block RAM, for a bank with one read port and one write port. Compile it in place of the
// model: define WARPFILE_NO_SRAM_MODEL, set the parameters to those of the model's ports.
//
// The model answers a read of a row that is written in the same cycle with the old row, and tools add logic where their
// block RAM does not. The machine does not use that answer, so this one leaves it open: X in simulation, and for yosys the
// attribute no_rw_check (other tools have one of their own, such as rw_addr_collision).
module warpfile_bank_sram #(parameter ROW_BITS = 8, parameter LANES = 32) (
  input                        clk,
  input                        read_enable,
  input  [ROW_BITS-1:0]        read_address,
  input                        write_enable,
  input  [ROW_BITS-1:0]        write_address,
  input  [LANES-1:0]           mask,
  input  [32*LANES-1:0]        write_data,
  output reg [32*LANES-1:0]    read_data
);
  (* ram_style = "block", no_rw_check *) reg [32*LANES-1:0] rows [0:(1<<ROW_BITS)-1];
  integer lane;
  always @(posedge clk) begin
    for (lane = 0; lane < LANES; lane = lane + 1)
      if (write_enable && mask[lane]) rows[write_address][lane*32 +: 32] <= write_data[lane*32 +: 32];
    if (read_enable) begin
      read_data <= rows[read_address];
      if (write_enable && read_address == write_address) read_data <= {32*LANES{1'bx}};
    end
  end
endmodule

// An execution unit for one beat at a time: takes it when idle, and returns its result at least LATENCY cycles later.
module unit #(
  parameter LATENCY = 2, WARP = 3, REG = 6, LANES = 4, TOKENS = 16
) (
  input                              clk,
  input                              rst,
  output                             idle,
  input                              dispatch_valid,
  output                             dispatch_ready,
  input      [WARP+REG+3+LANES-1:0]  beat,          // the dispatch below its payload
  input      [TOKENS-1:0]            tokens,        // that it releases
  input      [32*LANES-1:0]          value,         // that it computes
  output                             result_valid,
  input                              result_ready,
  output reg [LANES+TOKENS+REG+WARP:0] result,
  output reg [32*LANES-1:0]          result_data
);
  wire [WARP-1:0]  warp = beat[0 +: WARP];
  wire [REG-1:0]   dest = beat[WARP +: REG];
  wire             writes = beat[WARP+REG +: 3] != 0;  // no instruction of this SM writes more than one register
  wire [LANES-1:0] mask = beat[WARP+REG+3 +: LANES];

  reg       busy;
  reg [3:0] left;
  assign idle = !busy;
  assign dispatch_ready = !busy;
  assign result_valid = busy && left == 0;
  always @(posedge clk)
    if (rst) busy <= 0;
    else if (!busy) begin
      busy <= dispatch_valid && (writes || tokens != 0);
      left <= LATENCY - 1;
      result <= {mask, tokens, dest, warp, writes};
      result_data <= value;
    end else if (left != 0) left <= left - 1'd1;
    else if (result_ready) busy <= 0;
endmodule

// Stands for the model that a memory compiler delivers with its macro; for trying foundry.v without one.
module macro_256x128_1r1w (
  input               CLK,
  input               REB,   // low: read
  input      [7:0]    RA,
  output reg [127:0]  Q,
  input               WEB,   // low: write
  input      [7:0]    WA,
  input      [127:0]  BWEB,  // low: write this bit
  input      [127:0]  D
);
  reg [127:0] cells [0:255];
  always @(posedge CLK) begin
    if (!WEB) cells[WA] <= (cells[WA] & BWEB) | (D & ~BWEB);
    if (!REB) Q <= (!WEB && RA == WA) ? {128{1'bx}} : cells[RA];
  end
endmodule

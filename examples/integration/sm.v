// A minimal SM around a machine from `warpfile generate baseline --preset tiny`: it fetches a trace from memory, and has
// an ALU and a port to shared memory.
//
// program.py writes the trace: beats as `decode` takes them, with a payload that says what to compute. It comes back with
// the dispatch, so nothing of a beat has to be remembered here.
module sm #(
  parameter BEATS_FILE = "beats.hex",  // the beats of all warps, warp by warp
  parameter WARPS_FILE = "warps.hex",  // for every warp: end and begin of its beats, launch record
  parameter COUNT = 4                  // warps of the trace, each in a slot of its own
) (
  input  clk,
  input  rst,
  output done
);
  localparam LANES = 4, WARPS = 5, PORTS = 3, WARP = 3, BASE = 8, CTA = 2, REG = 6, TOKENS = 16, PAYLOAD = 32;
  localparam DATA = 32*LANES, OPERANDS = 2*DATA, BEAT = 99, LAUNCH = CTA + BASE + WARP, PC = 8;
  localparam DISPATCH = WARP + REG + 3 + LANES + PAYLOAD, RESULT = 1 + WARP + REG + TOKENS + LANES;

  // Fetch: launch all warps in consecutive cycles, then look at one slot after the other.
  reg [BEAT-1:0]        beats [0:(1<<PC)-1];
  reg [2*PC+LAUNCH-1:0] warps [0:(1<<WARP)-1];
  initial begin
    $readmemh(BEATS_FILE, beats);
    $readmemh(WARPS_FILE, warps);
  end

  reg  [WARP-1:0]   launched, turn;
  reg  [PC-1:0]     fetched [0:(1<<WARP)-1];
  wire              launch_valid = launched != COUNT;
  wire              launch_ready;
  wire [LAUNCH-1:0] launch = warps[launched][LAUNCH-1:0];
  wire [WARPS-1:0]  decode_ready, resident;
  wire [PC-1:0]     pc = fetched[turn];
  wire              decode_valid = !launch_valid && decode_ready[turn] && pc != warps[turn][PC+LAUNCH +: PC];
  wire [BEAT-1:0]   decode = beats[pc];

  always @(posedge clk)
    if (rst) begin
      launched <= 0;
      turn <= 0;
    end else begin
      if (launch_valid && launch_ready) begin
        launched <= launched + 1'd1;
        fetched[launched] <= warps[launched][LAUNCH +: PC];
      end
      if (decode_valid) fetched[turn] <= pc + 1'd1;
      turn <= turn == COUNT - 1 ? 0 : turn + 1'd1;
    end

  wire [PORTS-1:0]          dispatch_valid, dispatch_ready, result_valid, result_ready;
  wire [PORTS*DISPATCH-1:0] dispatch;
  wire [PORTS*OPERANDS-1:0] operands;
  wire [PORTS*RESULT-1:0]   result;
  wire [PORTS*DATA-1:0]     result_data;
  wire [PORTS-1:0]          idle;
  assign done = !launch_valid && resident == 0 && &idle;

  warpfile machine (
    .clk(clk), .rst(rst),
    .launch__valid(launch_valid), .launch__ready(launch_ready), .launch__payload(launch),
    .decode_valid(decode_valid), .decode(decode), .decode_ready(decode_ready),
    .resident(resident),
    /* verilator lint_off PINCONNECTEMPTY */
    .started(), .retired(), .waiting(), .issue(), .issue_warp(), .exit(),  // nothing here goes by them
    /* verilator lint_on PINCONNECTEMPTY */
    .dispatch__0__valid(dispatch_valid[0]), .dispatch__0__ready(dispatch_ready[0]),
    .dispatch__1__valid(dispatch_valid[1]), .dispatch__1__ready(dispatch_ready[1]),
    .dispatch__2__valid(dispatch_valid[2]), .dispatch__2__ready(dispatch_ready[2]),
    .dispatch__0__payload(dispatch[0*DISPATCH +: DISPATCH]), .operands__0(operands[0*OPERANDS +: OPERANDS]),
    .dispatch__1__payload(dispatch[1*DISPATCH +: DISPATCH]), .operands__1(operands[1*OPERANDS +: OPERANDS]),
    .dispatch__2__payload(dispatch[2*DISPATCH +: DISPATCH]), .operands__2(operands[2*OPERANDS +: OPERANDS]),
    .result__0__valid(result_valid[0]), .result__0__ready(result_ready[0]),
    .result__1__valid(result_valid[1]), .result__1__ready(result_ready[1]),
    .result__2__valid(result_valid[2]), .result__2__ready(result_ready[2]),
    .result__0__payload(result[0*RESULT +: RESULT]), .result_data__0(result_data[0*DATA +: DATA]),
    .result__1__payload(result[1*RESULT +: RESULT]), .result_data__1(result_data[1*DATA +: DATA]),
    .result__2__payload(result[2*RESULT +: RESULT]), .result_data__2(result_data[2*DATA +: DATA])
  );

  // Execution: an ALU at ports 0 and 1, shared memory at port 2. The payload says what is computed, from its
  // lowest bit: operation, operands that are used, a signed number, tokens that are released.
  localparam MEMORY = 2;
  localparam [1:0] MULTIPLY = 1, XOR = 2, THREAD = 3;
  reg  [31:0]           shared [0:511];  // 512 bytes for each CTA slot
  wire [PORTS*DATA-1:0] value;
  wire [9*LANES-1:0]    word;            // that a lane reads or writes
  wire [DATA-1:0]       stored;

  function [31:0] computed(input [1:0] operation, input [31:0] a, input [31:0] b, input [31:0] number, input [31:0] lane);
    case (operation)
      MULTIPLY: computed = a * number;
      XOR:      computed = a ^ number;
      THREAD:   computed = number + lane;
      default:  computed = a + b + number;
    endcase
  endfunction

  genvar p, l;
  generate
    for (p = 0; p < PORTS; p = p + 1) begin : ports
      localparam AT = (p+1)*DISPATCH - PAYLOAD;
      wire [1:0]        used = dispatch[AT+2 +: 2];
      wire [31:0]       number = {{20{dispatch[AT+15]}}, dispatch[AT+4 +: 12]};
      wire [TOKENS-1:0] tokens = dispatch[AT+16 +: TOKENS];
      for (l = 0; l < LANES; l = l + 1) begin : lanes
        wire [31:0] a = used[0] ? operands[p*OPERANDS + 32*l +: 32] : 0;
        wire [31:0] b = used[1] ? operands[p*OPERANDS + DATA + 32*l +: 32] : 0;
        if (p == MEMORY) begin : memory
          /* verilator lint_off UNUSEDSIGNAL */
          wire [31:0] address = a + number;  // what is above and below is not in this memory
          /* verilator lint_on UNUSEDSIGNAL */
          assign word[9*l +: 9] = {warps[dispatch[MEMORY*DISPATCH +: WARP]][LAUNCH-1 -: CTA], address[8:2]};
          assign stored[32*l +: 32] = b;
          assign value[p*DATA + 32*l +: 32] = shared[word[9*l +: 9]];
        end else begin : alu
          assign value[p*DATA + 32*l +: 32] = computed(dispatch[AT +: 2], a, b, number, l);
        end
      end
      unit #(.LATENCY(p == MEMORY ? 6 : 2), .WARP(WARP), .REG(REG), .LANES(LANES), .TOKENS(TOKENS)) unit (
        .clk(clk), .rst(rst), .idle(idle[p]),
        .dispatch_valid(dispatch_valid[p]), .dispatch_ready(dispatch_ready[p]),
        .beat(dispatch[p*DISPATCH +: WARP+REG+3+LANES]), .tokens(tokens), .value(value[p*DATA +: DATA]),
        .result_valid(result_valid[p]), .result_ready(result_ready[p]),
        .result(result[p*RESULT +: RESULT]), .result_data(result_data[p*DATA +: DATA])
      );
    end
  endgenerate

  // What has no destination is a store.
  wire store = dispatch_valid[MEMORY] && dispatch_ready[MEMORY] && dispatch[MEMORY*DISPATCH + WARP + REG +: 3] == 0;
  integer lane;
  always @(posedge clk)
    for (lane = 0; lane < LANES; lane = lane + 1)
      if (store && dispatch[MEMORY*DISPATCH + WARP + REG + 3 + lane]) shared[word[9*lane +: 9]] <= stored[32*lane +: 32];
endmodule

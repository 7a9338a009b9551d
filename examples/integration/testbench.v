// A testbench in plain Verilog for a machine from `warpfile generate baseline --preset tiny`.
//
// Every warp runs random instructions: first each of its registers is written, then random ones are read and written in
// random lanes, then the warp exits. Execution ports take beats at random, results come back after random times, in order
// at each port. What has to leave is known when an instruction is sent: the operands that its warp has computed by then.
`timescale 1ns/1ps
module testbench;
  // Sizes, from baseline.json.
  localparam LANES = 4, WARPS = 5, PORTS = 3, WARP = 3, BASE = 8, CTA = 2, REG = 6, TOKENS = 16, PAYLOAD = 32;
  localparam DATA = 32*LANES, OPERANDS = 2*DATA;
  localparam DISPATCH = WARP + REG + 3 + LANES + PAYLOAD, RESULT = 1 + WARP + REG + TOKENS + LANES;
  localparam NONE = 2'd3, NORMAL = 2'd0, EXIT = 2'd3;
  // The program: registers of a warp (also the places that it takes), its instructions, and those of all warps.
  localparam REGISTERS = 8, LENGTH = 100, ALL = WARPS*LENGTH;

  reg clk = 0, rst = 1;
  always #5 clk = ~clk;

  reg  [WARP-1:0]          launched = 0;
  wire                     running = launched == WARPS;
  wire                     launch_valid = !rst && !running;
  wire                     launch_ready;
  wire [CTA+BASE+WARP-1:0] launch = {{CTA{1'b0}}, base, launched};
  wire [BASE-1:0]          base = launched * REGISTERS;

  reg                      sending = 0;
  reg  [98:0]              decode;
  wire [WARPS-1:0]         decode_ready, resident, retired;
  wire                     decode_valid = sending && decode_ready[decode[WARP-1:0]];

  wire [PORTS-1:0]          dispatch_valid;
  reg  [PORTS-1:0]          dispatch_ready = 0;
  wire [PORTS*DISPATCH-1:0] dispatch;
  wire [PORTS*OPERANDS-1:0] operands;

  reg  [PORTS-1:0]          result_valid = 0;
  wire [PORTS-1:0]          result_ready;
  reg  [PORTS*RESULT-1:0]   result;
  reg  [PORTS*DATA-1:0]     result_data;

  warpfile machine (
    .clk(clk), .rst(rst),
    .launch__valid(launch_valid), .launch__ready(launch_ready), .launch__payload(launch),
    .decode_valid(decode_valid), .decode(decode), .decode_ready(decode_ready),
    .started(), .resident(resident), .retired(retired), .waiting(), .issue(), .issue_warp(), .exit(),
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

  // Whether this testbench keeps to the rules of the pins.
  wire [7:0] broken;
  warpfile_checks #(.STOP(0)) checks (
    .clk(clk), .rst(rst), .wrong(broken),
    .launch__valid(launch_valid), .launch__ready(launch_ready), .launch__payload(launch),
    .decode_valid(decode_valid), .decode(decode), .decode_ready(decode_ready), .resident(resident), .retired(retired),
    .result__0__valid(result_valid[0]), .result__0__ready(result_ready[0]), .result__0__payload(result[0*RESULT +: RESULT]),
    .result__1__valid(result_valid[1]), .result__1__ready(result_ready[1]), .result__1__payload(result[1*RESULT +: RESULT]),
    .result__2__valid(result_valid[2]), .result__2__ready(result_ready[2]), .result__2__payload(result[2*RESULT +: RESULT])
  );

  // What was sent, by its number, which travels as its payload.
  reg [DISPATCH-1:0] record [0:ALL-1];
  reg [OPERANDS-1:0] expected [0:ALL-1];
  reg [DATA-1:0]     value [0:ALL-1];
  reg [1:0]          used [0:ALL-1];             // source slots that are used
  reg                due [0:ALL-1];              // it was sent and has to leave
  reg [DATA-1:0]     registers [0:WARPS*REGISTERS-1];
  integer            next [0:WARPS-1];           // instruction of each warp that comes next
  // What left and returns a result, in order at each port.
  integer queue [0:PORTS*ALL-1], head [0:PORTS-1], tail [0:PORTS-1];

  integer seed, sent = 0, returned = 0, owed = 0, checked = 0, quiet = 0, w, p, n, l;
  reg [WARP-1:0]     warp;
  reg [REG-1:0]      dest, first, second;
  reg [1:0]          port, valid;
  reg [2:0]          count;
  reg [LANES-1:0]    mask;
  reg [DISPATCH-1:0] left;
  reg [DATA-1:0]     old, random;

  // One random instruction of a warp: into `decode`, and what it does into the tables.
  task instruction;
    begin
      n = sent;
      port = $unsigned($random(seed)) % PORTS;
      mask = next[warp] < REGISTERS ? {LANES{1'b1}} : $random(seed) | 1;
      dest = next[warp] < REGISTERS ? next[warp] : $unsigned($random(seed)) % REGISTERS;
      count = next[warp] < REGISTERS || $random(seed) % 4 != 0;
      valid = next[warp] < REGISTERS ? 2'b00 : 2'b11 >> $unsigned($random(seed)) % 3;
      first = $unsigned($random(seed)) % REGISTERS;
      second = (first + 1) % REGISTERS;
      for (l = 0; l < LANES; l = l + 1) random[32*l +: 32] = $random(seed);
      if (count == 0) dest = 0;
      used[n] = valid;
      expected[n] = {registers[warp*REGISTERS + second], registers[warp*REGISTERS + first]};
      value[n] = random;
      record[n] = {n, mask, count, dest, warp};
      due[n] = 1;
      old = registers[warp*REGISTERS + dest];
      for (l = 0; l < LANES; l = l + 1)
        if (count != 0 && mask[l]) registers[warp*REGISTERS + dest][32*l +: 32] = random[32*l +: 32];
      first = valid[0] ? first : 0;
      second = valid[1] ? second : 0;
      decode <= {n, mask, {TOKENS{1'b0}}, {TOKENS{1'b0}}, count, dest, second, first, valid, 1'b1, NORMAL, port, warp};
      if (next[warp] == LENGTH - 1) begin
        due[n] = 0;
        decode <= {n, {LANES{1'b1}}, {TOKENS{1'b0}}, {TOKENS{1'b0}}, 3'd0, 6'd0, 12'd0, 2'b00, 1'b1, EXIT, NONE, warp};
      end
    end
  endtask

  // A beat leaves at port p: it is the one that was sent, with its operands, and it leaves once.
  task leaves;
    begin
      left = dispatch[p*DISPATCH +: DISPATCH];
      n = left[DISPATCH-1 -: PAYLOAD];
      if (n < 0 || n >= sent || !due[n]) fail("a beat leaves that must not");
      else if (left !== record[n]) fail("a beat leaves that is not the one that was sent");
      else begin
        due[n] = 0;
        for (l = 0; l < 2*LANES; l = l + 1)
          if (used[n][l / LANES] && left[WARP + REG + 3 + l % LANES]) begin
            checked = checked + 1;
            if (operands[p*OPERANDS + 32*l +: 32] !== expected[n][32*l +: 32]) fail("a beat leaves with a wrong operand");
          end
        if (left[WARP+REG +: 3] != 0) begin
          queue[p*ALL + tail[p]] = n;
          tail[p] = tail[p] + 1;
          owed = owed + 1;
        end
      end
    end
  endtask

  task fail(input [60*8-1:0] text);
    begin
      $display("FAIL at %0t: %0s (port %0d, instruction %0d)", $time, text, p, n);
      $finish;
    end
  endtask

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    for (w = 0; w < WARPS; w = w + 1) next[w] = 0;
    for (p = 0; p < PORTS; p = p + 1) begin head[p] = 0; tail[p] = 0; end
    repeat (2) @(negedge clk);
    rst = 0;
  end

  always @(posedge clk) if (!rst) begin
    quiet = quiet + 1;
    if (broken != 0) fail("a rule of the pins is broken");

    if (launch_valid && launch_ready) launched <= launched + 1;

    // Once all warps are there, send the next instruction of a random one, when it has room.
    if (decode_valid) begin
      sending <= 0;
      quiet = 0;
    end
    warp = $unsigned($random(seed)) % WARPS;
    if (running && (!sending || decode_valid) && next[warp] < LENGTH) begin
      instruction;
      next[warp] = next[warp] + 1;
      sent = sent + 1;
      sending <= 1;
    end

    for (p = 0; p < PORTS; p = p + 1) begin
      if (dispatch_valid[p] && dispatch_ready[p]) begin leaves; quiet = 0; end
      dispatch_ready[p] <= $random(seed);

      // A result stays until it is taken; the next one comes when it pleases.
      if (result_valid[p] && result_ready[p]) begin
        returned = returned + 1;
        quiet = 0;
      end
      if (!result_valid[p] || result_ready[p]) begin
        result_valid[p] <= 0;
        if (head[p] != tail[p] && $random(seed) % 4 == 0) begin
          n = queue[p*ALL + head[p]];
          head[p] = head[p] + 1;
          result_valid[p] <= 1;
          result[p*RESULT +: RESULT] <= {record[n][WARP+REG+3 +: LANES], {TOKENS{1'b0}}, record[n][WARP+REG-1:0], 1'b1};
          result_data[p*DATA +: DATA] <= value[n];
        end
      end
    end

    if (quiet == 1000) fail("nothing happens any more");
    if (sent == ALL && resident == 0 && returned == owed) begin
      for (n = 0; n < ALL; n = n + 1) if (due[n]) fail("a beat has not left");
      $display("PASS: %0d instructions, %0d lanes of operands, %0d results", sent, checked, returned);
      $finish;
    end
  end
endmodule

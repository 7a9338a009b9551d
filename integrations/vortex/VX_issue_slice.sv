// The issue slice of Vortex around @TOP@: warpfile's scheme @SCHEME@ in place of the host's instruction buffers,
// scoreboard, operand stage and dispatch buffers. Written by `warpfile generate @SCHEME@ --host vortex`;
// docs/integration-vortex.md of warpfile says what each part is for.
`include "VX_define.vh"

module VX_issue_slice
  import VX_gpu_pkg::*;
#(
    parameter `STRING INSTANCE_ID = "",
    // verilator lint_off UNUSEDPARAM
    parameter ISSUE_ID = 0,
    // verilator lint_on UNUSEDPARAM
    parameter OPEN_RESULTS = `LSUQ_IN_SIZE + 8  // results of which some packets have come and others have not
) (
    `SCOPE_IO_DECL

    input wire clk,
    input wire reset,

`ifdef PERF_ENABLE
    output issue_perf_t issue_perf,
`endif

    VX_decode_if.slave    decode_if,
    VX_writeback_if.slave writeback_if,
    VX_dispatch_if.master dispatch_if[`NUM_EX_UNITS]
);
  import @PACKAGE@::*;

  localparam int UNITS = `NUM_EX_UNITS;
  localparam int WARP_PLACES = @PLACES@;  // places of a warp in the register file
  localparam logic [1:0] ZERO = 2'd3;  // the place of an operand that is x0

  // What travels through the machine beside warp, mask and destination.
  typedef struct packed {
    logic [`UUID_WIDTH-1:0]   uuid;
    logic [`PC_BITS-1:0]      PC;
    logic [`INST_OP_BITS-1:0] op_type;
    op_args_t                 op_args;
    logic                     wb;
    logic [2:0][1:0]          places;  // source slots of rs1, rs2 and rs3
  } payload_t;

  // Pins of the machine; a few of them say what this host does not need.
  // verilator lint_off UNUSEDSIGNAL
@SIGNALS@
  // verilator lint_on UNUSEDSIGNAL
  localparam int WARP_BITS = $bits(decode.warp);
  dispatch_t [PORTS-1:0] leaving;
  operands_t [PORTS-1:0] leaving_operands;
  logic [PORTS-1:0] leaving_valid, leaving_ready;

  // What the host must be for this machine.
  if (`XLEN != 32) begin : bits_differ
    $error("XLEN must be 32, the bits of a lane");
  end
  if (`NUM_THREADS != LANES) begin : lanes_differ
    $error("NUM_THREADS must be lanes, %0d", LANES);
  end
  if (PER_ISSUE_WARPS != WARPS) begin : warps_differ
    $error("NUM_WARPS / ISSUE_WIDTH must be warps, %0d", WARPS);
  end
  if (`NUM_REGS != REGISTER_NAMES) begin : registers_differ
    $error("NUM_REGS must be register_names, %0d", REGISTER_NAMES);
  end
  if (UNITS != PORTS) begin : units_differ
    $error("NUM_EX_UNITS must be ports, %0d", PORTS);
  end
  if ($bits(payload_t) > PAYLOAD_BITS) begin : payload_differ
    $error("payload_bits must be at least %0d", $bits(payload_t));
  end
`ifndef L1_ENABLE
  localparam int DEPTH = @DEPTH@;  // beats that the machine keeps per warp
  // An instruction and the barrier beat before it; the host counts instructions, and must never find the buffer full.
  if (`IBUF_SIZE >= DEPTH) begin : buffer_differ
    $error("IBUF_SIZE must be below buffer_depth, %0d, without caches", DEPTH);
  end
`endif

  // Every warp slot is launched once, each a CTA of its own, and never ends.
  logic [$clog2(WARPS+1)-1:0] launched;
  assign launch__valid = started && launched != WARPS[$bits(launched)-1:0];
  always_comb begin
    launch__payload = '0;
    launch__payload.warp = WARP_BITS'(launched);
    launch__payload.cta = $bits(launch__payload.cta)'(launched);
    launch__payload.base = $bits(launch__payload.base)'(launched * WARP_PLACES);
  end
  always_ff @(posedge clk) begin
    if (reset) launched <= '0;
    else if (launch__valid && launch__ready) launched <= launched + 1'b1;
  end

  // Decode. Sources are made distinct, and x0 is none; places say which slot is whose.
  logic [2:0][`NR_BITS-1:0] named, distinct;
  logic [2:0] taken;
  payload_t payload;
  assign named = {decode_if.data.rs3, decode_if.data.rs2, decode_if.data.rs1};
  always_comb begin
    distinct = '0;
    taken = '0;
    payload.uuid = decode_if.data.uuid;
    payload.PC = decode_if.data.PC;
    payload.op_type = decode_if.data.op_type;
    payload.op_args = decode_if.data.op_args;
    payload.wb = decode_if.data.wb;
    payload.places = {3{ZERO}};
    for (int i = 0; i < 3; ++i) begin
      if (named[i] != 0) begin
        for (int s = 2; s >= 0; --s) begin
          if (!taken[s] || distinct[s] == named[i]) payload.places[i] = 2'(s);
        end
        distinct[payload.places[i]] = named[i];
        taken[payload.places[i]] = 1'b1;
      end
    end
  end

  // What other warps see of this one's memory must be on its way before a barrier or a spawn: a barrier beat goes
  // first, which issues when every earlier beat of its warp has left.
  function automatic logic fences(input int unit, input logic [`INST_OP_BITS-1:0] op_type);
    return unit == `EX_SFU && (op_type == `INST_SFU_BAR || op_type == `INST_SFU_WSPAWN);
  endfunction
  logic fenced;  // the barrier beat of this instruction has been sent
  wire fencing = fences(int'(decode_if.data.ex_type), decode_if.data.op_type) && !fenced;
  wire [WARP_BITS-1:0] sender = WARP_BITS'(decode_if.data.wid);
  wire room = resident[sender] && decode_ready[sender];
  assign decode_valid = decode_if.valid && room;
  assign decode_if.ready = room && !fencing;
  always_ff @(posedge clk) begin
    if (reset) fenced <= 1'b0;
    else if (decode_valid) fenced <= fencing;
  end

  function automatic logic [$bits(decode.port)-1:0] port_of(input int unit);
    if (unit == `EX_ALU) return PORT_ALU;
    if (unit == `EX_LSU) return PORT_LSU;
    if (unit == `EX_SFU) return PORT_SFU;
    return PORT_FMA;
  endfunction

  always_comb begin
    decode = '0;
    decode.warp = sender;
    decode.port = PORT_NONE;
    decode.kind = KIND_BARRIER;
    decode.executes = 1'b1;
    decode.mask = decode_if.data.tmask;
    decode.payload = PAYLOAD_BITS'(payload);
    if (!fencing) begin
      decode.port = port_of(int'(decode_if.data.ex_type));
      decode.kind = KIND_NORMAL;
      decode.source_valid = taken[SOURCE_SLOTS-1:0];
      decode.sources = distinct[SOURCE_SLOTS-1:0];
      decode.dest = decode_if.data.wb ? decode_if.data.rd : '0;
      decode.dest_count = 3'(decode_if.data.wb);
@FLAGS@
    end
  end

  // An instruction leaves its buffer when it issues; barrier beats are not the host's. The host hears of it a cycle
  // later, because in some machines an issue depends on the result of the cycle.
`ifndef L1_ENABLE
  localparam int COUNT_BITS = $clog2(DEPTH + 1);
  logic [WARPS-1:0][DEPTH-1:0] kinds;  // of the beats in the buffer of a warp, oldest lowest: whether it is a barrier
  logic [WARPS-1:0][COUNT_BITS-1:0] held;
  logic [WARPS-1:0] popped;
  assign decode_if.ibuf_pop = popped;
  for (genvar w = 0; w < WARPS; ++w) begin : buffered
    wire sent = decode_valid && sender == WARP_BITS'(w);
    wire issued = issue && issue_warp == WARP_BITS'(w);
    wire [COUNT_BITS-1:0] left = held[w] - COUNT_BITS'(issued);
    always_ff @(posedge clk) begin
      popped[w] <= issued && !kinds[w][0] && !reset;
      if (issued) kinds[w] <= kinds[w] >> 1;
      if (sent) kinds[w][left[$clog2(DEPTH)-1:0]] <= fencing;
      held[w] <= reset ? '0 : left + COUNT_BITS'(sent);
    end
  end
`endif

  // Dispatch. What a machine presents may change until it is taken, and what the host sees must not: two beats wait
  // behind every port. A barrier or a spawn waits for those of its warp behind the others.
  typedef struct packed {
    dispatch_t beat;
    operands_t operands;
  } leaving_t;
  logic [UNITS-1:0][WARPS-1:0] behind;  // warps of the beats behind a port
  for (genvar u = 0; u < UNITS; ++u) begin : unit
    localparam int P = int'(port_of(u));
    leaving_t [1:0] waits;
    logic [1:0] count;
    logic head;
    wire leaving_t first = waits[head];
    wire payload_t said = $bits(payload_t)'(first.beat.payload);
    wire enters = leaving_valid[P] && leaving_ready[P];
    wire leaves = dispatch_if[u].valid && dispatch_if[u].ready;
    logic [2:0][LANES-1:0][31:0] values;
    logic [`NT_WIDTH-1:0] last;
    logic early;

    always_comb begin
      behind[u] = '0;
      for (int i = 0; i < 2; ++i) begin
        if (count[1] || count[0] && head == 1'(i)) behind[u][waits[i].beat.warp] = 1'b1;
      end
      early = 1'b0;
      for (int o = 0; o < UNITS; ++o) early |= o != u && fences(u, said.op_type) && behind[o][first.beat.warp];
    end
    assign leaving_ready[P] = !count[1];
    always_ff @(posedge clk) begin
      if (enters) waits[head ^ count[0]] <= '{beat: leaving[P], operands: leaving_operands[P]};
      head <= (head ^ leaves) && !reset;
      count <= reset ? '0 : count + 2'(enters) - 2'(leaves);
    end

    always_comb begin
      for (int i = 0; i < 3; ++i) begin
        values[i] = '0;
        for (int s = 0; s < SOURCE_SLOTS; ++s) if (said.places[i] == 2'(s)) values[i] = first.operands[s];
      end
      last = '0;
      for (int l = 0; l < LANES; ++l) if (first.beat.mask[l]) last = `NT_WIDTH'(l);
    end

    assign dispatch_if[u].valid = |count && !early;
    assign dispatch_if[u].data.uuid = said.uuid;
    assign dispatch_if[u].data.wis = first.beat.warp;
    assign dispatch_if[u].data.tmask = first.beat.mask;
    assign dispatch_if[u].data.PC = said.PC;
    assign dispatch_if[u].data.op_type = said.op_type;
    assign dispatch_if[u].data.op_args = said.op_args;
    assign dispatch_if[u].data.wb = said.wb;
    assign dispatch_if[u].data.rd = first.beat.dest;
    assign dispatch_if[u].data.tid = last;
    assign dispatch_if[u].data.rs1_data = values[0];
    assign dispatch_if[u].data.rs2_data = values[1];
    assign dispatch_if[u].data.rs3_data = values[2];
  end

  // Write-back. Packets are gathered: the machine takes a result once, with all of its lanes.
  typedef struct packed {
    logic [ISSUE_WIS_W-1:0] wis;
    logic [`NR_BITS-1:0]    rd;
    logic [LANES-1:0]       mask;
    data_t                  data;
  } open_t;
  open_t [OPEN_RESULTS-1:0] open;
  open_t merged;
  logic [OPEN_RESULTS-1:0] used, same, free;
  always_comb begin
    merged = '0;
    for (int i = 0; i < OPEN_RESULTS; ++i) begin
      same[i] = used[i] && open[i].wis == writeback_if.data.wis && open[i].rd == writeback_if.data.rd;
      if (same[i]) merged |= open[i];
    end
    merged.wis = writeback_if.data.wis;
    merged.rd = writeback_if.data.rd;
    merged.mask |= writeback_if.data.tmask;
    for (int l = 0; l < LANES; ++l) if (writeback_if.data.tmask[l]) merged.data[l] = writeback_if.data.data[l];
    free = |same ? same : ~used & (used + 1'b1);
  end
  for (genvar i = 0; i < OPEN_RESULTS; ++i) begin : gathered
    wire here = writeback_if.valid && free[i];
    always_ff @(posedge clk) begin
      if (here) open[i] <= merged;
      if (reset) used[i] <= 1'b0;
      else if (here) used[i] <= !writeback_if.data.eop;
    end
  end

@ORIGIN@
  assign result__0__valid = writeback_if.valid && writeback_if.data.eop;
  assign result_data__0 = merged.data;
  always_comb begin
    result__0__payload = '0;
    result__0__payload.writes = 1'b1;
    result__0__payload.warp = merged.wis;
    result__0__payload.register = merged.rd;
    result__0__payload.mask = merged.mask;
@RESULT@
  end

@INSTANCE@

`ifdef WARPFILE_CHECKS
  // verilator lint_off PINCONNECTEMPTY
@CHECKS@
  // verilator lint_on PINCONNECTEMPTY
`endif

`ifndef SYNTHESIS
  // What the host must keep to, and what the machine promises.
  logic stopped;
  payload_t offered;
  always_ff @(posedge clk) begin
    stopped <= decode_if.valid && !decode_if.ready && !reset;
    offered <= payload;
    if (!reset) begin
      if (stopped && (!decode_if.valid || offered != payload))
        $fatal(1, "%s: an instruction changes before it is taken", INSTANCE_ID);
      if (decode_if.valid && decode_if.data.tmask == 0) $fatal(1, "%s: an instruction without a lane", INSTANCE_ID);
      if (decode_if.valid && decode_if.data.wb && decode_if.data.rd == 0) $fatal(1, "%s: x0 is written", INSTANCE_ID);
      if (decode_if.valid && (taken >> SOURCE_SLOTS) != 0) $fatal(1, "%s: more sources than source_slots", INSTANCE_ID);
      if (writeback_if.valid && writeback_if.data.sop == |same) $fatal(1, "%s: sop of a packet is wrong", INSTANCE_ID);
      if (writeback_if.valid && !writeback_if.data.eop && free == 0)
        $fatal(1, "%s: more than OPEN_RESULTS results are incomplete", INSTANCE_ID);
      if (result__0__valid && !result__0__ready) $fatal(1, "%s: a result must not wait", INSTANCE_ID);
    end
  end
`endif

  // The host's stalls behind the issue are none of this machine's; --probe of warpfile has those that it has.
`ifdef PERF_ENABLE
  logic [`PERF_CTR_BITS-1:0] ibf_stalls;
  always_ff @(posedge clk) begin
    if (reset) ibf_stalls <= '0;
    else ibf_stalls <= ibf_stalls + `PERF_CTR_BITS'(decode_if.valid && !decode_if.ready);
  end
  always_comb begin
    issue_perf = '0;
    issue_perf.ibf_stalls = ibf_stalls;
  end
`endif

  `SCOPE_IO_UNUSED()
endmodule

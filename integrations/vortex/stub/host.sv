// What surrounds an issue slice in Vortex, as far as the slice can tell: random programs with divergence, barriers and
// spawns come in, units take instructions and return results in packets, with random stalls everywhere. A plain
// register file, written in program order, says which operands every instruction must have.
//
// Plusargs: +seed=N, +instructions=N per warp, +stall=N percent of cycles in which an interface waits, +reset_at=N: a
// reset in mid-run in that cycle, after which all begins anew. Prints PASS with what was seen, or what was wrong.
`include "VX_define.vh"

module host;
  import VX_gpu_pkg::*;
  localparam int WARPS = PER_ISSUE_WARPS;
  localparam int LANES = `NUM_THREADS;
  localparam int UNITS = `NUM_EX_UNITS;
  localparam int REGISTERS = `NUM_REGS;
  localparam int SILENCE = 500;  // cycles without any progress that are too many

  typedef logic [`NR_BITS-1:0] register_t;
  typedef logic [LANES-1:0] mask_t;
  typedef logic [LANES-1:0][31:0] value_t;
  typedef logic [ISSUE_WIS_W-1:0] warp_t;

  // An instruction, with the operands that it must have, and lanes in which they are known.
  typedef struct {
    int number;  // in its warp
    int unit;
    bit fences;
    warp_t warp;
    mask_t mask;
    bit wb;
    register_t rd;
    register_t [2:0] rs;
    logic [3:0] op_type;
    op_args_t op_args;
    logic [`UUID_WIDTH-1:0] uuid;
    logic [`PC_BITS-1:0] PC;
    value_t [2:0] operands;
    mask_t [2:0] known;
    value_t result;
    mask_t left;  // lanes of the result that have not been returned
    int ready_at;
  } instruction_t;

  logic clk = 0, reset = 1;
  always #5 clk = ~clk;

  VX_decode_if #(.NUM_WARPS(WARPS)) decode_if ();
  VX_writeback_if writeback_if ();
  VX_dispatch_if dispatch_if[UNITS] ();
`ifdef PERF_ENABLE
  issue_perf_t issue_perf;
`endif

  VX_issue_slice #(.INSTANCE_ID("slice")) slice (
      .clk,
      .reset,
`ifdef PERF_ENABLE
      .issue_perf,
`endif
      .decode_if,
      .writeback_if,
      .dispatch_if
  );

  // What the units see.
  typedef struct packed {
    logic [`UUID_WIDTH-1:0] uuid;
    warp_t                  warp;
    mask_t                  mask;
    logic [`PC_BITS-1:0]    PC;
    logic [3:0]             op_type;
    op_args_t               op_args;
    logic                   wb;
    register_t              rd;
    logic [`NT_WIDTH-1:0]   tid;
    value_t [2:0]           operands;
  } left_t;
  left_t [UNITS-1:0] left, was;
  logic [UNITS-1:0] left_valid, left_ready, was_stopped;
  for (genvar u = 0; u < UNITS; ++u) begin : seen
    assign dispatch_if[u].ready = left_ready[u];
    assign left_valid[u] = dispatch_if[u].valid;
    assign left[u].uuid = dispatch_if[u].data.uuid;
    assign left[u].warp = dispatch_if[u].data.wis;
    assign left[u].mask = dispatch_if[u].data.tmask;
    assign left[u].PC = dispatch_if[u].data.PC;
    assign left[u].op_type = dispatch_if[u].data.op_type;
    assign left[u].op_args = dispatch_if[u].data.op_args;
    assign left[u].wb = dispatch_if[u].data.wb;
    assign left[u].rd = dispatch_if[u].data.rd;
    assign left[u].tid = dispatch_if[u].data.tid;
    assign left[u].operands[0] = dispatch_if[u].data.rs1_data;
    assign left[u].operands[1] = dispatch_if[u].data.rs2_data;
    assign left[u].operands[2] = dispatch_if[u].data.rs3_data;
  end

  // The model.
  value_t registers[WARPS][REGISTERS];
  mask_t known[WARPS][REGISTERS];
  instruction_t waiting[WARPS][$];  // sent, not dispatched, in program order
  instruction_t flying[$];  // dispatched, result not returned, in order of dispatch
  int sent[WARPS], in_buffer[WARPS];
  bit at_barrier[WARPS], arrived[WARPS], spawning[WARPS];
  int blocked, quiet, cycle, began;
  int instructions = 400, stall = 30, reset_at = 0, seed = 1;
  int taken, operands, packets, parts, barriers, spawns, diverged, results;

  function automatic bit chance(int percent);
    return int'($urandom_range(99)) < percent;
  endfunction

  function automatic mask_t some_lanes(mask_t of);  // at least one of these
    mask_t some = mask_t'($urandom) & of;
    return some == 0 ? of : some;
  endfunction

  function automatic register_t some_register();  // mostly a few, for the sake of hazards
    if (chance(10)) return '0;
    return register_t'(chance(70) ? $urandom_range(7) : $urandom_range(REGISTERS - 1));
  endfunction

  function automatic void wrong(string what, instruction_t one);
    $display("FAIL in cycle %0d: %s: warp %0d, instruction %0d, unit %0d", cycle, what, one.warp, one.number, one.unit);
    $fatal(1, "stopped");
  endfunction

  function automatic instruction_t composed(int warp);
    instruction_t one;
    int kind = int'($urandom_range(99));
    one.number = sent[warp];
    one.warp = warp_t'(warp);
    one.unit = kind < 50 ? `EX_ALU : kind < 80 ? `EX_LSU : UNITS > 3 && kind < 90 ? `EX_FPU : `EX_SFU;
    one.op_type = one.unit == `EX_SFU ? `INST_SFU_CSRRS : 4'($urandom);
    if (kind >= 95) one.op_type = kind < 99 ? `INST_SFU_BAR : `INST_SFU_WSPAWN;
    one.fences = kind >= 95;
    one.mask = chance(60) ? '1 : some_lanes('1);
    one.rs = '0;
    for (int i = 0; i < (UNITS > 3 && one.unit == `EX_FPU ? 3 : 2); ++i) one.rs[i] = some_register();
    if (chance(15)) one.rs[1] = one.rs[0];
    one.rd = one.fences || one.unit == `EX_LSU && chance(33) ? '0 : some_register();
    one.wb = one.rd != 0;
    one.op_args = op_args_t'({$urandom, $urandom});
    one.PC = {warp_t'(warp), (`PC_BITS - ISSUE_WIS_W)'(sent[warp])};
    one.uuid = `UUID_WIDTH'({$urandom, $urandom});
    for (int i = 0; i < 3; ++i) begin
      one.operands[i] = one.rs[i] == 0 ? '0 : registers[warp][one.rs[i]];
      one.known[i] = one.rs[i] == 0 ? '1 : known[warp][one.rs[i]];
    end
    for (int l = 0; l < LANES; ++l) one.result[l] = $urandom;
    one.left = one.mask;
    return one;
  endfunction

  task automatic begin_anew();
    for (int w = 0; w < WARPS; ++w) begin
      for (int r = 0; r < REGISTERS; ++r) known[w][r] = '0;
      waiting[w].delete();
      sent[w] = 0;
      in_buffer[w] = 0;
      at_barrier[w] = 0;
      arrived[w] = 0;
      spawning[w] = 0;
    end
    flying.delete();
    was_stopped = '0;
    blocked = 0;
    quiet = 0;
    began = cycle;
    decode_if.valid <= 0;
    writeback_if.valid <= 0;
    left_ready <= '0;
  endtask

  // The front end: at most one instruction per cycle, held until it is taken.
  task automatic send();
    int warp, first;
    instruction_t one;
`ifndef L1_ENABLE
    for (int w = 0; w < WARPS; ++w) if (decode_if.ibuf_pop[w]) begin
      in_buffer[w] -= 1;
      if (in_buffer[w] < 0) $fatal(1, "FAIL: more instructions leave the buffer of warp %0d than came", w);
    end
`endif
    if (decode_if.valid && !decode_if.ready) begin
      blocked += 1;
`ifndef L1_ENABLE
      // Only launches and a barrier beat may keep one waiting.
      if (blocked > 1 && cycle > began + WARPS + 2) $fatal(1, "FAIL: an instruction has no room in its buffer");
`endif
      return;
    end
    blocked = 0;
    decode_if.valid <= 0;
    if (chance(stall)) return;
    first = int'($urandom_range(WARPS - 1));
    for (int i = 0; i < WARPS; ++i) begin
      warp = (first + i) % WARPS;
      if (sent[warp] == instructions || at_barrier[warp] || spawning[warp]) continue;
`ifndef L1_ENABLE
      if (in_buffer[warp] == `IBUF_SIZE) continue;
      in_buffer[warp] += 1;
`endif
      one = composed(warp);
      if (one.wb) for (int l = 0; l < LANES; ++l) if (one.mask[l]) begin
        registers[warp][one.rd][l] = one.result[l];
        known[warp][one.rd][l] = 1;
      end
      if (one.fences) begin
        if (one.op_type == `INST_SFU_BAR) at_barrier[warp] = 1;
        else spawning[warp] = 1;
      end
      sent[warp] += 1;
      waiting[warp].push_back(one);
      decode_if.valid <= 1;
      decode_if.data <= '{uuid: one.uuid, wid: one.warp, tmask: one.mask, PC: one.PC, ex_type: `EX_BITS'(one.unit),
          op_type: one.op_type, op_args: one.op_args, wb: one.wb, rd: one.rd, rs1: one.rs[0], rs2: one.rs[1],
          rs3: one.rs[2]};
      return;
    end
  endtask

  // A unit takes an instruction: it is one that was sent, as it was sent, with the operands of the model.
  task automatic take(int u);
    instruction_t one;
    int warp = int'(left[u].warp), at = -1, highest = 0;
    for (int i = 0; i < waiting[warp].size(); ++i) if (waiting[warp][i].unit == u) begin
      at = i;
      break;
    end
    if (at < 0) $fatal(1, "FAIL in cycle %0d: unit %0d gets an instruction that was not sent", cycle, u);
    one = waiting[warp][at];
    waiting[warp].delete(at);
    if (left[u].PC != one.PC) wrong("the instructions of a warp for one unit leave in order", one);
    if (one.fences && at != 0) wrong("all earlier instructions leave before a barrier or a spawn", one);
    if (left[u].uuid != one.uuid || left[u].op_type != one.op_type || left[u].op_args != one.op_args)
      wrong("an instruction leaves as it came", one);
    if (left[u].mask != one.mask) wrong("mask", one);
    if (left[u].wb != one.wb || one.wb && left[u].rd != one.rd) wrong("destination", one);
    for (int l = 0; l < LANES; ++l) if (one.mask[l]) highest = l;
    if (int'(left[u].tid) != highest) wrong("tid is the last lane", one);
    for (int i = 0; i < 3; ++i) for (int l = 0; l < LANES; ++l) if (one.mask[l] && one.known[i][l]) begin
      operands += 1;
      if (left[u].operands[i][l] != one.operands[i][l]) wrong($sformatf("rs%0d_data, lane %0d", i + 1, l), one);
    end
    taken += 1;
    if (one.mask != '1) diverged += 1;
    if (one.fences) begin
      if (one.op_type == `INST_SFU_BAR) arrived[warp] = 1;
      else begin
        spawning[warp] = 0;
        spawns += 1;
      end
    end
    one.ready_at = cycle + 1 + int'($urandom_range(u == `EX_LSU ? 60 : u == `EX_SFU ? 20 : 4));
    if (one.wb) flying.push_back(one);
  endtask

  // A barrier opens when every warp that has instructions left has arrived.
  task automatic open_barrier();
    bit some = 0;
    for (int w = 0; w < WARPS; ++w) begin
      if (!arrived[w] && (sent[w] != instructions || at_barrier[w])) return;
      some |= arrived[w];
    end
    if (!some) return;
    barriers += 1;
    for (int w = 0; w < WARPS; ++w) begin
      at_barrier[w] = 0;
      arrived[w] = 0;
    end
  endtask

  // At most one packet per cycle. The LSU has several results open, every other unit one; a unit that is no LSU returns
  // in order.
  task automatic answer();
    int open[UNITS], candidates[$], at;
    bit passed[UNITS];
    instruction_t one;
    mask_t lanes;
    value_t value;
    writeback_if.valid <= 0;
    for (int u = 0; u < UNITS; ++u) open[u] = 0;
    for (int i = 0; i < flying.size(); ++i) if (flying[i].left != flying[i].mask) open[flying[i].unit] += 1;
    for (int i = 0; i < flying.size(); ++i) begin
      one = flying[i];
      if (one.unit != `EX_LSU && passed[one.unit]) continue;
      passed[one.unit] = 1;
      if (one.ready_at > cycle || one.left == one.mask && one.unit == `EX_LSU && open[`EX_LSU] >= `LSUQ_IN_SIZE) continue;
      candidates.push_back(i);
    end
    if (candidates.size() == 0 || chance(stall)) return;
    at = candidates[$urandom_range(candidates.size() - 1)];
    one = flying[at];
    lanes = chance(50) ? one.left : some_lanes(one.left);
    for (int l = 0; l < LANES; ++l) value[l] = lanes[l] ? one.result[l] : $urandom;
    writeback_if.valid <= 1;
    writeback_if.data <= '{uuid: one.uuid, wis: one.warp, tmask: lanes, PC: one.PC, rd: one.rd, data: value,
        sop: one.left == one.mask, eop: one.left == lanes};
    packets += 1;
    if (lanes != one.mask) parts += 1;
    flying[at].left &= ~lanes;
    if (flying[at].left == 0) begin
      flying.delete(at);
      results += 1;
    end
  endtask

  function automatic bit done();
    if (flying.size() != 0 || writeback_if.valid) return 0;
    for (int w = 0; w < WARPS; ++w) begin
      if (sent[w] != instructions || waiting[w].size() != 0 || in_buffer[w] != 0) return 0;
    end
    return 1;
  endfunction

  initial begin
    void'($value$plusargs("seed=%d", seed));
    void'($value$plusargs("instructions=%d", instructions));
    void'($value$plusargs("stall=%d", stall));
    void'($value$plusargs("reset_at=%d", reset_at));
    void'($urandom(seed));
  end

  always @(posedge clk) begin
    cycle += 1;
    quiet += 1;
    if (reset) begin
      begin_anew();
      reset <= !(cycle >= 3 && cycle != reset_at);
    end else begin
      for (int u = 0; u < UNITS; ++u) begin
        if (was_stopped[u] && (!left_valid[u] || left[u] != was[u]))
          $fatal(1, "FAIL in cycle %0d: what unit %0d sees changes before it takes it", cycle, u);
        if (left_valid[u] && left_ready[u]) begin
          take(u);
          quiet = 0;
        end
        was_stopped[u] = left_valid[u] && !left_ready[u];
        left_ready[u] <= !chance(stall);
      end
      was = left;
      if (writeback_if.valid) quiet = 0;
      open_barrier();
      answer();
      send();
      if (quiet > SILENCE) $fatal(1, "FAIL in cycle %0d: something must happen", cycle);
      if (cycle == reset_at) reset <= 1;
      if (done()) begin
        $display("PASS: %0d operands, %0d instructions, %0d with some lanes only, %0d results in %0d packets,",
                 operands, taken, diverged, results, packets);
        $display("%0d packets with some lanes of a result, %0d barriers, %0d spawns, %0d cycles", parts, barriers, spawns,
                 cycle);
        $finish;
      end
    end
  end
endmodule

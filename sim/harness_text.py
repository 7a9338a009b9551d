"""Verilog of the test harness, as templates of :mod:`sim.harness`."""

from __future__ import annotations

#: At the rising edge that ends a cycle: check what leaves, read the next record if there is a stream, take the inputs.
HARNESS = """\
`timescale 1ns/1ps
module harness (input clk /*verilator public_flat_rw*/);
  localparam STIMULUS = {stimulus};
  localparam OBSERVED = {observed};
  reg [STIMULUS-1:0] inputs = 1;
  wire [{probe_top}:0] probe;
  reg fault /*verilator public_flat_rd*/ = 1'b0;
  reg [{payload_top}:0] fault_payload /*verilator public_flat_rd*/ = 0;
  reg [7:0] fault_warp /*verilator public_flat_rd*/ = 0;
  reg [7:0] fault_port /*verilator public_flat_rd*/ = 0;
  reg [7:0] fault_slot /*verilator public_flat_rd*/ = 0;
  reg [31:0] fault_lanes /*verilator public_flat_rd*/ = 0;
  reg [63:0] operands_checked /*verilator public_flat_rd*/ = 0;
  reg [63:0] lanes_checked /*verilator public_flat_rd*/ = 0;
  wire [OBSERVED:0] observation /*verilator public_flat_rd*/ = {{fault, probe}};
  reg [31:0] cycle = 0;
  reg [8*512-1:0] path;
  integer code, dump_from = -1;
  initial begin
    if ($value$plusargs("wave=%s", path)) $dumpfile(path);
    if ($value$plusargs("dump_from=%d", dump_from) && dump_from == 0) $dumpvars(0, harness);
  end

{rows}
{wires}
  integer lane, slot;
  reg [31:0] row;
  reg [{lane_top}:0] look;
  reg [{data_top}:0] differing;
{source}
  always @(posedge clk) begin
    if (!opened) open;
    if (!inputs[0]) begin
      cycle <= cycle + 1;
      if (cycle + 1 == dump_from) $dumpvars(0, harness);
{checks}    end
{read}    inputs <= next;
{results}  end

  {machine} dut (
    .clk(clk),
    .rst(inputs[0]),
    .probe(probe){connections}
  );
{extra}endmodule
"""

#: Files are opened at the first edge: until then the simulation may fork.
ROWS_IN_FILE = """\
  // Values by row + 1, read from a file through a small cache: the lanes that were written, then all lanes.
  reg [{line_top}:0] line;
  reg [{line_top}:0] lines [0:{last_line}];
  reg [31:0] tags [0:{last_line}];
  reg opened = 0;
  integer values;
  initial for (code = 0; code <= {last_line}; code = code + 1) tags[code] = 0;
  task fetch(input [31:0] wanted);
    if (tags[wanted[{index}:0]] == wanted) line = lines[wanted[{index}:0]];
    else begin
      code = $fseek(values, (wanted - 1) * {bytes}, 0);
      if ($fread(line, values) != {bytes}) begin
        $display("the file of values has no row %0d", wanted - 1);
        $finish;
      end
      lines[wanted[{index}:0]] = line;
      tags[wanted[{index}:0]] = wanted;
    end
  endtask"""

ROWS_IN_MEMORY = """\
  // Values by row + 1: the lanes that were written, then all lanes.
  reg [{line_top}:0] line;
  reg [{line_top}:0] lines [0:{last_row}];
  reg opened = 0;
  integer values;
  task fetch(input [31:0] wanted);
    line = lines[wanted - 1];
  endtask"""

#: Inputs that were recorded earlier, one word per cycle: the simulation drives itself.
RECORDED = """\
  reg [STIMULUS-1:0] replay [0:{last}];
  reg [31:0] position = 0;
  wire [STIMULUS-1:0] next = replay[position];
  always @(posedge clk) position <= position + 1;
  task open;
    begin
      opened = 1;
      if ($value$plusargs("values=%s", path)) values = $fopen(path, "rb");
      code = $fread(lines, values);
    end
  endtask
  initial if ($value$plusargs("replay=%s", path)) $readmemh(path, replay);"""

DRIVEN = """\
  reg [STIMULUS-1:0] next /*verilator public_flat_rw*/ = 1;
  // What has to leave in the cycle that ends: set together with the inputs of the next cycle, or read from the stream.
  reg [{due_top}:0] due /*verilator public_flat_rw*/ = 0;
  // The stream: what it holds of one cycle, and how far it was read.
  reg [{head_top}:0] head;
{registers}  reg [{want_top}:0] want /*verilator public_flat_rd*/ = 0;
  reg [OBSERVED:0] saw /*verilator public_flat_rd*/ = 0;
  reg [31:0] compared /*verilator public_flat_rd*/ = 0;
  reg [31:0] announced /*verilator public_flat_rd*/ = 0;
  reg differs /*verilator public_flat_rd*/ = 0;
  reg ended /*verilator public_flat_rd*/ = 0;
  reg stopped /*verilator public_flat_rd*/ = 0;
  reg feeding = 0;
  reg comparing = 0;
  reg broken;
  reg [1:0] waiting = 3;
  integer feed;
  task open;
    begin
      opened = 1;
      if ($value$plusargs("values=%s", path)) values = $fopen(path, "rb");
      if ($value$plusargs("feed=%s", path)) begin
        feed = $fopen(path, "rb");
        feeding = 1;
      end
    end
  endtask
  // In the middle of a cycle its observation has settled. A fault shows one cycle later, so the end waits for it too.
  always @(negedge clk) if (feeding && !stopped) begin
    differs = comparing && observation !== {{1'b0, want}};
    if (differs) saw = observation;
    else compared = compared + comparing;
    stopped = differs || ended;
  end"""

SECTION_REGISTER = """\
  reg [{top}:0] part_{name};
"""

#: After reset, read the record of the cycle that begins. An end mark without cycles stands for a cycle of reset,
#: in which everything is offered that was offered in the cycle before.
READ = """\
    if (waiting != 0) waiting = waiting - 1;
    else if (feeding && !stopped) begin
      broken = $fread(head, feed) != {head_size};
      want = head[{want}];
      ended = !broken && head[{end}] && want != 0;
      comparing = !broken && !head[{end}];
      next = comparing ? 0 : ended || broken ? 1 : next | 1;
      due = 0;
      if (ended) announced = want;
      if (comparing) begin
        next[{ready}] = head[{head_ready}];
{sections}      end
      if (broken) stopped = 1;
    end
"""

SECTION = """\
        if (head[{number}]) begin
          if ($fread(part_{name}, feed) != {size}) broken = 1;
          {word}[{top}:{low}] = {{part_{name}[{width_top}:0], 1'b1}};
        end
"""

RESULT = """\
    if (next[{valid}]) begin
      if (next[{value_top}:{value}] == 0) result_data{port} <= 0;
      else begin
        fetch(next[{value_top}:{value}]);
        result_data{port} <= line[{data_top}:0] ^ ~{{{spread}}};
      end
    end
"""

#: Of a machine whose operands are not compared: they are looked at where they leave, or everything that makes them
#: would be left out of the simulation.
LEAVE = """\
      if (dispatch_valid{port} && inputs[{ready}]) left{port} <= left{port} ^ ^operands{port} ^ ^dispatch{port};
"""

CHECK = """\
      if (dispatch_valid{port} && inputs[{ready}] && !fault
          && (!due[{due}] || dispatch{port} !== due[{record}])) begin
        fault <= 1'b1;
        fault_payload <= dispatch{port}[{payload}];
        fault_warp <= dispatch{port}[{warp_top}:0];
        fault_port <= {port};
        fault_slot <= {record_slot};
        fault_lanes <= 0;
      end
      if (dispatch_valid{port} && inputs[{ready}] && due[{due}])
        for (slot = 0; slot < {slots}; slot = slot + 1) begin
          row = due[{rows} + slot*32 +: 32];
          if (row != 0) begin
            fetch(row);
            look = due[{mask}] & line[{data} +: {lanes}];
            operands_checked = operands_checked + 1;
            for (lane = 0; lane < {lanes}; lane = lane + 1) lanes_checked = lanes_checked + look[lane];
            differing = (operands{port}[slot*{data} +: {data}] ^ line[{data_top}:0]) & {{{spread}}};
            if (differing !== 0 && !fault) begin
              fault <= 1'b1;
              fault_payload <= dispatch{port}[{payload}];
              fault_warp <= dispatch{port}[{warp_top}:0];
              fault_port <= {port};
              fault_slot <= slot;
              for (lane = 0; lane < {lanes}; lane = lane + 1)
                fault_lanes[lane] <= differing[lane*32 +: 32] !== 32'd0;
            end
          end
        end
"""

// Decoded instructions of the host, for the stub: held until ready. Without caches the slice says which warps have
// an instruction less in their buffers.
`include "VX_define.vh"

interface VX_decode_if
  import VX_gpu_pkg::*;
#(
    parameter NUM_WARPS = `NUM_WARPS,
    parameter NW_WIDTH = NUM_WARPS > 1 ? $clog2(NUM_WARPS) : 1
);
  typedef struct packed {
    logic [`UUID_WIDTH-1:0]   uuid;
    logic [NW_WIDTH-1:0]      wid;
    logic [`NUM_THREADS-1:0]  tmask;
    logic [`PC_BITS-1:0]      PC;
    logic [`EX_BITS-1:0]      ex_type;
    logic [`INST_OP_BITS-1:0] op_type;
    op_args_t                 op_args;
    logic                     wb;
    logic [`NR_BITS-1:0]      rd;
    logic [`NR_BITS-1:0]      rs1;
    logic [`NR_BITS-1:0]      rs2;
    logic [`NR_BITS-1:0]      rs3;
  } data_t;

  logic valid, ready;
  data_t data;
`ifdef L1_ENABLE
  modport master(output valid, data, input ready);
  modport slave(input valid, data, output ready);
`else
  wire [NUM_WARPS-1:0] ibuf_pop;
  modport master(output valid, data, input ready, ibuf_pop);
  modport slave(input valid, data, output ready, ibuf_pop);
`endif
endinterface

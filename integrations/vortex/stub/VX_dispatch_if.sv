// Instructions with operands for an execution unit of the host, for the stub: held until ready.
`include "VX_define.vh"

interface VX_dispatch_if
  import VX_gpu_pkg::*;
();
  typedef struct packed {
    logic [`UUID_WIDTH-1:0]             uuid;
    logic [ISSUE_WIS_W-1:0]             wis;
    logic [`NUM_THREADS-1:0]            tmask;
    logic [`PC_BITS-1:0]                PC;
    logic [`INST_ALU_BITS-1:0]          op_type;
    op_args_t                           op_args;
    logic                               wb;
    logic [`NR_BITS-1:0]                rd;
    logic [`NT_WIDTH-1:0]               tid;
    logic [`NUM_THREADS-1:0][`XLEN-1:0] rs1_data;
    logic [`NUM_THREADS-1:0][`XLEN-1:0] rs2_data;
    logic [`NUM_THREADS-1:0][`XLEN-1:0] rs3_data;
  } data_t;

  logic valid, ready;
  data_t data;
  modport master(output valid, data, input ready);
  modport slave(input valid, data, output ready);
endinterface

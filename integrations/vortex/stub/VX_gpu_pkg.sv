// Types of the host that its issue slice refers to, for the stub: the arguments of an operation are so many bits here.
`include "VX_define.vh"

package VX_gpu_pkg;
  localparam int PER_ISSUE_WARPS = `NUM_WARPS / `ISSUE_WIDTH;
  localparam int ISSUE_WIS_W = PER_ISSUE_WARPS > 1 ? $clog2(PER_ISSUE_WARPS) : 1;
  typedef logic [36:0] op_args_t;
  typedef struct packed {
    logic [`PERF_CTR_BITS-1:0] ibf_stalls;
    logic [`PERF_CTR_BITS-1:0] scb_stalls;
    logic [`PERF_CTR_BITS-1:0] opd_stalls;
  } issue_perf_t;
endpackage

// Sizes, encodings and empty macros of the host that the issue slice refers to, for the stub. Written for warpfile: the
// names, widths and numbers are those of Vortex 2.2, of which nothing else is here.
`ifndef VX_DEFINE_VH
`define VX_DEFINE_VH

`ifndef NUM_THREADS
`define NUM_THREADS 4
`endif
`ifndef NUM_WARPS
`define NUM_WARPS 4
`endif
`define ISSUE_WIDTH 1
`define XLEN 32
`define LSUQ_IN_SIZE 2
`ifdef L1_ENABLE
`define IBUF_SIZE 4
`else
`define IBUF_SIZE 3
`endif

`define STRING string
`define SCOPE_IO_DECL
`define SCOPE_IO_UNUSED()

`ifdef NDEBUG
`define UUID_WIDTH 1
`else
`define UUID_WIDTH 44
`endif
`define PERF_CTR_BITS 44
`define PC_BITS (`XLEN - 1)
`define NT_WIDTH (`NUM_THREADS > 1 ? $clog2(`NUM_THREADS) : 1)
`define INST_OP_BITS 4
`define INST_ALU_BITS 4

`ifdef EXT_F_ENABLE
`define NUM_REGS 64
`define NUM_EX_UNITS 4
`define EX_FPU 3
`else
`define NUM_REGS 32
`define NUM_EX_UNITS 3
`define EX_FPU 2
`endif
`define NR_BITS $clog2(`NUM_REGS)
`define EX_BITS $clog2(`NUM_EX_UNITS)
`define EX_ALU 0
`define EX_LSU 1
`define EX_SFU 2

`define INST_SFU_WSPAWN 4'h1
`define INST_SFU_BAR 4'h4
`define INST_SFU_CSRRS 4'h7

`endif

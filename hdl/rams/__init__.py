"""The SRAMs: Verilog modules of their own, to be replaced by foundry macros."""

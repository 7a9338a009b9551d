"""What a user gets of a scheme: Verilog, manifest, SystemVerilog, block diagram."""

"""Mutation testing of the lockstep: mutants of generated Verilog, what they run, and which survive."""

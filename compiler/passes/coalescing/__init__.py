"""Registers that are dead behind an instruction (docs/schemes/corf.md, section 15)."""

"""Registers that a kernel uses most, as its descriptor (docs/schemes/pilot.md, section 8)."""

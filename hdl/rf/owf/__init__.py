"""Registers that two CTAs share, behind the banks of a plain file (docs/schemes/owf.md)."""

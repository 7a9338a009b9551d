"""Operand windows (docs/schemes/bow.md)."""

"""Operands in a window of cycles, issue by the codes of the compiler (docs/schemes/modern.md)."""

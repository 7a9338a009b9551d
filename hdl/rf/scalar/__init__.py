"""Registers whose lanes hold one word, in banks of words beside the banks (docs/schemes/scalar.md)."""

"""Entries near the execution units, which the compiler allocates (docs/schemes/shrf.md)."""

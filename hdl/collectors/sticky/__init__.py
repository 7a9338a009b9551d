"""Collector units that forward results and keep operands in their slots (docs/schemes/sticky.md)."""

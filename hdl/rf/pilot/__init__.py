"""Partitioned register file with a pilot warp (docs/schemes/pilot.md)."""

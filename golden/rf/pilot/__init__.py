"""Register file in a fast and a slow partition (docs/schemes/pilot.md)."""

"""Studies: kernels times machines times seeds, run in parallel, kept point by point, in one table (docs/study.md)."""

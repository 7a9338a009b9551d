"""Register file whose cache is filled interval by interval, before its warp goes on (docs/schemes/ltrf.md)."""

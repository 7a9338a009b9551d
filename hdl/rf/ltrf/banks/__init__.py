"""The engine in which every bank moves registers by itself (docs/schemes/ltrf.md, section 14)."""
